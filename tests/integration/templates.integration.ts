/**
 * Every annotation of every rule, expanded by Go's own text/template in the way of Grafana. Debian's Go is taken
 * out of its packages into `.tools/go`, which needs no root.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { alertRules } from "../../lib/alert-rules/rules/all.ts";
import { VALUE_CASES, withValue } from "../alert-rules/support/value-cases.ts";
import { debianPackages, TOOLS } from "../support/debian-packages.ts";
import { notTried } from "./program.ts";

type Job = { text: string; sample: string | null };

/** The folder of a Go, its GOROOT, or null where none can be had. */
function findGo(): string | null {
  const installed = spawnSync("go", ["env", "GOROOT"], { encoding: "utf8" });
  if (installed.status === 0) return installed.stdout.trim();
  const folder = debianPackages("go", goPackages);
  if (folder === null) return null;
  const version = readdirSync(join(folder, "usr/lib")).find((name) => name.startsWith("go-"));
  return version === undefined ? null : join(folder, "usr/lib", version);
}

/** Of the version that golang-go stands for; none where the lists of packages do not have it. */
function goPackages(): string[] {
  const { stdout } = spawnSync("apt-cache", ["depends", "golang-go"], { encoding: "utf8" });
  const version = /Depends: golang-([\d.]+)-go/.exec(stdout ?? "")?.[1];
  return version === undefined ? [] : [`golang-${version}-go`, `golang-${version}-src`];
}

/** What Go makes of the texts, and its version. */
function expanded(goRoot: string, jobs: readonly Job[]): { version: string; texts: string[] } {
  const cache = mkdtempSync(join(TOOLS, "go-cache-"));
  try {
    const { status, stdout, stderr } = spawnSync(
      join(goRoot, "bin/go"),
      ["run", join(import.meta.dir, "templates/expand.go")],
      {
        input: JSON.stringify(jobs),
        encoding: "utf8",
        env: {
          ...process.env,
          ...{ GOROOT: goRoot, GOCACHE: cache, GO111MODULE: "off", GOTOOLCHAIN: "local", CGO_ENABLED: "0" },
        },
      },
    );
    if (status !== 0) throw new Error(`go run ended with ${status}: ${stderr}`);
    return JSON.parse(stdout);
  } finally {
    rmSync(cache, { recursive: true, force: true });
  }
}

const goRoot = findGo();
if (goRoot === null) notTried("Go is neither installed nor to be had from Debian's packages");

const rules = alertRules({ withExtras: true });
const jobs = rules.flatMap(({ uid, summary, description }) =>
  [summary, description].flatMap((text) =>
    VALUE_CASES.map((valueCase) => ({
      uid,
      text,
      sample: valueCase.name === "none" ? null : valueCase.sample,
      expected: withValue(text, valueCase),
    })),
  ),
);
// What the check is for: it must find a value that nothing guards.
const bare = { text: '{{ printf "%.0f" $values.B.Value }}', sample: null };
const { version, texts } = expanded(goRoot, [bare, ...jobs]);
const [unguarded, ...said] = texts;
const wrong = jobs.flatMap(({ uid, expected }, at) =>
  said[at] === expected ? [] : [`${uid}: ${JSON.stringify(said[at])}, expected ${JSON.stringify(expected)}`],
);
for (const line of wrong) console.log(line);
const isSeen = unguarded === "%!f(<nil>)";
if (!isSeen) console.log(`An unguarded value became ${JSON.stringify(unguarded)} instead of %!f(<nil>)`);
console.log(
  `text/template of ${version}: ${said.length - wrong.length} of ${jobs.length} texts of ${rules.length} rules as expected`,
);
process.exit(wrong.length === 0 && isSeen ? 0 : 1);
