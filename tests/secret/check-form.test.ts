/** What may be set as a secret: what the command that needs it takes, on one line. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { knownSecret } from "../../lib/platform/config/names/known-secrets.ts";
import { OpsError } from "../../lib/platform/errors.ts";
import { checkForm, hasOuterBlank } from "../../lib/secret/check-form.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const check = (name: string, text: string | Uint8Array) =>
  checkForm(knownSecret(name)!, typeof text === "string" ? bytes(text) : text, {}).open();

function problem(name: string, text: string | Uint8Array): string {
  try {
    check(name, text);
  } catch (error) {
    expect(error).toBeInstanceOf(OpsError);
    const { code, message, hint } = error as OpsError;
    expect(code).toBe("SECRET_MALFORMED");
    return `${message}\n${hint}`;
  }
  throw new Error("it was accepted");
}

describe("checkForm()", () => {
  test("drops one trailing line break and keeps everything else", () => {
    expect(check("TRIGGER_SECRET", "value\n")).toBe("value");
    expect(check("TRIGGER_SECRET", "value\r\n")).toBe("value");
    expect(check("TRIGGER_SECRET", " va lue ")).toBe(" va lue ");
    expect(hasOuterBlank(checkForm(knownSecret("TRIGGER_SECRET")!, bytes(" value"), {}))).toBe(true);
    expect(hasOuterBlank(checkForm(knownSecret("TRIGGER_SECRET")!, bytes("va lue"), {}))).toBe(false);
  });

  test.each(["", "\n", "  ", "\t\n"])("refuses %j as empty", (text) => {
    expect(problem("TRIGGER_SECRET", text)).toContain("is empty");
  });

  test("refuses what has more than one line", () => {
    expect(problem("TRIGGER_SECRET", "one-secret\ntwo-secret\n")).toContain("more than one line");
    expect(problem("DATABASE_URL", "postgres://a:b@h/d\n\n")).toContain("more than one line");
  });

  test("refuses what a key on the keyboard left, what is no text, and what is too long", () => {
    expect(problem("DATABASE_URL", "postgres://a:b\u001b[D@h/d")).toContain("control character");
    expect(problem("TRIGGER_SECRET", Uint8Array.of(0xff, 0xfe, 0x41))).toContain("not UTF-8");
    expect(problem("TRIGGER_SECRET", "x".repeat(65_537))).toContain("longer than any secret");
    expect(check("TRIGGER_SECRET", "x".repeat(65_536))).toHaveLength(65_536);
  });

  test("refuses the mark that an editor puts before a text, instead of dropping it", () => {
    expect(problem("TRIGGER_SECRET", "\uFEFFvalue")).toContain("a header cannot carry");
  });

  test("refuses what can be no token of the peer, and says what is expected", () => {
    const told = problem("ISSUE_TRACKER_TOKEN", "lin_api_8gR2 kLwX0vQp");
    expect(told).toContain("the value holds what no token can");
    expect(told).toContain("Expected the token alone, whole, as its peer shows it");
  });

  test("gives an example where the rule has one", () => {
    expect(problem("DATABASE_URL", "mysql://a:b@h/d")).toContain(", such as postgres://");
    expect(problem("TRIGGER_SECRET", "geheim-äöü")).not.toContain("such as");
  });

  test("asks what the command asks: a header's text, or the URL of a database", () => {
    expect(problem("TRIGGER_SECRET", "geheim-äöü")).toContain("a header cannot carry");
    expect(problem("DATABASE_URL", "mysql://a:b@h/d")).toContain("postgres://");
    expect(problem("MIGRATE_DATABASE_URL", "plain-text")).toContain("postgres://");
    expect(problem("OPSCTL_STATE_URL", "plain-text")).toContain("postgres://");
    expect(check("DATABASE_URL", "postgres://a:p%40ss@db.example.com/app")).toBe(
      "postgres://a:p%40ss@db.example.com/app",
    );
  });

  test("never quotes a value that it refuses, nor tells its length", () => {
    const value = fc.string({ minLength: 6, maxLength: 40, unit: "grapheme" });
    fc.assert(
      fc.property(value, fc.constantFrom("DATABASE_URL", "TRIGGER_SECRET"), (text, name) => {
        const refused = `x1y2-${text}\u0007`;
        const told = problem(name, refused);
        expect(told).not.toContain("x1y2");
        expect(told).toBe(problem(name, `${refused}${refused}`));
      }),
      { numRuns: 50 },
    );
  });
});
