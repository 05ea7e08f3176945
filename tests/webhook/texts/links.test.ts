import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { webLink } from "../../../lib/webhook/texts/web-link.ts";

describe("webLink()", () => {
  test.each([
    ["https://example.com/a?b=c&d=%20#e", "https://example.com/a?b=c&d=%20#e"],
    ["HTTP://EXAMPLE.com", "http://example.com/"],
    [' https://example.com/a b\n<c>"|', "https://example.com/a%20b%3Cc%3E%22|"],
    ["https://exämple.com/ação", "https://xn--exmple-cua.com/a%C3%A7%C3%A3o"],
    ["https://[::1]:3000/", "https://[::1]:3000/"],
    [`https://example.com/${"a".repeat(980)}`, `https://example.com/${"a".repeat(980)}`],
    [`https://example.com/${"a".repeat(981)}`, null],
    [`https://example.com/${"ç".repeat(400)}`, null],
    ["javascript:alert(1)", null],
    ["java\nscript:alert(1)", null],
    ["data:text/html,x", null],
    ["ftp://example.com/", null],
    ["//example.com/", null],
    ["example.com", null],
    ["https://", null],
    ["https://google.com@evil.example/", null],
    ["https://user:word@example.com/", null],
    ["", null],
    [null, null],
  ])("%p is %p", (text, href) => {
    expect(webLink(text)).toBe(href);
  });

  test("is plain ASCII that needs no care, and stays as it is", () => {
    const tail = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom(..."<>\"' \n\\`{}|^#?/@:%&;") }),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(
          "https://example.com/",
          "https://example.com?",
          "https://example.com#",
          "http://",
          "",
        ),
        tail,
        (head, rest) => {
          const href = webLink(head + rest);
          if (href === null) return;
          expect(href).toMatch(/^https?:\/\/[\x21-\x7E]+$/);
          expect(href).not.toMatch(/[<>]/);
          expect(webLink(href)).toBe(href);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
