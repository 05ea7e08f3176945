import { describe, expect, test } from "bun:test";
import { whatsappPlain } from "../../../lib/text/whatsapp-plain.ts";
import { whatsappLink } from "../../../lib/webhook/texts/links.ts";

describe("whatsappLink()", () => {
  test.each([
    ["https://example.com/a_b?c=d-e", "https://example.com/a_b?c=d-e"],
    ["https://example.com/_a_/__b__", "https://example.com/%5Fa%5F/%5F%5Fb%5F%5F"],
    ["https://example.com/*a*~b~`c`", "https://example.com/%2Aa%2A%7Eb%7E%60c%60"],
  ])("%p is %p, which leads to the same place and formats nothing", (href, expected) => {
    const link = whatsappLink(href);
    expect(link).toBe(expected);
    expect(decodeURIComponent(link)).toBe(href);
    expect(whatsappPlain(link)).toBe(link);
  });
});
