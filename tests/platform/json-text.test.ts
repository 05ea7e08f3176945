import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { jsonText } from "../../lib/platform/json-text.ts";

test("jsonText() leaves a terminal nothing to obey", () => {
  const name = "A\u001b[31m\u009b31m\u007f\u202Ertl\u2066\u2028\nação 日本";
  expect(jsonText({ name })).toBe(
    '{"name":"A\\u001b[31m\\u009b31m\\u007f\\u202ertl\\u2066\\u2028\\nação 日本"}',
  );
});

test("jsonText() writes a character of two units as two escapes, which are the same character", () => {
  const text = "acme\u{E0041}\u3164";
  expect(jsonText(text)).toBe('"acme\\udb40\\udc41\\u3164"');
  expect(JSON.parse(jsonText(text))).toBe(text);
});

test("jsonText() is one line and keeps every value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), (value, text) => {
      const line = jsonText({ value, [text]: text });
      expect(line).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
      expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify({ value, [text]: text })));
    }),
  );
});
