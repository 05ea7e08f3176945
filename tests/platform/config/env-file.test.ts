import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { readEnvFile } from "../../../lib/platform/config/env-file.ts";

const parseEnvFile = (text: string) => readEnvFile(text).variables;

describe("the variables of an environment file", () => {
  test.each<[string, string, Record<string, string>]>([
    ["plain values", "A=1\nB=two words\n", { A: "1", B: "two words" }],
    ["no end of the last line", "A=1", { A: "1" }],
    [
      "comments of both kinds",
      "# A=1\n;B=2\n  # C=3\nD=4 # no comment\nE=5#6",
      { D: "4 # no comment", E: "5#6" },
    ],
    ["blanks around", "  A =  b c \t\nB=\t\n", { A: "b c", B: "" }],
    ["double quotes", 'A=" a # d "', { A: " a # d " }],
    ["single quotes, whatever they hold", "A='x \"$HOME\\n` # y '", { A: 'x "$HOME\\n` # y ' }],
    ["quotes inside a value", 'A=it\'s "so"', { A: 'it\'s "so"' }],
    ["line ends of another system", 'A=1\r\nB="2"\r\n', { A: "1", B: "2" }],
    ["a byte order mark, and no export", "\uFEFFA=1\nexport B=2\nexporter=3\n", { A: "1", exporter: "3" }],
    ["equals signs in a value", "A=b=c==\n", { A: "b=c==" }],
    ["the last of two", "A=1\nA=2\n", { A: "2" }],
    ["empty values", "A=\nB=''\nC=\"\"\n", { A: "", B: "", C: "" }],
    ["no shell", "A=$(touch /tmp/x)\nB=`id`\nC=$HOME\n", { A: "$(touch /tmp/x)", B: "`id`", C: "$HOME" }],
    ["what is none", "A\nB C=1\n1D=2\n=3\nA-B=1\nE=4\n", { E: "4" }],
    ["names of an object's own", "constructor=2\n__proto__=1", { constructor: "2", ["__proto__"]: "1" }],
    ["nothing", "", {}],
  ])("reads %s", (_name, text, expected) => {
    expect([...parseEnvFile(text)]).toEqual(Object.entries(expected));
  });

  const value = fc.string({ unit: "grapheme" }).filter((text) => !/[\r\n\0']/.test(text));

  test("reads back whatever was put into single quotes", () => {
    // Lines end where a shell ends them, and nowhere else.
    expect(readEnvFile("B='a\u2028b'\n").variables.get("B")).toBe("a\u2028b");
    fc.assert(
      fc.property(value, (text) => {
        const file = readEnvFile(`A=x\nB='${text}'\nC=z\n`);
        expect([Object.fromEntries(file.variables), file.faults]).toEqual([{ A: "x", B: text, C: "z" }, []]);
      }),
    );
  });
});

describe("readEnvFile()", () => {
  const lines = (text: string) => readEnvFile(text).faults.map(({ line, problem }) => [line, problem]);
  const EXPANDS = expect.stringContaining("single quotes");
  const OPEN_QUOTE = "opens a quote that it does not close at its end";
  const NO_ASSIGNMENT = "is not NAME=value";

  test.each<[string, string, [number, string][]]>([
    ["an export", "A=1\nexport B=2\n", [[2, NO_ASSIGNMENT]]],
    ["a variable in a bare value", "# a\n\nA=x$HOME\n", [[3, EXPANDS]]],
    [
      "a variable or a command in double quotes",
      'A="x$HOME"\nB="`id`"\n',
      [
        [1, EXPANDS],
        [2, EXPANDS],
      ],
    ],
    [
      "a command",
      "A=`id`\nB=$(id)\n",
      [
        [1, EXPANDS],
        [2, EXPANDS],
      ],
    ],
    ["each line once", "A=$x$y\n", [[1, EXPANDS]]],
    [
      "lines of a script",
      "set -a\n. /etc/x\n",
      [
        [1, NO_ASSIGNMENT],
        [2, NO_ASSIGNMENT],
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
    ["a quote without end", "A=1\nB='2\nC=3\n", [[2, OPEN_QUOTE]]],
    [
      "a quote that ends before the value does",
      "A='1' 2\nB='\n",
      [
        [1, OPEN_QUOTE],
        [2, OPEN_QUOTE],
      ],
    ],
    [
      "an escape, and a line that goes on in the next",
      'A=a\\ b\nB="\\n"\nC=1\\\n',
      [1, 2, 3].map((line) => [line, EXPANDS]),
    ],
    ["CRLF", "A=1\r\nexport B=2\r\n", [[2, NO_ASSIGNMENT]]],
    ["nothing, in single quotes", "A='$HOME `id`'\n", []],
    ["nothing, in comments", "# export $HOME `id`\n; $x\n", []],
    ["nothing, of a name that begins like export", "exporter=1\n", []],
  ])("names the line of %s", (_what, text, expected) => {
    expect(lines(text)).toEqual(expected);
  });

  test.each([
    ["two values of one name", "A=1\nB=2\nA=2\n", ["A"]],
    ["a value that an empty one takes away", "A=1\nA=\n", ["A"]],
    ["the same value twice, and a value below an empty one", "A=1\nA='1'\nB=\nB=2\n", []],
  ])("names what is set twice: %s", (_what, text, expected) => {
    expect(readEnvFile(text).repeated).toEqual(expected);
  });

  test("never throws, makes no name up, and names lines that are there, in any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."KZ=\"'\\# \n\r;$(`export") }), (text) => {
        const count = text.split(/\r\n|\r|\n/).length;
        for (const { line } of readEnvFile(text).faults) expect(line >= 1 && line <= count).toBe(true);
        for (const name of parseEnvFile(text).keys()) expect(text).toContain(name);
      }),
    );
  });

  test.each(["webhook", "alert-rules", "weekly", "collect-metrics", "socket-monitor"])(
    "has nothing against the sample %s.env, which sets no secret",
    (name) => {
      const sample = readFileSync(`systemd/${name}.env.example`, "utf8");
      expect(lines(sample)).toEqual([]);
      expect(
        [...parseEnvFile(sample)].filter(([key, set]) => /SECRET$|KEY$|TOKEN$/.test(key) && set !== ""),
      ).toEqual([]);
    },
  );
});
