/** Faults of the set-up as the weekly run meets them: doctor names each that it can see before the run does. */
import { beforeAll, describe, expect, test } from "bun:test";
import { SETUP_FAULTS } from "../cases/setup-faults.ts";
import { type Host, openHost } from "./support/host.ts";

const SETTINGS = {
  whatsappSenderTenantId: "WHATSAPP_REPORT_SENDER_TENANT_ID",
  emailSenderTenantId: "WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID",
} as const;

const doubtful = async (host: Host) => {
  const findings = await host.examine("weekly");
  return findings.filter(({ code }) => code !== null).map(({ check, code }) => [check, code]);
};

describe("doctor, before a weekly run with", () => {
  const seen = SETUP_FAULTS.filter(({ doctor }) => doctor !== undefined);
  let healthy: unknown[][];
  beforeAll(async () => {
    await using host = await openHost();
    healthy = await doubtful(host);
  });

  test.each(seen)("$name, names it", async ({ breaks, settings = {}, doctor }) => {
    await using host = await openHost();
    await breaks?.(host);
    for (const [name, value] of Object.entries(settings))
      host.setting("weekly", SETTINGS[name as keyof typeof SETTINGS], value);
    expect(await doubtful(host)).toContainEqual([...doctor!]);
    expect(healthy).not.toContainEqual([...doctor!]);
  });

  test("most of the faults that there are, names them", () => {
    expect(seen.length).toBeGreaterThan(SETUP_FAULTS.length / 2);
  });
});
