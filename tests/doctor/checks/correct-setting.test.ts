import { describe, expect, test } from "bun:test";
import { correctSetting } from "../../../lib/doctor/checks/correct-setting.ts";
import type { CheckContext } from "../../../lib/doctor/context/check-context.ts";
import type { FoundSecret } from "../../../lib/platform/secrets/adapter.ts";

const contextWith = (found: Partial<FoundSecret> | null) =>
  ({
    secrets: async () => [{ name: "EMAIL_API_KEY", found, error: null }],
    environment: async () => ({ file: { path: "/etc/opsctl/weekly.env" } }),
  }) as unknown as CheckContext;

describe("correctSetting()", () => {
  test.each([
    [null, "in /etc/opsctl/weekly.env"],
    [{ layer: "environment", path: null } as const, "in /etc/opsctl/weekly.env"],
    [
      { layer: "file", path: "/etc/opsctl/secrets/EMAIL_API_KEY" } as const,
      "in /etc/opsctl/secrets/EMAIL_API_KEY",
    ],
    [{ layer: "command", path: null } as const, "where OPSCTL_SECRETS_COMMAND gets it"],
  ])("of a secret that is %j says where its value stands", async (found, where) => {
    expect(await correctSetting(contextWith(found), "weekly", "EMAIL_API_KEY")).toBe(
      `Correct EMAIL_API_KEY ${where}`,
    );
  });

  test("names the environment file for what is no secret", async () => {
    const text = await correctSetting(contextWith(null), "weekly", "APP_BASE_URL");
    expect(text).toBe("Correct APP_BASE_URL in /etc/opsctl/weekly.env");
  });
});
