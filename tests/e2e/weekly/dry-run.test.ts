import { describe, expect, test } from "bun:test";
import { databaseSnapshot } from "../../support/database-snapshot.ts";
import { seedOwner } from "../../support/seed.ts";
import { openFixture } from "../support/fixture.ts";

const WEDNESDAY = "2026-11-25T12:00:00Z";

describe.concurrent("opsctl weekly --dry-run", () => {
  test("says on any day whether a run would succeed, reads only, and sends nothing", async () => {
    await using fixture = await openFixture({ editorials: true, clock: WEDNESDAY });
    const { sql } = fixture.db;
    await seedOwner(sql);
    const noPhone = await seedOwner(sql, { phone: null });
    const before = await databaseSnapshot(sql);

    const notReady = await fixture.weekly(["--dry-run", "--json"]);
    const unchanged = await databaseSnapshot(sql);
    await sql`update users set phone = '+55 11 97777-1234' where id = ${noPhone.userId}`;
    const repaired = await databaseSnapshot(sql);
    const ready = await fixture.weekly(["--dry-run", "--json"]);
    const forPeople = await fixture.weekly(["--dry-run"]);

    expect(notReady.exitCode).toBe(3);
    expect(notReady.summary).toMatchObject({
      dryRun: true,
      status: "not_ready",
      heartbeat: "kept",
      reports: { scopes: 2, completed: 0 },
      failures: [{ step: "whatsapp", code: "recipient_phone_missing", tenantId: noPhone.tenantId }],
    });
    expect(unchanged).toEqual(before);
    expect(ready.exitCode, ready.stdout).toBe(0);
    expect(ready.summary).toMatchObject({
      status: "ready",
      window: { week: "2026-11-16" },
      failures: [],
      error: null,
    });
    expect(forPeople.stdout).toStartWith("Ready: a real run would send every report");
    expect(await databaseSnapshot(sql)).toEqual(repaired);
    expect(ready.summary.unproved).toEqual([
      "trigger_secret_unproved",
      "editorial_secret_unproved",
      "whatsapp_numbers_unproved",
      "email_sender_unproved",
    ]);
    expect(forPeople.stdout).toContain("Only a real run can prove:");
    expect([...new Set(fixture.requests())].toSorted()).toEqual([
      "GET /",
      "GET /domains",
      "GET /instance/connectionState/ops",
    ]);
    expect(fixture.heartbeat.isOld()).toBe(true);
  });
});

/** What is missing, and the code that a real run would give. */
const MISSING: [string, (fixture: Awaited<ReturnType<typeof openFixture>>) => unknown, string][] = [
  ["no address", ({ db }) => db.sql`update users set email = 'not an address'`, "recipient_email_missing"],
  [
    "a gateway that is not paired",
    ({ gateway }) => gateway.instances.set("ops", "close"),
    "sem_instancia_gateway",
  ],
  [
    "a sender that is not verified",
    ({ db }) =>
      db.sql`update tenant_config set config = jsonb_set(config, '{email,verification_status}', '"pending"')`,
    "email_sender_domain_unverified",
  ],
  [
    "a sender without an address",
    ({ db }) => db.sql`update tenant_config set config = '{}'`,
    "email_sender_address_missing",
  ],
  [
    "no WhatsApp sender tenant",
    ({ env }) => delete env.WHATSAPP_REPORT_SENDER_TENANT_ID,
    "sender_tenant_missing",
  ],
  [
    "no e-mail sender tenant",
    ({ env }) => delete env.WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID,
    "email_sender_tenant_missing",
  ],
  [
    "nothing at the gateway's address",
    ({ env }) => {
      env.GATEWAY_URL = "http://127.0.0.1:1";
    },
    "gateway_unreachable",
  ],
  [
    "nothing at the application's address",
    ({ env }) => {
      env.APP_BASE_URL = "http://127.0.0.1:1";
    },
    "APP_UNREACHABLE",
  ],
  [
    "nothing at the e-mail provider's address",
    ({ env }) => {
      env.EMAIL_API_URL = "http://127.0.0.1:1";
    },
    "email_unreachable",
  ],
  [
    "a key that the e-mail provider refuses",
    (fixture) => fixture.secret("EMAIL_API_KEY", "re_another_key"),
    "email_api_key_invalid",
  ],
  [
    "no log directory",
    ({ env }) => {
      env.OPSCTL_LOG_DIR = "/nonexistent";
    },
    "HEARTBEAT_UNWRITABLE",
  ],
  [
    "no editorial alias",
    (fixture) => fixture.secret("SOCIAL_EDITORIALS_CRON_SECRET", ""),
    "SOCIAL_EDITORIALS_CRON_SECRET_MISSING",
  ],
];

describe.concurrent("opsctl weekly --dry-run, the rollout gate", () => {
  test.each(MISSING)("refuses with %s, by the code of a real run", async (_name, remove, code) => {
    await using fixture = await openFixture({ editorials: true });
    await seedOwner(fixture.db.sql);
    await remove(fixture);
    const before = await databaseSnapshot(fixture.db.sql);

    const { exitCode, summary } = await fixture.weekly(["--dry-run", "--json"]);

    expect({ exitCode, status: summary.status }).toEqual({ exitCode: 3, status: "not_ready" });
    expect(summary.failures.map((failure) => failure.code)).toEqual([code]);
    expect(summary.error?.code).toBe(code);
    expect(await databaseSnapshot(fixture.db.sql)).toEqual(before);
    expect(fixture.requests().filter((request) => !request.startsWith("GET "))).toEqual([]);
  });
});
