import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OpsError } from "../../lib/platform/errors.ts";
import { loadPreviewConfig, loadWeeklyConfig } from "../../lib/weekly/config.ts";

let secrets: string;
beforeEach(() => {
  secrets = mkdtempSync(join(tmpdir(), "opsctl-weekly-config-"));
});
afterEach(() => rmSync(secrets, { recursive: true, force: true }));

const ALL = { skipWhatsapp: false, skipEmail: false };
const ALIAS = "SOCIAL_EDITORIALS_CRON_SECRET";
const TENANT = "3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d";

function complete(more: Record<string, string | undefined> = {}): Record<string, string | undefined> {
  return {
    OPSCTL_SECRETS_DIR: secrets,
    DATABASE_URL: "postgres://u:canary-database@127.0.0.1/app",
    APP_BASE_URL: "https://app.example.com/base/",
    TRIGGER_SECRET: "canary-trigger",
    WHATSAPP_REPORT_SENDER_TENANT_ID: TENANT,
    WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID: TENANT,
    GATEWAY_URL: "https://gateway.example.com",
    GATEWAY_ADMIN_KEY: "canary-gateway",
    EMAIL_API_KEY: "canary-email",
    ...more,
  };
}

async function failureOf(promise: Promise<unknown>): Promise<OpsError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OpsError);
  return error as OpsError;
}

/** Names of the variables that a CONFIG_INVALID complains about. */
async function complaints(env: Record<string, string | undefined>, flags = ALL): Promise<string[]> {
  const { code, message } = await failureOf(loadWeeklyConfig(env, flags));
  expect(code).toBe("CONFIG_INVALID");
  return [...message.matchAll(/^ {2}([A-Z_]+): /gm)].map(([, name]) => name as string);
}

describe("loadWeeklyConfig()", () => {
  test("has the documented defaults", async () => {
    const config = await loadWeeklyConfig(complete(), ALL);
    expect(config).toMatchObject({
      appBaseUrl: "https://app.example.com/base",
      logDir: "/var/log/opsctl",
      whatsapp: {
        senderTenantId: TENANT,
        gatewayUrl: "https://gateway.example.com",
        messagesPerMinute: null,
      },
      email: { senderTenantId: TENANT, apiUrl: "https://api.resend.com" },
      editorials: null,
    });
    const enabled = await loadWeeklyConfig(complete({ SOCIAL_EDITORIALS_ENABLED: "1" }), ALL);
    expect(enabled.editorials).toEqual({ maxLlmCalls: 30, secret: null });
    expect(config.triggerSecret.open()).toBe("canary-trigger");
    expect(JSON.stringify(config)).not.toContain("canary");
  });

  test("a secret that no header can carry is refused before anything is built with it", async () => {
    writeFileSync(join(secrets, ALIAS), "canary-alias\u201d", { mode: 0o600 });
    for (const odd of ["canary\u2026", "canary-\u00e7", "canary\tkey", "canary\u007f", "\ud83d\ude00"]) {
      const bad = { TRIGGER_SECRET: odd, GATEWAY_ADMIN_KEY: odd, EMAIL_API_KEY: odd };
      const env = complete({ ...bad, SOCIAL_EDITORIALS_ENABLED: "1" });
      expect(await complaints(env)).toEqual([...Object.keys(bad), ALIAS]);
    }
  });

  test.each(["31", "0", "-3", "+3", "3.0", "3e1", "x"])(
    "a ceiling of %s LLM calls is refused",
    async (ceiling) => {
      const env = complete({ SOCIAL_EDITORIALS_MAX_LLM_CALLS: ceiling });
      expect(await complaints(env)).toEqual(["SOCIAL_EDITORIALS_MAX_LLM_CALLS"]);
    },
  );

  test("the alias comes from the secret adapter", async () => {
    writeFileSync(join(secrets, ALIAS), "canary-alias\n", { mode: 0o600 });
    const env = complete({ SOCIAL_EDITORIALS_ENABLED: "1", SOCIAL_EDITORIALS_MAX_LLM_CALLS: "9" });
    const { editorials } = await loadWeeklyConfig(env, ALL);
    expect(editorials?.maxLlmCalls).toBe(9);
    expect(editorials?.secret?.open()).toBe("canary-alias");
  });
});

describe("WEEKLY_REPORT_UNSUBSCRIBE", () => {
  const withAddress = (text?: string) => complete({ WEEKLY_REPORT_UNSUBSCRIBE: text });

  test("is read for the e-mail channel alone, and for a preview", async () => {
    expect((await loadWeeklyConfig(withAddress(), ALL)).unsubscribe).toBeNull();
    const web = withAddress("https://app.example.com/sair");
    expect((await loadPreviewConfig(web)).unsubscribe).toBe("https://app.example.com/sair");
    const noEmail = { skipWhatsapp: false, skipEmail: true };
    expect((await loadWeeklyConfig(withAddress("sair@mail.example"), noEmail)).unsubscribe).toBeNull();
  });

  test.each([
    ["mailto:sair@mail.example", "mailto:sair@mail.example"],
    ["MAILTO:sair@mail.example?subject=Sair", "mailto:sair@mail.example?subject=Sair"],
    [
      "mailto:sair@mail.example?subject=N%C3%A3o%20quero",
      "mailto:sair@mail.example?subject=N%C3%A3o%20quero",
    ],
    ["https://app.example.com", "https://app.example.com/"],
    ["HTTPS://App.example.com/sair?lista=semanal#topo", "https://app.example.com/sair?lista=semanal#topo"],
  ])("takes %s", async (text, address) => {
    expect((await loadWeeklyConfig(withAddress(text), ALL)).unsubscribe).toBe(address);
  });

  const neither = "is invalid; expected mailto: with one address";
  test.each([
    ["sair@mail.example", neither],
    ["http://app.example.com/sair", neither],
    ["https://", neither],
    ["javascript:alert(1)", neither],
    ["mailto:", neither],
    ["mailto:sair", neither],
    ["mailto:sair@localhost", neither],
    ["mailto:sair@mail.example?cc=eve@other.example", neither],
    ["mailto:sair@mail.example?subject=Sair&bcc=eve@other.example", neither],
    ["mailto:sair@mail.example?subject=Sair%26bcc%3Deve@other.example", neither],
    ["mailto:sair@mail.example?subject=Sair%0D%0ABcc:eve@other.example", neither],
    ["mailto:sair@mail.example%2Ceve@other.example", neither],
    ["mailto:sair@mail.example%0d%0aBcc:eve@other.example", neither],
    ["mailto:jo%C3%A3o@mail.example", neither],
    ["mailto:sair@mail.example?subject=%zz", neither],
    ["mailto:sair@mail.example#subject=Sair", neither],
    ["https://user:canary@app.example.com/", "carries a user name or a password"],
    ["mailto:sair@mail.example,eve@other.example", neither],
    ["https://app.example.com/sair>, <https://other.example", neither],
    ["https://app.example.com/sair\r\nBcc: eve@other.example", neither],
    ["https://app.example.com/opção", neither],
    [`https://app.example.com/${"a".repeat(400)}`, "is longer than 400 characters"],
  ])("refuses %s", async (text, problem) => {
    const { code, message } = await failureOf(loadWeeklyConfig(withAddress(text), ALL));
    expect(code).toBe("CONFIG_INVALID");
    expect(message).toContain("WEEKLY_REPORT_UNSUBSCRIBE: ");
    expect(message).toContain(problem);
    expect(message).not.toContain("canary");
  });
});
