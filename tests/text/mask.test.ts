import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { normalizeEmail } from "../../lib/text/email-address.ts";
import { maskEmail, maskPhone } from "../../lib/text/mask.ts";

describe("maskPhone()", () => {
  test.each([
    ["5511987654321", "4321"],
    ["1234567890", "7890"],
  ])("shows four digits of %s", (digits, hint) => {
    expect(maskPhone(digits)).toBe(hint);
  });

  test.each([
    ["123"],
    ["4321"],
    [""],
    ["+5511987654321"],
    ["123456789"],
    ["1234567890123456"],
    ["abcdefghijkl"],
  ])("has no hint for %p", (digits) => {
    expect(maskPhone(digits)).toBeNull();
  });
});

describe("maskEmail()", () => {
  test.each([
    ["fulano@example.com", "f***@example.com"],
    ["f@example.com", "f***@example.com"],
    ["Fulano.Silva+x@Sub.Example.com", "F***@Sub.Example.com"],
    ["éva@example.com", "é***@example.com"],
    [" fulano@example.com\u200B", "f***@example.com"],
    ["\u{20BB7}野@example.com", "\u{20BB7}***@example.com"],
  ])("shows one character of %s", (address, hint) => {
    expect(maskEmail(address)).toBe(hint);
  });

  test("shows no more of the local part than its first character", () => {
    fc.assert(
      fc.property(fc.emailAddress(), (address) => {
        fc.pre(normalizeEmail(address) !== null);
        const hint = maskEmail(address)!;
        expect(hint).toMatch(/^.\*\*\*@/u);
        expect(hint.slice(hint.indexOf("@"))).toBe(address.slice(address.lastIndexOf("@")));
      }),
    );
  });

  test.each([['"a@b"@example.com'], ["Fulano <f@example.com>"], ["@example.com"], [""]])(
    "has no hint for %p",
    (address) => {
      expect(maskEmail(address)).toBeNull();
    },
  );
});
