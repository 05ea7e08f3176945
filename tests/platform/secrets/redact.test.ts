import { describe, expect, test } from "bun:test";
import { redact, redactValues, registerSecret } from "../../../lib/platform/secrets/redact.ts";

describe("redact()", () => {
  const value = 'c4nary/+ "quoted" é&=%';
  registerSecret(value);

  test("hides a registered secret in every form in which libraries repeat it", () => {
    const forms = [value, encodeURIComponent(value), JSON.stringify({ value })];
    for (const form of forms) {
      const shown = redact(`before ${form} after`);
      expect(shown).toContain("<secret>");
      expect(shown).not.toContain("c4nary");
    }
  });

  test("hides a registered URL and its password alone, encoded or not", () => {
    registerSecret("postgres://opsctl:p%40ss%2Fw0rd@db.internal:5432/app");
    expect(redact("connect postgres://opsctl:p%40ss%2Fw0rd@db.internal:5432/app failed")).toBe(
      "connect <secret> failed",
    );
    expect(redact("password p@ss/w0rd")).toBe("password <secret>");
    expect(redact("password p%40ss%2Fw0rd")).toBe("password <secret>");
  });

  test("does not replace a value that is too short to be distinguished from text", () => {
    registerSecret("abc");
    registerSecret("");
    expect(redact("the abc of it")).toBe("the abc of it");
  });

  test.each([
    ["redis://user:word@host/0", "redis://<secret>@host/0"],
    ["https://token@host/path", "https://<secret>@host/path"],
    ["postgres://u:a@b@host/db", "postgres://<secret>@host/db"],
    ["https://host/path?api_key=abcdef&x=1", "https://host/path?api_key=<secret>&x=1"],
    ['{"authorization":"Bearer abc.def"}', '{"authorization":"Bearer <secret>"}'],
    ["header was Bearer abcdefghijklmnop1", "header was Bearer <secret>"],
    ["to maria.silva@example.com.br now", "to m***@example.com.br now"],
    ["to éva.souza@padaria-são-joão.example now", "to é***@padaria-são-joão.example now"],
    ["jid 5511999998888@s.whatsapp.net", "jid 5***@s.whatsapp.net"],
    ["call +55 (11) 99999-8888 today", "call ***8888 today"],
    ["number 5511999998888.", "number ***8888."],
  ])("masks what is recognisable without registration: %s", (text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  test.each([
    "2026-11-21T10:00:00+00:00 took 1763719200123 ms",
    "id 3f2b8c1e-5d47-4a90-9c36-551234567890",
    "https://host/path?week=2026-11-16",
    "already masked f***@example.com",
    "postgres://<user>:<password>@host/db",
  ])("leaves ordinary text as it is: %s", (text) => {
    expect(redact(text)).toBe(text);
  });
});

test("redact() takes time in proportion to the text, whatever it is made of", () => {
  // A pattern that takes the square of the length would not come back from these within the test's limit.
  for (const piece of [
    "x",
    "a.",
    "1",
    "+5 ",
    "55",
    "a://",
    "?key",
    "@a.",
    "bearer ",
    "'-%",
    "a@",
    "é",
    "é.",
    "@é.",
  ]) {
    expect(redact(piece.repeat(1_000_000 / piece.length)).length).toBeGreaterThan(100_000);
  }
});

describe("redactValues()", () => {
  test("redacts every string value, keeps keys, numbers and the shape", () => {
    registerSecret("canary-value");
    const value = {
      "canary-value": "ok",
      list: ["the canary-value", 1, null, true],
      a: { b: "canary-value" },
    };
    expect(redactValues(value)).toEqual({
      "canary-value": "ok",
      list: ["the <secret>", 1, null, true],
      a: { b: "<secret>" },
    });
  });
});
