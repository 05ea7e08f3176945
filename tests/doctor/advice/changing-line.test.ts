import { afterAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { isPlainPath, parseChangingLine } from "../../../lib/doctor/advice/changing-line.ts";
import { reportedMend } from "../../../lib/doctor/advice/reported-mend.ts";
import { safeMend } from "../../../lib/doctor/advice/safe-mend.ts";

/** What a shell that reads a line otherwise could write into. */
const scratch = realpathSync(mkdtempSync(join(tmpdir(), "opsctl-line-")));
afterAll(() => rmSync(scratch, { recursive: true }));
mkdirSync(join(scratch, "etc"));

const by = {
  ...{ name: "opsctl", uid: 64001, gid: 64001, directories: ["/var/lib/opsctl"], settings: ["/etc/opsctl"] },
  ...{ envDir: "/etc/opsctl", chosen: [], secrets: [], secretsDir: null, ownAdvice: [] },
};
/** No way leads through it but that of the account: each line for it is one that the account runs. */
const inOpen = { ...by, directories: [...by.directories, "/tmp"] };

const PROGRAMS = ["chown", "chmod", "install", "mv", "rmdir", "runuser"];
/** A line that changes files, also one that is run as the account. */
const IS_LINE =
  /^(?:Remove it there, then: |Look at it, then(?: move it away)?: )?((?:chown|chmod|mv|rmdir|runuser) .*|install -.*)$/s;
/** What is shown with a word for the operator to fill in; a shell refuses the line. */
const TO_FILL_IN = "install -d -o opsctl -g opsctl -m 0700 <directory> # then name it in OPSCTL_STATE_DIR";

/** The words that a real shell makes of each line: an array for each of its commands, and what it complains of. */
function wordsInShell(lines: readonly string[]): { said: string[][]; left: string }[] {
  const programs = PROGRAMS.map((name) => `${name}() { printf '%s\\n' ${name} "$@"; printf '\\0'; }`);
  const each = "for line do (eval \"$line\" 2>&1 || echo failed); printf '\\1'; done";
  const { stdout, stderr, status } = spawnSync(
    "/bin/sh",
    ["-c", `${programs.join("\n")}\n${each}`, "sh", ...lines],
    {
      ...{ cwd: scratch, env: { PATH: "/nonexistent" }, encoding: "utf8", input: "" },
    },
  );
  expect([stderr, status, readdirSync(scratch)]).toEqual(["", 0, ["etc"]]);
  return stdout
    .split("\x01")
    .slice(0, -1)
    .map((output) => {
      const commands = output.split("\0");
      const left = (commands.pop() as string).replace(/^.*syntax error.*$/is, "refused");
      return { said: commands.map((words) => words.split("\n").slice(0, -1)), left };
    });
}

/** The words of the line; with a word to fill in, a shell has to refuse all of it. */
function expectedOf(line: string): { said: string[][]; left: string } {
  return line.includes("<") ? { said: [], left: "refused" } : { said: wordsWritten(line), left: "" };
}

/** The words of a line between its blanks, and nothing of its note. */
function wordsWritten(line: string): string[][] {
  const [commands = ""] = line.split(" # ");
  return commands.split(" && ").map((command) => command.split(" "));
}

const BITS = [
  ..."abz019_.@%+,=:-/#<>$`'\"\\;&|()*?[]{}!~^ \t\n\r\0é\u202e",
  ...[
    "/..",
    "/.",
    "//",
    "#/../..",
    "<etc>",
    "<directory>",
    " && ",
    " # ",
    " # then fill it in",
    " /etc",
    "$IFS",
    ".old",
  ],
  ...[
    " && chmod 0600 /etc/shadow",
    " -R",
    "$(id)",
    "/dev/null",
    "/dev/stdin",
    "&&",
    "||id",
    ">x",
    "a".repeat(80),
  ],
];
const TAIL = fc.array(fc.oneof(fc.constantFrom(...BITS), fc.constantFrom("a", "/b", ".c")), { maxLength: 5 });
const START = fc.constantFrom(
  ...[
    "/var/lib/opsctl/",
    "/var/lib/opsctl",
    "/srv/opsctl",
    "/etc/opsctl/weekly.env",
    "/tmp/no-such-",
    "",
    "/",
    "/etc",
  ],
);
const VALUE = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(START, TAIL).map(([start, tail]) => `${start}${tail.join("")}`) },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
);
/** The lines that the checks write with a setting's value. */
const WRITTEN = fc.constantFrom<(value: string) => string>(
  (value) => `install -d -o opsctl -g opsctl -m 0700 ${value}`,
  (value) => `mv -nT ${value} ${value}.old && install -d -o opsctl -g opsctl -m 0755 ${value}`,
  (value) => `install -D -m 0600 -o opsctl /dev/stdin ${value}/TRIGGER_SECRET`,
  (value) => `Remove it there, then: install -D -m 0600 -o opsctl /dev/stdin ${value}/TRIGGER_SECRET`,
  (value) => `install -D -m 0600 -o opsctl -g opsctl /dev/null ${value} # then fill it in`,
  (value) => `Look at it, then move it away: mv -nT ${value} ${value}.foreign`,
  (value) => `mv -nT ${value}/TRIGGER_SECRET.txt ${value}/TRIGGER_SECRET`,
  (value) => `chmod go-w ${value} # unless others need it, as /tmp: then name another directory`,
  (value) => `chmod 0600 ${value}`,
  (value) => `chmod o+x ${value}`,
  (value) => `Look at it, then: chown -h opsctl:opsctl ${value}`,
  (value) => value,
);

const MEND = fc.tuple(WRITTEN, VALUE).map(([write, value]) => write(value));

/** What root is shown of an account's line, and an account of its own, as far as it is a line for a shell. */
function linesShown(mend: string): string[] {
  const texts = [reportedMend(mend, by), reportedMend(mend, inOpen), safeMend(mend)];
  return texts.flatMap((text) => IS_LINE.exec(text)?.[1] ?? []);
}

describe("parseChangingLine()", () => {
  test("shows root no line of which a shell makes other words than those that were judged", () => {
    let shown = 0;
    fc.assert(
      fc.property(fc.array(MEND, { minLength: 50, maxLength: 50 }), (mends) => {
        const lines = [...new Set(mends.flatMap(linesShown))];
        shown += lines.length;
        expect(wordsInShell(lines)).toEqual(lines.map(expectedOf));
        // A path is where it says that it is.
        const paths = lines.flatMap((line) => wordsWritten(line).flat()).filter((word) => word.includes("/"));
        expect(paths.map((path) => resolve(path))).toEqual(paths);
      }),
      { numRuns: 30 },
    );
    expect(shown).toBeGreaterThan(100);
  });

  test("tells the names and the paths of a line, and nothing else", () => {
    const text = "mv -nT /a /a.old && install -d -o x -g y -m 0700 /b";
    expect(parseChangingLine(text)).toEqual({
      ...{ text, form: "mv -nT PATH PATH.old && install -d -o NAME -g NAME -m 0700 PATH" },
      ...{ names: ["x", "y"], paths: ["/a", "/a.old", "/b"], isOfAccount: true, isPassing: false },
    });
  });

  test.each([
    ["systemctl start opsctl-webhook.socket", "other"],
    ["install the package of opsctl again", "other"],
    ["chmod 0600 /a b", "unknown"],
    ["chmod 0600 /a && chmod 0600 /b", "unknown"],
    ["chmod 0600 /a&& chmod 0600 /b", "unknown"],
    ["chmod 0600", "unknown"],
    ["chmod 0600 /a && id", "unknown"],
    ["chmod 0600 /a # run it", "unknown"],
    ["chmod 0600 /a # then fill it in", "unknown"],
    ["chown -h opsctl /a", "unknown"],
    ["Look at it, then: chown opsctl /a", "unknown"],
    ["Look at it, then: chown -h $(id) /a", "unknown"],
    ["Look at it, then: chown -h a:b:c /a", "unknown"],
    ["Look at it, then: chmod 0600 /a", "unknown"],
    ["install -D -m 0600 /dev/stdin", "unknown"],
    ["install -D -m 0600 /etc/shadow /a", "unknown"],
    ["mv -nT /a /b.old && install -d -o x -g y -m 0700 /b", "unknown"],
    ["mv -nT /a/TRIGGER_SECRET.txt /b/TRIGGER_SECRET", "unknown"],
    ["mv -nT /a/HOSTING /a/TRIGGER_SECRET", "unknown"],
    [`chmod 0600 /a && ${TO_FILL_IN}`, "unknown"],
  ])("tells what %s is", (text, status) => expect(parseChangingLine(text)).toBe(status as never));

  test("takes the line with a directory to fill in, which a shell refuses as it is", () => {
    expect(parseChangingLine(TO_FILL_IN)).toMatchObject({ text: TO_FILL_IN, paths: [] });
    expect(wordsInShell([TO_FILL_IN])).toEqual([{ said: [], left: "refused" }]);
  });
});

describe("isPlainPath()", () => {
  test.each(["/srv/opsctl", "/mnt/disk-1/x", "/a/...", "/a/..b", "/data/x@y%+,=:z"])("takes %s", (path) =>
    expect(isPlainPath(path)).toBe(true),
  );
  test.each(["", "/", "a", "/a/", "//a", "/a/..", "/../a", "/a/./b", "/a b", "/a#", "/a\n", "/é", "/a~"])(
    "takes no %j",
    (path) => expect(isPlainPath(path)).toBe(false),
  );
});
