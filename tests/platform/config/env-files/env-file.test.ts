import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { parseEnvFile, readEnvFile } from "../../../../lib/platform/config/env-files/env-file.ts";

describe("parseEnvFile()", () => {
  test.each([
    ["a plain value", "A=b", { A: "b" }],
    ["blanks around name and value", "  A =  b c \t\nB=\t\n", { A: "b c", B: "" }],
    ["comments of both kinds", "# A=1\n;B=2\n  # C=3\nD=4#5", { D: "4#5" }],
    ["a comment that ends in a backslash, which joins nothing", "# comment \\\nA=1", { A: "1" }],
    ["single quotes, whatever they hold", "A='x \"$HOME\\n` # y '", { A: 'x "$HOME\\n` # y ' }],
    ["double quotes and their escapes", 'A="a \\"b\\" \\$c \\` \\\\ \\n"', { A: 'a "b" $c ` \\ \\n' }],
    ["a quoted value over lines", "A='1\n2'\nB=\"1\\\n2\"", { A: "1\n2", B: "12" }],
    ["quoted pieces one after the other", "A='1'  \"2\" 3", { A: "123" }],
    ["a quote inside a bare value", 'A=it\'s "so"', { A: 'it\'s "so"' }],
    ["an escaped blank at the end", "A=b\\  \nB=\\#c", { A: "b ", B: "#c" }],
    ["a joined line", "A=1\\\n2", { A: "12" }],
    ["line ends of another system", "A=1\r\nB=2\r\n", { A: "1", B: "2" }],
    ["the last of two", "A=1\nA=2", { A: "2" }],
    ["an export and a byte order mark", "\uFEFFexport A=1", { A: "1" }],
    ["nothing that is no name", "1A=1\nA-B=1\n=x\nA", {}],
    ["an expansion, which is none", "A=$(id) $C", { A: "$(id) $C" }],
    ["names of an object's own", "constructor=2\n__proto__=1", { constructor: "2", ["__proto__"]: "1" }],
    ["an unfinished quote", "A='1\nB=2", { A: "1\nB=2" }],
    ["nothing", "", {}],
  ])("reads %s", (_what, text, expected) => {
    expect([...parseEnvFile(text)]).toEqual(Object.entries(expected));
  });

  test("reads the sample files that are installed", () => {
    const webhook = parseEnvFile(readFileSync("systemd/webhook.env.example", "utf8"));
    expect(webhook.get("WEBHOOK_SECRET")).toBe("");
    expect([...webhook.values()].every((value) => value === "")).toBe(true);
    const weekly = parseEnvFile(readFileSync("systemd/weekly.env.example", "utf8"));
    expect([...weekly.keys()]).toContain("APP_BASE_URL");
  });
});

describe("readEnvFile()", () => {
  const lines = (text: string) => readEnvFile(text).faults.map(({ line, problem }) => [line, problem]);
  const EXPANDS = expect.stringContaining("single quotes");
  const NO_ASSIGNMENT = "is not NAME=value";

  test.each([
    ["two values of one name", "A=1\nB=2\nA=2\n", ["A"]],
    ["a value that an empty one takes away", "A=1\nA=\n", ["A"]],
    ["the same value twice, and a value below an empty one", "A=1\nA='1'\nB=\nB=2\n", []],
  ])("names what is set twice: %s", (_what, text, expected) => {
    expect(readEnvFile(text).repeated).toEqual(expected);
  });

  test.each([
    ["an export", "A=1\nexport B=2\n", [[2, expect.stringContaining("export")]]],
    ["a variable in a bare value", "# a\n\nA=x$HOME\n", [[3, EXPANDS]]],
    ["a variable in double quotes", 'A="x$HOME"\n', [[1, EXPANDS]]],
    [
      "a command",
      "A=`id`\nB=$(id)\n",
      [
        [1, EXPANDS],
        [2, EXPANDS],
      ],
    ],
    ["a command in double quotes", 'A="1\n`id`"\n', [[2, EXPANDS]]],
    ["each line once", "A=$x$y\n", [[1, EXPANDS]]],
    [
      "lines of a script",
      "set -a\n. /etc/x\nif true; then A=1\n",
      [
        [1, NO_ASSIGNMENT],
        [2, NO_ASSIGNMENT],
        [3, NO_ASSIGNMENT],
      ],
    ],
    [
      "names that are none",
      "1A=2\n=3\nA-B=1\n",
      [
        [1, NO_ASSIGNMENT],
        [2, NO_ASSIGNMENT],
        [3, NO_ASSIGNMENT],
      ],
    ],
    ["a quote without end", "A=1\nB='2\nC=3\n", [[2, "opens a quote that no line closes"]]],
    ["lines after a joined one", "A=1\\\n2\nexport B=1", [[3, expect.stringContaining("export")]]],
    ["CRLF", "A=1\r\nexport B=2\r\n", [[2, expect.stringContaining("export")]]],
  ])("names the line of %s", (_what, text, expected) => {
    expect(lines(text)).toEqual(expected as [number, string][]);
  });

  test.each([
    ["single quotes", "A='$HOME `id`'\n"],
    ["escapes", 'A=\\$x\\`y\nB="\\$x \\`y"\n'],
    ["comments", "# export $HOME `id`\n; $x\n"],
    ["a name that begins like export", "exporter=1\n"],
  ])("has nothing against %s", (_what, text) => {
    expect(lines(text)).toEqual([]);
  });

  test("names lines that are there, in any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."KZ=\"'\\# \n\r;$(`") }), (text) => {
        const count = text.split(/\r\n|\r|\n/).length;
        for (const { line } of readEnvFile(text).faults) expect(line >= 1 && line <= count).toBe(true);
      }),
    );
  });

  test.each(["webhook", "alert-rules", "weekly", "collect-metrics", "socket-monitor"])(
    "has nothing against the sample %s.env",
    (name) => {
      expect(lines(readFileSync(`systemd/${name}.env.example`, "utf8"))).toEqual([]);
    },
  );
});
