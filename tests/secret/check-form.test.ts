/** What may be set as a secret: what the command that needs it takes, on one line. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { OpsError } from "../../lib/platform/errors.ts";
import { checked } from "./support/places.ts";

/** The refusal, as the one who sets it reads it. */
function refusal(name: string, value: string | Uint8Array): string {
  try {
    checked(name, value);
  } catch (error) {
    expect(error).toBeInstanceOf(OpsError);
    const { code, message, hint } = error as OpsError;
    expect(code).toBe("SECRET_MALFORMED");
    return `${message}\n${hint}`;
  }
  return "";
}

const names = ["EMAIL_API_KEY", "ISSUE_TRACKER_TOKEN", "MONITORING_TOKEN", "HOSTING_TOKEN"];

describe("a secret", () => {
  test.each([
    ["loses one line break at its end", "value\n", "value"],
    ["loses one of Windows's, too", "value\r\n", "value"],
    ["keeps its blanks", " va lue ", " va lue "],
    ["may be as long as any", "q".repeat(65_536), "q".repeat(65_536)],
    ["may be a pass phrase in quotes", '"a phrase"', '"a phrase"'],
  ])("%s", (_what, typed, value) => {
    expect(checked("TRIGGER_SECRET", typed)).toBe(value);
  });

  test.each<[string, string | Uint8Array, string]>([
    ...["", "\n", "  ", "\t\n"].map((text): [string, string, string] => ["TRIGGER_SECRET", text, "is empty"]),
    ["TRIGGER_SECRET", "one-secret\ntwo-secret\n", "a line break"],
    ["DATABASE_URL", "postgres://a:b@h/d\n\n", "a line break"],
    ["DATABASE_URL", "postgres://a:b\u001b[D@h/d", "control character"],
    ["TRIGGER_SECRET", Uint8Array.of(0xff, 0xfe, 0x41), "not UTF-8"],
    ["TRIGGER_SECRET", "x".repeat(65_537), "longer than any secret"],
    ["TRIGGER_SECRET", "\uFEFFvalue", "a header cannot carry"],
    ["TRIGGER_SECRET", "geheim-äöü", "a header cannot carry"],
    ["DATABASE_URL", "mysql://a:b@h/d", ", such as postgres://"],
    ["MIGRATE_DATABASE_URL", "plain-text", "postgres://"],
    ["OPSCTL_STATE_URL", "plain-text", "postgres://"],
  ])("%s is refused when it is %j", (name, value, why) => {
    expect(refusal(name, value)).toContain(why);
  });

  test("that is the URL of a database is taken as it is", () => {
    const url = "postgres://a:p%40ss@db.example.com/app";
    expect(checked("DATABASE_URL", url)).toBe(url);
  });

  test("is quoted by no refusal, nor is its length told", () => {
    const value = fc.string({ minLength: 6, maxLength: 40, unit: "grapheme" });
    fc.assert(
      fc.property(value, fc.constantFrom("DATABASE_URL", "TRIGGER_SECRET", ...names), (text, name) => {
        const refused = `x1y2-${text}\u0007`;
        const told = refusal(name, refused);
        expect(told).not.toContain("x1y2");
        expect(told).toBe(refusal(name, `${refused}${refused}`));
      }),
      { numRuns: 100 },
    );
  });
});
