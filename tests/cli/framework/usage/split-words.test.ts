import { expect, test } from "bun:test";
import { parseArgs } from "node:util";
import fc from "fast-check";
import { splitWords, type Token } from "../../../../cli/framework/usage/split-words.ts";

const OPTIONS = { json: "boolean", week: "string", "a-b": "string" } as const;

/** The same by Node's own parser: what it says of a value, and of the first letter of short options. */
function byNode(words: readonly string[]) {
  const options = Object.fromEntries(Object.entries(OPTIONS).map(([name, type]) => [name, { type }]));
  const { tokens } = parseArgs({
    args: [...words],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const firsts = tokens.filter(({ index }, at) => tokens[at - 1]?.index !== index);
  return firsts.flatMap((token): Token[] => {
    if (token.kind === "option-terminator") return [];
    if (token.kind === "positional") return [{ kind: token.kind, value: token.value }];
    const { kind, name, rawName, value, inlineValue } = token;
    return [{ kind, name, rawName, value, inlineValue: inlineValue === true }];
  });
}

test("splitWords() splits as Node's parser does", () => {
  const word = fc.oneof(
    fc.constantFrom(
      "--",
      "-",
      "--json",
      "--week",
      "--week=",
      "--a-b",
      "--json=x",
      "--=x",
      "-w",
      "-abc",
      "---",
      "--no-json",
    ),
    fc.constantFrom(
      "--constructor",
      "--__proto__",
      "a",
      "",
      "2026-11-23",
      "-1",
      "--week=a=b",
      "--week=--json",
    ),
    fc.string(),
    fc.string().map((text) => `--${text}`),
  );
  // Of an option whose name begins with = each runtime says something else.
  const isClear = (text: string) => !text.startsWith("--=");
  const takesValue = (name: string) => name === "week" || name === "a-b";
  fc.assert(
    fc.property(fc.array(word.filter(isClear), { maxLength: 6 }), (words) => {
      expect(splitWords(words, takesValue)).toEqual(byNode(words));
    }),
    { numRuns: 2_000 },
  );
});

test("splitWords() takes a name that begins with = for a name", () => {
  expect(splitWords(["--=x", "--==y"], () => false)).toMatchObject([{ name: "=x" }, { name: "=" }]);
});
