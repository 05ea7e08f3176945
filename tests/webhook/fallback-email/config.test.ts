import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { loadWebhookConfig } from "../../../lib/webhook/config.ts";

const NEEDED = {
  WEBHOOK_SECRET: "s",
  MESSAGING_API_URL: "https://gateway.example",
  MESSAGING_API_KEY: "k",
  MESSAGING_PHONE: "5511912345678",
  ISSUE_TRACKER_TOKEN: "t",
  ISSUE_TRACKER_TEAM_ID: "team",
  OPSCTL_SECRETS_DIR: "/nowhere",
};
const EMAIL = {
  ALERT_EMAIL_TO: "ops@client.example",
  ALERT_EMAIL_FROM: " alarm@mail.example ",
  ALERT_EMAIL_API_KEY: "canary-email-key",
};
const load = (more: Record<string, string>) => loadWebhookConfig({ ...NEEDED, ...more });
const problem = async (more: Record<string, string>): Promise<string> =>
  await load(more).then(
    () => "none",
    ({ code, message }) => `${code} ${message}`,
  );

describe("the settings of the watch", () => {
  test("are off where there are none, empty ones included", async () => {
    const off = { fallback: null, pingUrl: null };
    expect(await load({})).toMatchObject(off);
    const empty = { ALERT_EMAIL_TO: " ", ALERT_EMAIL_API_KEY: "", OPSCTL_PING_URL: "" };
    expect(await load(empty)).toMatchObject(off);
  });

  test("the settings of the fallback e-mail are all there, or none", async () => {
    const { fallback } = await load(EMAIL);
    expect(fallback).toMatchObject({
      apiUrl: "https://api.resend.com",
      from: "alarm@mail.example",
      to: "ops@client.example",
    });
    expect(fallback!.apiKey.open()).toBe("canary-email-key");
    const names = Object.keys(EMAIL) as (keyof typeof EMAIL)[];
    for (const left of names) {
      const { [left]: _, ...rest } = EMAIL;
      expect(await problem(rest)).toMatch(new RegExp(`^CONFIG_INVALID [\\s\\S]*${left}: is missing`));
      const message = await problem({ [left]: EMAIL[left] });
      for (const other of names) expect(message.includes(`${other}: is missing`)).toBe(other !== left);
    }
  });

  test("the settings of the fallback e-mail are named with all other problems at once", async () => {
    const message = await problem({ ALERT_EMAIL_TO: "ops", MESSAGING_PHONE: "7" });
    for (const name of ["ALERT_EMAIL_TO", "ALERT_EMAIL_FROM", "ALERT_EMAIL_API_KEY", "MESSAGING_PHONE"])
      expect(message).toContain(`  ${name}: `);
  });

  test("take the key as a secret file, and find the two addresses missing beside it", async () => {
    const secrets = mkdtempSync(join(tmpdir(), "opsctl-secrets-"));
    writeFileSync(join(secrets, "ALERT_EMAIL_API_KEY"), "canary-file-key\n", { mode: 0o600 });
    const { ALERT_EMAIL_API_KEY: _, ...addresses } = EMAIL;
    const inFile = { OPSCTL_SECRETS_DIR: secrets };
    expect((await load({ ...addresses, ...inFile })).fallback!.apiKey.open()).toBe("canary-file-key");
    const message = await problem({ ...inFile, MESSAGING_PHONE: "7" });
    expect(message).toContain("MESSAGING_PHONE: ");
    expect(message).toContain("ALERT_EMAIL_TO: is missing");
    expect(message).toContain("ALERT_EMAIL_FROM: is missing");
    rmSync(secrets, { recursive: true });
  });

  test.each(["two@a.example, b@c.example", "Ops <ops@a.example>", "ops", "ops@host"])(
    "refuse the address %p",
    async (address) => {
      expect(await problem({ ...EMAIL, ALERT_EMAIL_TO: address })).toContain(
        "ALERT_EMAIL_TO: is invalid; expected one address",
      );
    },
  );

  test("have the ping as a secret that never prints itself, from the settings alone", async () => {
    const { pingUrl } = await load({ OPSCTL_PING_URL: "https://hc.example/ping/canary?rid=1" });
    expect(pingUrl!.open()).toBe("https://hc.example/ping/canary?rid=1");
    expect(inspect(pingUrl)).not.toContain("canary");
    const secrets = mkdtempSync(join(tmpdir(), "opsctl-secrets-"));
    writeFileSync(join(secrets, "OPSCTL_PING_URL"), "https://hc.example/of-another\n", { mode: 0o600 });
    expect((await load({ OPSCTL_SECRETS_DIR: secrets })).pingUrl).toBeNull();
    rmSync(secrets, { recursive: true });
  });

  test.each([
    ["ftp://hc.example/canary", "is not an http or https URL"],
    ["canary", "is not an http or https URL"],
    ["http://hc.example/canary", "would send a secret unencrypted"],
  ])("refuse the ping %p without quoting it", async (url, why) => {
    const message = await problem({ OPSCTL_PING_URL: url });
    expect(message).toContain(`OPSCTL_PING_URL: ${why}`);
    expect(message).not.toContain("canary");
  });

  test.each<[string, Record<string, string>]>([
    ["http://127.0.0.1:8000/x", {}],
    ["http://[::1]:8000/x", {}],
    ["http://hc.example/x", { OPSCTL_ALLOW_PLAIN_HTTP: "1" }],
  ])("take the ping %p", async (url, more) => {
    expect((await load({ OPSCTL_PING_URL: url, ...more })).pingUrl!.open()).toBe(url);
  });
});
