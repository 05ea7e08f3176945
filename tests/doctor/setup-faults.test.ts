/** Faults of the set-up as the weekly run meets them: doctor names each that it can see before the run does. */
import { beforeAll, describe, expect, test } from "bun:test";
import { SETUP_FAULTS } from "../cases/setup-faults.ts";
import { type Host, openHost } from "./support/host.ts";

const SETTINGS = {
  whatsappSenderTenantId: "WHATSAPP_REPORT_SENDER_TENANT_ID",
  emailSenderTenantId: "WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID",
} as const;

/** One fault for each code of each check: their forms differ in what the weekly run's own tests try. */
const EACH_ONCE = SETUP_FAULTS.filter(
  ({ doctor }, at) => SETUP_FAULTS.findIndex((other) => `${other.doctor}` === `${doctor}`) === at,
);

const codesOf = async (host: Host) => {
  const findings = await host.examine("weekly");
  return findings.filter(({ code }) => code !== null).map(({ check, code }) => [check, code]);
};

describe("doctor names before a weekly run", () => {
  let healthy: unknown[][];
  beforeAll(async () => {
    await using host = await openHost();
    healthy = await codesOf(host);
  });

  test.each(EACH_ONCE)("$name", async ({ breaks, settings = {}, doctor }) => {
    await using host = await openHost();
    await breaks?.(host);
    for (const [name, value] of Object.entries(settings))
      host.setting("weekly", SETTINGS[name as keyof typeof SETTINGS], value);
    expect(await codesOf(host)).toContainEqual([...doctor]);
    expect(healthy).not.toContainEqual([...doctor]);
  });
});
