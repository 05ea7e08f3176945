import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { whatsappPlain } from "../../../lib/text/whatsapp-plain.ts";
import { markdownLink, webLink, whatsappLink } from "../../../lib/webhook/texts/links.ts";
import { breakSchemes } from "../../../lib/webhook/texts/sender-text.ts";

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
    const heads = fc.constantFrom("https://example.com/", "https://example.com?", "http://", "");
    fc.assert(
      fc.property(heads, fc.string({ unit: "binary" }), (head, rest) => {
        const href = webLink(head + rest);
        if (href === null) return;
        expect(href).toMatch(/^https?:\/\/[\x21-\x3B\x3D\x3F-\x7E]+$/);
        expect(webLink(href)).toBe(href);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("whatsappLink()", () => {
  test.each([
    ["https://example.com/a_b?c=d-e", "https://example.com/a_b?c=d-e"],
    ["https://example.com/_a_/__b__", "https://example.com/%5Fa%5F/%5F%5Fb%5F%5F"],
    ["https://example.com/*a*~b~`c`", "https://example.com/%2Aa%2A%7Eb%7E%60c%60"],
  ])("%p is %p, which leads to the same place and formats nothing", (href, expected) => {
    const link = whatsappLink(href)!;
    expect(link).toBe(expected);
    expect(decodeURIComponent(link)).toBe(href);
    expect(whatsappPlain(link)).toBe(link);
  });

  test("leaves out what is no link", () => {
    expect(whatsappLink("javascript:alert(1)")).toBeNull();
  });
});

test("markdownLink() is in angle brackets, and null for what is no link", () => {
  expect(markdownLink("https://example.com/a_b")).toBe("<https://example.com/a_b>");
  expect(markdownLink("javascript:alert(1)")).toBeNull();
});

test.each([
  ["https://localhost/x", "https[://]localhost/x"],
  ["HTTP://LOCALHOST e file:///etc, http://", "HTTP[://]LOCALHOST e file[://]/etc, http[://]"],
  [
    "db.example.com 10.0.0.5:9100 root@host www.x.example",
    "db.example.com 10.0.0.5:9100 root@host www.x.example",
  ],
  ["https[://]x", "https[[://]]x"],
])("breakSchemes() of %p is %p", (text, broken) => {
  expect(breakSchemes(text)).toBe(broken);
});
