import { describe, expect, test } from "bun:test";
import { isKnownAdvice } from "../../../../lib/doctor/advice/known-advice.ts";
import { correctSecret, correctSetting } from "../../../../lib/doctor/checks/settings/correct-setting.ts";
import type { CheckContext } from "../../../../lib/doctor/context/check-context.ts";
import { COMMAND_FACTS } from "../../../../lib/doctor/context/command-facts.ts";
import { type CommandName, DOCTOR_COMMANDS } from "../../../../lib/doctor/finding.ts";
import type { FoundSecret } from "../../../../lib/platform/secrets/adapter.ts";

const RELOAD = ", then systemctl reload opsctl-webhook.service";

function contextWith(found: Partial<FoundSecret> | null, env: Record<string, string> = {}): CheckContext {
  const context = {
    secrets: async (command: CommandName) =>
      COMMAND_FACTS[command].secrets.map(({ name }) => ({ name, found, error: null })),
    environment: async (command: CommandName) => ({
      env,
      file: { path: `/etc/opsctl/${command}.env`, command },
    }),
  };
  return context as unknown as CheckContext;
}

const inFile = (directory: string, name: string) =>
  ({ layer: "file", path: `${directory}/${name}` }) as const;
const elsewhere = { OPSCTL_SECRETS_DIR: "/srv/secrets" };

describe("correctSecret()", () => {
  test.each([
    ["weekly", "EMAIL_API_KEY", "opsctl secret set EMAIL_API_KEY"],
    ["collect-metrics", "HOSTING_TOKEN", "opsctl secret set HOSTING_TOKEN"],
    ["webhook", "ISSUE_TRACKER_TOKEN", `opsctl secret set ISSUE_TRACKER_TOKEN${RELOAD}`],
    ["socket-monitor", "MESSAGING_API_KEY", `opsctl secret set MESSAGING_API_KEY${RELOAD}`],
  ] as const)("names the command for the file of %s that holds %s", async (command, name, line) => {
    const directory = command === "collect-metrics" ? "/etc/opsctl/root-secrets" : "/etc/opsctl/secrets";
    expect(await correctSecret(contextWith(inFile(directory, name)), command, name)).toBe(line);
    expect(await correctSecret(contextWith(null), command, name)).toBe(line);
  });

  test.each([
    [{ layer: "environment", path: null } as const, {}, "in /etc/opsctl/webhook.env"],
    [{ layer: "command", path: null } as const, {}, "where OPSCTL_SECRETS_COMMAND gets it"],
    [inFile("/srv/secrets", "MESSAGING_API_KEY"), elsewhere, "in /srv/secrets/MESSAGING_API_KEY"],
  ])(
    "says where the value stands that is %j, which the command does not change",
    async (found, env, where) => {
      expect(await correctSecret(contextWith(found, env), "webhook", "MESSAGING_API_KEY")).toBe(
        `Correct MESSAGING_API_KEY ${where}${RELOAD}`,
      );
    },
  );

  test("is advice that root is shown as it is, for each secret that the account reads", async () => {
    const ofAccount = DOCTOR_COMMANDS.filter((command) => COMMAND_FACTS[command].account !== "root");
    const layers = [null, { layer: "environment", path: null }, { layer: "command", path: null }] as const;
    for (const command of ofAccount)
      for (const { name } of COMMAND_FACTS[command].secrets)
        for (const found of layers) {
          const line = await correctSecret(contextWith(found), command, name);
          // A process that is root says the line for root's own secrets, and no process of the account is.
          const isOther = name === "OPSCTL_STATE_URL" || line.endsWith(" --root");
          // Root is not told to put a secret of its own where the account reads it.
          const isInPlace = / in \/|OPSCTL_SECRETS_COMMAND/.test(line) && name === "MIGRATE_DATABASE_URL";
          if (!isOther) expect([line, isKnownAdvice(line, () => true)]).toEqual([line, !isInPlace]);
        }
  });
});

describe("correctSetting()", () => {
  test("names the environment file", async () => {
    const text = await correctSetting(contextWith(null), "weekly", "APP_BASE_URL");
    expect(text).toBe("Correct APP_BASE_URL in /etc/opsctl/weekly.env");
  });
});
