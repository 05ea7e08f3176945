/** The list of the advice that root is shown as opsctl's own is complete: the sources are read, not run. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { CHANGING_LINES } from "../../../lib/doctor/advice/changing-line.ts";
import { KNOWN_LINES } from "../../../lib/doctor/advice/known-advice.ts";
import { ownAdvice } from "../../../lib/doctor/advice/reporter.ts";
import { KNOWN_SECRETS } from "../../../lib/platform/config/names/known-secrets.ts";
import { plainSettingsOfFile, SETTINGS_FILES } from "../../../lib/platform/config/names/known-settings.ts";
import { HOLE, textsIn } from "../support/written-texts.ts";

const ROOT = join(import.meta.dirname, "../../..");
const STARTS = ["lib/doctor/checks/all.ts", "lib/doctor/run.ts"];

/** What judges advice, and repeats it. */
const JUDGES = /^lib\/doctor\/advice\/(?!safe-mend)/;

/** Files whose advice no process of the account says, and why. */
const ELSEWHERE: Record<string, string> = {
  "lib/doctor/checks/collect-metrics.ts": "root runs the collector's checks itself",
  "lib/doctor/checks/host/schedule.ts": "root looks at its own files and units itself",
  "lib/doctor/checks/webhook/webhook-unit.ts": "the same",
  "lib/doctor/checks/webhook/address-filter.ts": "the same",
  "lib/host/text-directory.ts": "root runs the collector's checks itself",
  "lib/metrics/config.ts": "the same",
  "lib/platform/config/env-files/settings-file.ts": "doctor reads the environment files in its own way",
  "lib/secret/check-form.ts": "only secret set looks at a form",
  "lib/secret/place.ts": "doctor looks for secrets as the commands do",
  "lib/sockets/log-line.ts": "only a run of the socket monitor appends",
  "lib/weekly/context/run-stop.ts": "only a run stops",
  "lib/weekly/database/evidence.ts": "only a run and a preview read it",
  "lib/time/local-date.ts": "the zone is opsctl's own",
  "lib/platform/log/log.ts": "it says what others advise",
};

/** Texts that look like advice and are not said by a process of the account, or not as advice. */
const OTHERS = [
  /^(?:PostgreSQL|WhatsApp refused|Meta (?:refuses|limits|takes)) /,
  // To root alone, which says it first.
  /^What root reads is root's alone: /,
  /^Root runs an executable of root's /,
  /^Keep it where the whole way is root's, /,
  /^Run it as the account that the directory belongs to/,
];

/** Parts of advice: they are found in lines of the list, with what is put in or added. */
const PARTS = [
  "_, on the host and on the database server",
  "opsctl webhook dead list, then opsctl webhook dead retry _",
  "opsctl alert-rules contact-point apply --rotate --url https://<alert host>/webhook",
  "_ --receiver <contact point>",
  "_ --fallback-receiver <another contact point>",
  "_, then _",
  "Correct _ (_)",
  'journalctl -u opsctl-webhook.service -g "A request was refused" -n 5',
  "Who sent it: _; if it was the platform: _",
  "_; the service goes on by itself within a minute",
  "_, then: opsctl doctor __",
  "See that _ runs and answers",
  "See whether this host is too busy, or a disk hangs (_)",
  "opsctl secret set __",
  "_ getent passwd _",
  "See that the directory services of /etc/nsswitch.conf answer:",
  "Give it a group of its own (groupadd --system _; usermod -g _ _), and see",
  "Set _ in the environment",
  "Set them in the environment; a secret by its command, _",
  "Set _ command, as root, _",
  "Look up _ in _",
  "_, and mend the account in Meta's Business Manager",
  "Meta's list of error codes (WhatsApp Business Platform)",
  "Remove it there, then: _",
  "sudo _opsctl doctor __",
  "opsctl doctor",
  "_: edit _",
];

/** Parts that are judged apart from the list. */
const JUDGED = ["_: edit _", "_; the service goes on by itself within a minute"];

/** A statement: it is judged by what is in it. */
const SQL = /^(?:create|grant|alter|revoke) /;
/** A line that changes files, or a part of one. */
const CHANGING = /^(?:Look at it, then[^:]*: )?(?:(?:chown|chmod|mv|rmdir) |install -)/;
const PROGRAMS = [
  "opsctl",
  "systemctl",
  "journalctl",
  "sudo",
  "df",
  "dpkg",
  "apt-get",
  "timedatectl",
  "useradd",
];
const ADVICE = new RegExp(
  `^(?:[A-Z][a-z']*,?|sslmode|sslrootcert|install|grep|file|runuser|${PROGRAMS.join("|")})[ =].`,
  "s",
);
/** A text that begins with a value is mostly a reason; as advice it says what comes then, or a command. */
const GOES_ON = new RegExp(
  `^${HOLE}.*(?:, then|; if|: edit|, on the host|goes on by| --|getent|Business Manager)`,
  "s",
);

/** Names of settings and of units, for which the list has slots. */
const NAMES = [
  ...KNOWN_SECRETS.map(({ name }) => name),
  ...SETTINGS_FILES.flatMap(plainSettingsOfFile),
  "opsctl-webhook.service",
  "opsctl-webhook.socket",
].toSorted((one, other) => other.length - one.length);
const NAME = new RegExp(`(?<![\\w.])(?:${NAMES.map(RegExp.escape).join("|")})(?![\\w])`, "g");

/** A text with `_` for all that may stand in its place. */
function form(text: string): string {
  return text
    .replaceAll(HOLE, "_")
    .replaceAll(/\{[a-z]+\}/g, "_")
    .replaceAll(NAME, "_");
}

function sources(): string[] {
  const found = new Set<string>();
  const walk = (path: string) => {
    if (found.has(path) || !path.endsWith(".ts")) return;
    found.add(path);
    const imports = readFileSync(path, "utf8").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g);
    for (const [, name] of imports) {
      const next = join(dirname(path), name as string);
      if (existsSync(next)) walk(next);
    }
  };
  for (const start of STARTS) walk(join(ROOT, start));
  return [...found].map((path) => relative(ROOT, path)).toSorted();
}

/** The texts in the files that write advice, but for those that `isLeftOut`. */
function writtenTexts(isLeftOut: (path: string) => boolean): { path: string; text: string }[] {
  const paths = sources().filter((path) => !JUDGES.test(path) && !isLeftOut(path));
  return paths.flatMap((path) => {
    const source = readFileSync(join(ROOT, path), "utf8");
    if (!path.startsWith("lib/doctor/") && !/\b(?:hint|mend|STEP_COMMANDS)\b/.test(source)) return [];
    return textsIn(source).map((text) => ({ path, text }));
  });
}

function isAdvice(text: string): boolean {
  if (text.startsWith("Cannot ") || OTHERS.some((other) => other.test(text))) return false;
  return (ADVICE.test(text) || GOES_ON.test(text)) && !SQL.test(text) && !CHANGING.test(text);
}

const LINES = new Set(KNOWN_LINES.map(form));
const OWN = ownAdvice({ env: {}, envDir: "/srv/opsctl", handedLogin: null });

function isPartOfLine(part: string): boolean {
  const parts = form(part).split("_").map(RegExp.escape);
  const pattern = new RegExp(parts.join(".*"), "s");
  return [...LINES, ...OWN].some((line) => pattern.test(line));
}

describe("the advice that a process of the account can say", () => {
  const written = writtenTexts((path) => path in ELSEWHERE).filter(({ text }) => isAdvice(text));

  test("is found in the sources", () => {
    expect(written.length).toBeGreaterThan(140);
    const paths = new Set(written.map(({ path }) => path));
    for (const path of [
      "lib/platform/files/closed-file.ts",
      "lib/providers/evolution/advice.ts",
      "lib/doctor/run.ts",
    ])
      expect(paths).toContain(path);
  });

  test("is in the list of those that root is shown as opsctl's own", () => {
    const parts = new Set(PARTS.map(form));
    const forgotten = written.filter(({ text }) => !LINES.has(form(text)) && !parts.has(form(text)));
    expect(forgotten.map(({ path, text }) => `${path}: ${form(text)}`)).toEqual([]);
  });

  test("names no part that is in no line, and none that is not written any more", () => {
    expect(PARTS.filter((part) => !JUDGED.includes(part) && !isPartOfLine(part))).toEqual([]);
    const forms = new Set(written.map(({ text }) => form(text)));
    expect(PARTS.filter((part) => !forms.has(form(part)))).toEqual([]);
  });

  test("is what the list holds, and nothing else", () => {
    const forms = [...new Set(written.map(({ text }) => form(text)))];
    const patterns = forms.map(
      (text) => new RegExp(`^${text.split("_").map(RegExp.escape).join(".*")}$`, "s"),
    );
    expect(KNOWN_LINES.filter((line) => !patterns.some((pattern) => pattern.test(form(line))))).toEqual([]);
  });

  test("has each line that changes files whole in the list of those, and nothing else", () => {
    // Root writes some itself, and reads the settings files in its own way.
    const elsewhere = "lib/platform/config/env-files/settings-file.ts";
    const parts = writtenTexts((path) => path === elsewhere).filter(({ text }) => CHANGING.test(text));
    const patterns = parts.map(({ text }) => new RegExp(text.split(HOLE).map(RegExp.escape).join(".*")));
    const lines = CHANGING_LINES.map((line) => line.replaceAll("NAME", "opsctl"));
    expect(parts.filter((_part, at) => !lines.some((line) => patterns[at]!.test(line)))).toEqual([]);
    expect(lines.filter((line) => !patterns.some((pattern) => pattern.test(line)))).toEqual([]);
  });

  test("leaves out no file that is not there", () =>
    expect(Object.keys(ELSEWHERE).filter((path) => !sources().includes(path))).toEqual([]));
});
