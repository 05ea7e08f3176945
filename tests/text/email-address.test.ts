import { describe, expect, test } from "bun:test";
import { normalizeEmail } from "../../lib/text/email-address.ts";

describe("normalizeEmail()", () => {
  test.each([
    ["fulano@example.com"],
    ["f@example.com"],
    ["Fulano.Silva+x@Sub.Example.com"],
    ["éva@example.com"],
    ["o'brien@example.com"],
    ["vendas@açaí.com.br"],
    ["x@xn--aa-bja0c.xn--p1ai"],
    [`${"a".repeat(64)}@example.com`],
  ])("keeps %s as it is", (address) => {
    expect(normalizeEmail(address)).toBe(address);
  });

  test.each([
    [" f@example.com"],
    ["f@example.com "],
    ["f@example.com\n"],
    ["\tf@example.com\r\n"],
    ["\u00A0f@example.com\u00A0"],
    ["\u200Bf@example.com\u200B"],
    ["\uFEFFf@example.com"],
    ["\u202Af@example.com\u202C"],
    ["f@example.com\u00AD \u2060"],
    [`${" ".repeat(300)}f@example.com`],
    ["\u3000f@example.com\u2003\u2800"],
    ["\u200B\uFEFF\u200E\u061Cf@example.com\u200D\u2060"],
  ])("takes %j without what stands around it", (raw) => {
    expect(normalizeEmail(raw)).toBe("f@example.com");
  });

  test.each([
    [null],
    [""],
    ["f"],
    ["f@"],
    ["@example.com"],
    ["f@example"],
    ["f@localhost"],
    ["f@[127.0.0.1]"],
    ["f@127.0.0.1"],
    ["f@example.c"],
    ["f@-example.com"],
    ["f@example-.com"],
    ["f@exam_ple.com"],
    ["f@example..com"],
    ["f@example.com."],
    [".f@example.com"],
    ["f.@example.com"],
    ["a..b@example.com"],
    ["a b@example.com"],
    ["f @example.com"],
    ["f@ example.com"],
    ["f@example.com\ng@example.com"],
    ["f@example.com g@example.com"],
    ["\u00A0\u200B"],
    ["f@example.com\r\nBcc: x@example.com"],
    ["f@example.com\u0000"],
    ["f\u200B@example.com"],
    ["f@exam\u202Eple.com"],
    ['"a@b"@example.com'],
    ['"a b"@example.com'],
    ["a@b@example.com"],
    ["Fulano <f@example.com>"],
    ["<f@example.com>"],
    ["f@example.com (Fulano)"],
    ["f@example.com,g@example.com"],
    ["f@example.com, g@example.com"],
    ["f@example.com;g@example.com"],
    ["mailto:f@example.com"],
    ["f\uD800@example.com"],
    [`${"a".repeat(65)}@example.com`],
    [`f@${"a".repeat(64)}.com`],
    [`f@${"a.".repeat(130)}com`],
  ])("does not take %p", (raw) => {
    expect(normalizeEmail(raw)).toBeNull();
  });
});
