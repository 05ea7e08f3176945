import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { jsonLine } from "../../../../cli/framework/streams/json-line.ts";

test("jsonLine() leaves a terminal nothing to obey", () => {
  const name = "A\u001b[31m\u009b31m\u007f\u202Ertl\u2066\u2028\nação 日本";
  expect(jsonLine({ name })).toBe(
    '{"name":"A\\u001b[31m\\u009b31m\\u007f\\u202ertl\\u2066\\u2028\\nação 日本"}\n',
  );
});

test("jsonLine() is one line and keeps every value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), (value, text) => {
      const line = jsonLine({ value, [text]: text });
      expect(line.trimEnd()).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
      expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify({ value, [text]: text })));
    }),
  );
});
