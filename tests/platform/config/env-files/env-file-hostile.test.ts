import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseEnvFile } from "../../../../lib/platform/config/env-files/env-file.ts";

const parsed = (text: string) => Object.fromEntries(parseEnvFile(text));

describe("parseEnvFile()", () => {
  const cases: [string, string, Record<string, string>][] = [
    ["plain values", "A=1\nB=two words\n", { A: "1", B: "two words" }],
    ["no end of the last line", "A=1", { A: "1" }],
    ["comments", "# A=1\n; B=2\n  # C=3\nD=4 # no comment\n", { D: "4 # no comment" }],
    ["blanks around", "  A  =  1 \t\n", { A: "1" }],
    [
      "double quotes",
      'A="a b # c"\nB="say \\"hi\\" \\\\ \\$x \\`y\\` \\n"\n',
      { A: "a b # c", B: 'say "hi" \\ $x `y` \\n' },
    ],
    ["single quotes", "A='a \\ \"b\" $c'\n", { A: 'a \\ "b" $c' }],
    ["quotes after quotes", "A='a'\"b\"c\n", { A: "abc" }],
    ["quotes inside a value", 'A=it\'s\nB=x"y"\n', { A: "it's", B: 'x"y"' }],
    ["lines joined by a backslash", 'A=one\\\ntwo\nB="three\\\nfour"\n', { A: "onetwo", B: "threefour" }],
    ["escapes in a plain value", "A=a\\ b\\\\c\\ \n", { A: "a b\\c " }],
    ["line feeds in quotes", 'A="x\ny"\nB=1\n', { A: "x\ny", B: "1" }],
    ["CRLF", 'A=1\r\nB="2"\r\n', { A: "1", B: "2" }],
    ["export", "export A=1\nexport\tB=2\nexporter=3\n", { A: "1", B: "2", exporter: "3" }],
    ["equals signs in a value", "A=b=c==\n", { A: "b=c==" }],
    ["the last one", "A=1\nA=2\n", { A: "2" }],
    ["empty values", "A=\nB=''\nC=\"\"\n", { A: "", B: "", C: "" }],
    ["no shell", "A=$(touch /tmp/x)\nB=`id`\nC=$HOME\n", { A: "$(touch /tmp/x)", B: "`id`", C: "$HOME" }],
    ["what is none", "A\nB C=1\n1D=2\n=3\nE=4\n", { E: "4" }],
    ["a byte order mark", "\uFEFFA=1\n", { A: "1" }],
    ["quotes without end", 'A="1\nB=2\n', { A: "1\nB=2\n" }],
    ["an odd name", "__proto__=1\nconstructor=2\n", { constructor: "2" }],
  ];
  test.each(cases)("reads %s", (_name, text, expected) => {
    const found = parseEnvFile(text);
    found.delete("__proto__");
    expect(Object.fromEntries(found)).toEqual(expected);
  });

  const value = fc.string({ unit: "grapheme" }).filter((text) => !/[\r\0]/.test(text) && text.isWellFormed());
  test("reads back whatever was put into double quotes", () => {
    fc.assert(
      fc.property(value, (text) => {
        const quoted = `"${text.replace(/["\\`$]/g, "\\$&")}"`;
        expect(parsed(`A=x\nB=${quoted}\nC=z\n`)).toEqual({ A: "x", B: text, C: "z" });
      }),
    );
  });
  test("reads back whatever was put into single quotes", () => {
    fc.assert(
      fc.property(
        value.filter((text) => !text.includes("'")),
        (text) => {
          expect(parsed(`B='${text}'\n`)).toEqual({ B: text });
        },
      ),
    );
  });
  test("never throws and never makes up a name", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."AB=\"'\\# \n\r;$(export)") }), (text) => {
        for (const name of parseEnvFile(text).keys()) expect(text).toContain(name);
      }),
    );
  });
});
