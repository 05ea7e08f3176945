import { describe, expect, test } from "bun:test";
import { oddSecrets } from "../../../../lib/platform/config/names/odd-secrets.ts";

const LOOKED_FOR = {
  secrets: ["EMAIL_API_KEY", "EMAIL_READ_API_KEY", "DATABASE_URL"],
  plain: ["GATEWAY_URL", "OPSCTL_PING_URL"],
};
const found = (...files: string[]) => oddSecrets(files, LOOKED_FOR);

describe("oddSecrets()", () => {
  test.each([
    ["EMAIL_READ_APIKEY", "EMAIL_READ_API_KEY"],
    ["email_api_key", "EMAIL_API_KEY"],
    ["EMAIL_API_KEY.txt", "EMAIL_API_KEY"],
    ["DATABSE_URL", "DATABASE_URL"],
    ["READ_API_KEY.txt", "EMAIL_READ_API_KEY"],
  ])("takes %s for %s", (name, meant) => {
    expect(found(name)).toEqual([{ name, meant }]);
  });

  test("names a setting that is no secret, as its file has no effect", () => {
    expect(found("GATEWAY_URL", "OPSCTL_PING_URL")).toEqual([
      { name: "GATEWAY_URL", meant: null },
      { name: "OPSCTL_PING_URL", meant: null },
    ]);
  });

  test("leaves alone what may be either, a copy beside the file that counts, secrets of other commands, foreign files", () => {
    expect(found("DATABASE_URL", "DATABASE_URL.old", "DATABASE_URL2", "DATABASE_URL~")).toEqual([]);
    expect(
      found("WEBHOOK_SECRET", "HOSTING_TOKEN", "tls.key", "README", "lost+found", ".DATABASE_UR"),
    ).toEqual([]);
    expect(found("EMAIL_KEY", "DATABASE_URL\n$(reboot)", "x".repeat(5_000))).toEqual([]);
  });

  test.each(["gpg", "age", "old", "bak", "orig", "enc", "asc", "swp", "new"])(
    "says nothing of a copy that is encrypted or put aside: .%s",
    (ending) => expect(found(`DATABASE_URL.${ending}`)).toEqual([]),
  );

  test("says nothing of a copy with a number", () => {
    expect(found("DATABASE_URL1", "DATABASE_URL_2", "DATABASE_URL2.txt")).toEqual([]);
  });

  test("never offers a file for one that is there, among any number", () => {
    const others = Array.from({ length: 3_000 }, (_, at) => `other-${at}x`);
    expect(found("DATABSE_URL", ...others)).toEqual([{ name: "DATABSE_URL", meant: "DATABASE_URL" }]);
    expect(found("DATABSE_URL", ...others, "DATABASE_URL")).toEqual([]);
  });
});
