/** Which Bun builds and tests opsctl: the one whose checksum is in the Makefile, and nothing else of that name runs. */
import { afterAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";

const root = join(import.meta.dirname, "../..");
const makefile = readFileSync(join(root, "Makefile"), "utf8");
const VERSION = /^BUN_VERSION := (\S+)$/m.exec(makefile)![1]!;

const folder = mkdtempSync(join(tmpdir(), "opsctl-bun-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program that says that it ran. */
const MARKED = '#!/bin/sh\ntouch "$MARK"\necho 1.4.5\n';
const GENUINE = "#!/bin/sh\necho the very Bun\n";
const sha256 = (bytes: string | Buffer) => createHash("sha256").update(bytes).digest("hex");

/** An npm that packs this text as the binary of whatever package is asked for. */
const npmWith = (binary: string) => `#!/bin/sh
while [ "$1" != --pack-destination ]; do shift; done
mkdir -p "$2/of/package/bin"
cat > "$2/of/package/bin/bun" <<'END'
${binary}END
tar -czf "$2/bun.tgz" -C "$2/of" package
`;
/** An npm without a registry, which says why, as npm does, unless it is told to be silent. */
const NO_NPM = `#!/bin/sh
case " $* " in *" --silent "*) ;; *) echo the registry is away >&2 ;; esac
exit 1
`;

type FileWatch = { folder: string; target: string; mark: string; env: Record<string, string> };

/** A folder whose PATH has these programs and what a shell needs. */
function arrange(programs: Record<string, string>, name = "place-"): FileWatch {
  const place = mkdtempSync(join(folder, name));
  const bin = join(place, "bin");
  mkdirSync(bin);
  const found = spawnSync("sh", [
    "-c",
    "for name in sh cut sha256sum shasum tar gzip mktemp mkdir dirname install rm mv chmod cat touch tr uname; do command -v $name; done",
  ]);
  for (const path of String(found.stdout).trim().split("\n"))
    writeFileSync(join(bin, path.split("/").pop()!), `#!/bin/sh\nexec ${path} "$@"\n`, { mode: 0o755 });
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(bin, name), text, { mode: 0o755 });
  const mark = join(place, "ran");
  return { folder: place, target: join(place, ".ci/bun"), mark, env: { PATH: bin, MARK: mark } };
}

function getBun(
  { target, env }: FileWatch,
  checksum = sha256(GENUINE),
): { status: number | null; stderr: string } {
  const words = [join(root, ".ci/bun.sh"), VERSION, "linux-x64", checksum, target];
  return spawnSync("/bin/sh", words, { env, encoding: "utf8" });
}

describe(".ci/bun.sh", () => {
  test("takes what the registry has when its checksum is right, and finds it right again", () => {
    const place = arrange({ npm: npmWith(GENUINE) });
    expect(getBun(place)).toMatchObject({ status: 0, stderr: "" });
    expect(readFileSync(place.target, "utf8")).toBe(GENUINE);
    writeFileSync(join(place.env.PATH!, "npm"), NO_NPM);
    expect(getBun(place)).toMatchObject({ status: 0, stderr: "" });
  });

  test("refuses what the registry has when it is another, without running it", () => {
    const place = arrange({ npm: npmWith(MARKED) });
    const { status, stderr } = getBun(place);
    expect(status).toBe(1);
    expect(stderr).toContain(`@oven/bun-linux-x64@${VERSION} is not what this Makefile was made for`);
    expect(stderr).toContain(`${sha256(MARKED)}, expected ${sha256(GENUINE)}`);
    expect([existsSync(place.target), existsSync(place.mark)]).toEqual([false, false]);
  });

  test("refuses one that was changed afterwards, and leaves it there to be looked at", () => {
    const place = arrange({ npm: npmWith(GENUINE) });
    getBun(place);
    writeFileSync(place.target, MARKED);
    const { status, stderr } = getBun(place);
    expect(status).toBe(1);
    expect(stderr).toContain(`${place.target} was changed`);
    expect(stderr).toContain("rm -r .tools, run make again");
    expect(readFileSync(place.target, "utf8")).toBe(MARKED);
    expect(existsSync(place.mark)).toBe(false);
  });

  test("takes the very same one from PATH, without a registry", () => {
    const place = arrange({ npm: NO_NPM, bun: GENUINE });
    expect(getBun(place)).toMatchObject({ status: 0, stderr: "" });
    expect(readFileSync(place.target, "utf8")).toBe(GENUINE);
  });

  test("does not run another one of PATH that calls itself by the same version", () => {
    const place = arrange({ npm: npmWith(GENUINE), bun: MARKED });
    expect(getBun(place)).toMatchObject({ status: 0 });
    expect(existsSync(place.mark)).toBe(false);
  });

  test.each([
    ["the registry is away", { npm: NO_NPM }, "the registry is away"],
    ["there is neither npm nor bun", {}, "neither npm nor bun found"],
  ])("says so when %s, and leaves nothing behind", (_, programs, message) => {
    const place = arrange(programs);
    const { status, stderr } = getBun(place);
    expect(status).toBe(1);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("tar");
    expect(spawnSync("find", [dirname(place.target), "-mindepth", "1"], { encoding: "utf8" }).stdout).toBe(
      "",
    );
  });

  test("has nothing for a platform without a checksum", () => {
    const { status, stderr } = getBun(arrange({ npm: npmWith(MARKED) }), "");
    expect(status).toBe(1);
    expect(stderr).toContain("no checksum of Bun");
  });
});

describe("the Makefile", () => {
  /** Runs a target in a copy of what `make setup` reads. */
  function makeIn({ folder, env }: FileWatch, ...words: string[]): { status: number | null; stderr: string } {
    for (const name of ["Makefile", "package.json", "bun.lock", ".ci"])
      cpSync(join(root, name), join(folder, name), { recursive: true });
    const make = spawnSync("sh", ["-c", "command -v make"], { encoding: "utf8" }).stdout.trim();
    return spawnSync(make, words, { cwd: folder, env, encoding: "utf8" });
  }

  test("runs no bun of PATH before it was checked, whatever version that says it is", () => {
    const place = arrange({ npm: NO_NPM, bun: MARKED });
    const { status, stderr } = makeIn(place, "setup");
    expect(status).not.toBe(0);
    expect(stderr).toContain("could not be fetched");
    expect(existsSync(place.mark)).toBe(false);
  });

  test("works in a folder with blanks in its name", () => {
    const place = arrange({ npm: npmWith(GENUINE) }, "with blanks ");
    const checksums = ["x64", "aarch64"].flatMap((kind) =>
      ["linux", "darwin"].map((system) => `BUN_SHA256_${system}-${kind}=${sha256(GENUINE)}`),
    );
    mkdirSync(join(place.folder, "node_modules"));
    expect(makeIn(place, "setup", ...checksums)).toMatchObject({ status: 0, stderr: "" });
    expect(existsSync(join(place.folder, "node_modules/.installed"))).toBe(true);
  });

  test("knows the Bun that runs this test, and one checksum for each platform", () => {
    const checksums = [...makefile.matchAll(/^BUN_SHA256_(\S+) +:= ([0-9a-f]{64})$/gm)];
    expect(checksums.map(([, platform]) => platform).sort()).toEqual([
      "darwin-aarch64",
      "darwin-x64",
      "linux-aarch64",
      "linux-aarch64-musl",
      "linux-x64",
      "linux-x64-musl",
    ]);
    expect(checksums.map(([, , checksum]) => checksum)).toContain(sha256(readFileSync(process.execPath)));
    expect(Bun.version).toBe(VERSION);
  });
});
