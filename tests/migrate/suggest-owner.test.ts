import { describe, expect, test } from "bun:test";
import { suggestOwner } from "../../lib/migrate/suggest-owner.ts";
import { OpsError } from "../../lib/platform/errors.ts";

const FIRST =
  "Migrate as the owner of the schema: opsctl secret set MIGRATE_DATABASE_URL asks for that login";

const failure = (code: string, message = "Cannot use the database: x lacks y", hint?: string) =>
  new OpsError({ code, message, hint });

describe("suggestOwner()", () => {
  test.each(["DATABASE_GRANT_MISSING", "DATABASE_ROW_SECURITY", "DATABASE_PERMISSION_DENIED"])(
    "puts the owner's login before the grants: %s",
    (code) => {
      const { hint, ...rest } = suggestOwner(failure(code, undefined, "grant y to x;"), "DATABASE_URL");
      expect(hint).toBe(`${FIRST}\nWhere DATABASE_URL is the owner's already:\ngrant y to x;`);
      expect(rest).toMatchObject({ code });
    },
  );

  test("does so where the server refuses a file of the migrations", () => {
    const denied = "Cannot apply 0001_x: SQL state 42501, permission denied for schema public";
    expect(suggestOwner(failure("MIGRATION_FAILED", denied), "DATABASE_URL").hint).toBe(FIRST);
  });

  test.each<[string, string, string]>([
    ["DATABASE_GRANT_MISSING", "Cannot use the database: x lacks y", "MIGRATE_DATABASE_URL"],
    ["MIGRATION_FAILED", "Cannot apply 0001_x: SQL state 55P03, lock timeout", "DATABASE_URL"],
    ["DATABASE_UNREACHABLE", "Cannot use the database", "DATABASE_URL"],
  ])("leaves every other failure as it is: %s, %s, %s", (code, message, variable) => {
    const error = failure(code, message, "Look");
    expect(suggestOwner(error, variable)).toBe(error);
  });
});
