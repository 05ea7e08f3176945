import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import type { WeeklySummary } from "../../lib/weekly/context/summary.ts";
import { newLogin } from "../support/roles.ts";
import { type SeededOwner, seedOwner, setClock } from "../support/seed.ts";
import { databaseDigest } from "./support/database-digest.ts";
import { runAs } from "./support/run-as.ts";
import { type WeeklyFixture, weeklyFixture } from "./support/weekly-fixture.ts";

const DRY = { dryRun: true };

/** What the peers saw: method and path of every request, in order. */
function requests({ application, gateway, email }: WeeklyFixture): string[] {
  return [application, gateway, email]
    .flatMap(({ ledger }) => ledger)
    .toSorted((a, b) => a.atMs - b.atMs)
    .map(({ method, path }) => `${method} ${path}`);
}

describe("a dry run of a world that is ready", () => {
  test("says so, writes nothing anywhere and asks the gateway for one state", async () => {
    await using weekly = await weeklyFixture();
    const { db } = weekly;
    for (let i = 0; i < 3; i += 1) await seedOwner(db.sql);
    await weekly.run({ tenantId: (await seedOwner(db.sql)).tenantId });
    const seen = requests(weekly).length;
    const before = await databaseDigest(db.sql);

    const summary = await weekly.run(DRY);

    expect(summary).toMatchObject({
      dryRun: true,
      status: "ready",
      exitCode: 0,
      reports: { scopes: 4, completed: 0, reused: 0, busy: 0, failed: 0 },
      social: { calls: 0 },
      whatsapp: { sent: 0, failed: 0, skipped: 0 },
      email: { sent: 0, failed: 0, skipped: 0 },
      editorials: { status: "disabled", calls: 0 },
      heartbeat: "kept",
      failures: [],
      error: null,
    });
    expect(Object.keys(before)).toContain("weekly_performance_reports");
    expect(await databaseDigest(db.sql)).toEqual(before);
    expect(requests(weekly).slice(seen)).toEqual(["GET /instance/connectionState/ops"]);
    expect(readdirSync(weekly.logDir)).toEqual([]);
  });

  test.each(["2026-11-22T12:00:00Z", "2026-11-24T03:00:00Z", "2026-11-27T23:59:59Z"])(
    "works on any day: %s",
    async (clock) => {
      await using weekly = await weeklyFixture({ clock });
      await seedOwner(weekly.db.sql);
      const summary = await weekly.run(DRY);
      expect(summary).toMatchObject({ status: "ready", exitCode: 0, retryableUntil: null });
    },
  );

  test("passes in a session that cannot write, where a real run cannot begin a single report", async () => {
    await using weekly = await weeklyFixture();
    const { db } = weekly;
    await seedOwner(db.sql);
    const login = await newLogin(db.sql, "grant service_role to");
    await db.sql.unsafe(`alter role ${login} set default_transaction_read_only = on`);
    const before = await databaseDigest(db.sql);

    expect(await runAs(weekly, login, DRY)).toMatchObject({ status: "ready", exitCode: 0 });

    expect(await runAs(weekly, login)).toMatchObject({
      status: "failed",
      exitCode: 1,
      reports: { failed: 1 },
      failures: [{ step: "report", code: "report_claim_failed" }],
    });
    expect(requests(weekly)).toEqual(["GET /instance/connectionState/ops"]);
    expect(await databaseDigest(db.sql)).toEqual(before);
  });

  test("has nothing to object to when nobody is eligible", async () => {
    await using weekly = await weeklyFixture();
    expect(await weekly.run(DRY)).toMatchObject({ status: "ready", exitCode: 0, reports: { scopes: 0 } });
  });
});

describe("a dry run of 1,200 owners", () => {
  test("looks at each of them, page by page, and names the first hundred failures", async () => {
    await using weekly = await weeklyFixture();
    const { sql } = weekly.db;
    await sql`
      with t as (insert into tenants (name) select 'Tenant ' || i from generate_series(1, 1200) as i returning id),
        w as (insert into credit_wallets (tenant_id, status) select id, 'grace' from t)
      insert into users (tenant_id, role, phone, email)
      select id, 'owner', null, 'owner@client.example' from t`;
    const last = await sql`select tenant_id as id from users order by tenant_id desc limit 1`;
    await sql`update users set email = 'nothing' where tenant_id = ${last[0]!.id}`;

    const summary = await weekly.run({
      ...DRY,
      editorials: { enabled: true, maxLlmCalls: 30, secretPresent: false },
    });

    expect(summary).toMatchObject({
      status: "not_ready",
      exitCode: 3,
      reports: { scopes: 1200 },
      whatsapp: { failed: 1200 },
      email: { failed: 1 },
      failuresTruncated: true,
    });
    expect(summary.failures).toHaveLength(100);
    // What concerns everybody is not lost behind what concerns one.
    expect(codes(summary)).toEqual(["SOCIAL_EDITORIALS_CRON_SECRET_MISSING", "recipient_phone_missing"]);

    await sql`update users set phone = '11 98765-4321', email = 'owner@client.example'`;
    expect(await weekly.run(DRY)).toMatchObject({ status: "ready", reports: { scopes: 1200 } });
  });
});

const codes = ({ failures }: WeeklySummary) => [...new Set(failures.map(({ code }) => code))];

/** What is wrong, how both kinds of run are started, and the code that both give. */
type Broken = {
  code: string;
  /** What is behind the code, where several things lead to it. */
  cause?: string;
  step: "whatsapp" | "email";
  spoil?(weekly: WeeklyFixture): Promise<unknown> | unknown;
  owner?: Parameters<typeof seedOwner>[1];
  options?: Parameters<WeeklyFixture["run"]>[0];
};

const emailConfig = (weekly: WeeklyFixture, config: string) =>
  weekly.db.sql`
    update tenant_config set config = ${config}::text::jsonb where tenant_id = ${weekly.senders.emailTenantId}`;
const verified = (address: string) => `{"email": {"address": ${address}, "verification_status": "verified"}}`;
const status = (value: string) =>
  `{"email": {"address": "reports@mail.example", "verification_status": ${value}}}`;

const phone = (value: string | null): Broken => ({
  code: "recipient_phone_missing",
  step: "whatsapp",
  owner: { phone: value },
});
const address = (value: string | null): Broken => ({
  code: "recipient_email_missing",
  step: "email",
  owner: { email: value },
});
const noInstance = (cause: string, spoil: Broken["spoil"]): Broken => ({
  code: "sem_instancia_gateway",
  cause,
  step: "whatsapp",
  spoil: spoil!,
});
const noAddress = (config: string): Broken => ({
  code: "email_sender_address_missing",
  step: "email",
  spoil: (weekly) => emailConfig(weekly, config),
});
const unverified = (config: string): Broken => ({
  code: "email_sender_domain_unverified",
  step: "email",
  spoil: (weekly) => emailConfig(weekly, config),
});

const BROKEN: Record<string, Broken> = {
  "no phone": phone(null),
  "an empty phone": phone("  "),
  "a phone of letters": phone("liga pra mim"),
  "a phone of nine digits": phone("98765-4321"),
  "two phones": phone("11 98765-4321 / 11 98765-4322"),
  "no address": address(null),
  "an empty address": address(""),
  "an address without a domain": address("owner@"),
  "an address with a name": address("Owner <owner@client.example>"),
  "two addresses": address("a@client.example, b@client.example"),
  "an address with a line break": address("owner@client.example\nbcc: x@y.example"),
  "no sender tenant for WhatsApp": {
    code: "sender_tenant_missing",
    step: "whatsapp",
    options: { whatsappSenderTenantId: null },
  },
  "no sender tenant for e-mail": {
    code: "email_sender_tenant_missing",
    step: "email",
    options: { emailSenderTenantId: null },
  },
  "no instance of the sender tenant": noInstance(
    "sender_instance_missing",
    ({ db }) => db.sql`delete from messaging_instances`,
  ),
  "an instance that the gateway does not know": noInstance("instance_missing", ({ gateway }) =>
    gateway.instances.delete("ops"),
  ),
  "an instance that is closed": noInstance("instance_close", ({ gateway }) =>
    gateway.instances.set("ops", "close"),
  ),
  "an instance without a state": noInstance("instance_not_loaded", ({ gateway }) =>
    gateway.instances.set("ops", null),
  ),
  "a gateway that fails": noInstance("gateway_http_500", ({ gateway }) => {
    gateway.routes.state.script = () => ({ status: 500 });
  }),
  "a gateway without a licence": {
    code: "gateway_license_required",
    step: "whatsapp",
    spoil: ({ gateway }) => {
      gateway.isLicensed = false;
    },
  },
  "no configuration of the sender": noAddress("{}"),
  "a sender without an address": noAddress('{"email": {"verification_status": "verified"}}'),
  "a sender whose address is none": noAddress(verified('"reports"')),
  "a sender whose address is a number": noAddress(verified("7")),
  "a sender that is a list": noAddress('{"email": ["reports@mail.example"]}'),
  "a sender that is pending": unverified(status('"pending"')),
  "a sender in capitals": unverified(status('"Verified"')),
  "a sender with a blank": unverified(status('" verified"')),
  "a sender whose status is true": unverified(status("true")),
  "a sender without a status": unverified('{"email": {"address": "reports@mail.example"}}'),
};

/** Everything that a scenario may have spoilt, as it was. */
async function mend({ db, gateway, senders }: WeeklyFixture, owner: SeededOwner): Promise<void> {
  const { sql } = db;
  await sql`update users set phone = ${owner.phone}, email = ${owner.email} where id = ${owner.userId}`;
  await sql`delete from messaging_instances`;
  await sql`
    insert into messaging_instances (tenant_id, instance_name) values (${senders.whatsappTenantId}, 'ops')`;
  await sql`
    update tenant_config set config = ${verified('"reports@mail.example"')}::text::jsonb
    where tenant_id = ${senders.emailTenantId}`;
  gateway.instances.set("ops", "open");
  gateway.isLicensed = true;
  gateway.routes.state.script = null;
}

// The channel in question never gets its message through, so one world serves all of its scenarios.
describe.each(["whatsapp", "email"] as const)(
  "a dry run names what a real run would run into: %s",
  (channel) => {
    let weekly: WeeklyFixture;
    let seeded: SeededOwner;
    beforeAll(async () => {
      weekly = await weeklyFixture();
      seeded = await seedOwner(weekly.db.sql, { networks: [] });
    }, 120_000);
    afterAll(() => weekly[Symbol.asyncDispose]());

    const scenarios = Object.entries(BROKEN).filter(([, { step }]) => step === channel);
    test.each(scenarios)("%s", async (_what, { code, cause, step, spoil, owner, options }) => {
      const { sql } = weekly.db;
      await mend(weekly, seeded);
      const { phone, email } = { ...seeded, ...owner };
      await sql`update users set phone = ${phone}, email = ${email} where id = ${seeded.userId}`;
      await spoil?.(weekly);
      const before = await databaseDigest(sql);
      const seen = requests(weekly).length;

      const dry = await weekly.run({ ...DRY, ...options });

      const failure = { step, code, cause, ...(owner === undefined ? {} : { tenantId: seeded.tenantId }) };
      expect(dry).toMatchObject({ status: "not_ready", exitCode: 3, error: { code } });
      expect(dry.failures).toEqual([failure]);
      expect([dry.whatsapp.failed, dry.email.failed]).toEqual(step === "whatsapp" ? [1, 0] : [0, 1]);
      expect(await databaseDigest(sql)).toEqual(before);
      expect(
        requests(weekly)
          .slice(seen)
          .filter((request) => !request.startsWith("GET ")),
      ).toEqual([]);

      const real = await weekly.run(options);
      expect(real).toMatchObject({
        status: "failed",
        exitCode: 1,
        reports: { failed: 0 },
        heartbeat: "kept",
      });
      expect(codes(real)).toEqual([code]);
      expect(real.failures[0]!.cause).toBe(cause);
      expect([real.whatsapp.failed, real.email.failed]).toEqual(step === "whatsapp" ? [1, 0] : [0, 1]);
      const sent = { whatsapp: weekly.gateway.accepted.length, email: weekly.email.accepted.length };
      expect(sent).toEqual(step === "whatsapp" ? { whatsapp: 0, email: 1 } : { whatsapp: 1, email: 0 });
    });
  },
);

describe("a dry run does not ask for", () => {
  test("what a flag leaves out", async () => {
    await using weekly = await weeklyFixture();
    await seedOwner(weekly.db.sql, { phone: null, email: null });
    weekly.gateway.instances.clear();
    await emailConfig(weekly, "{}");
    const editorials = { enabled: true, maxLlmCalls: 30, secretPresent: false };
    const left = { skipWhatsapp: true, skipEmail: true, skipEditorials: true };
    expect(await weekly.run({ ...DRY, ...left, editorials })).toMatchObject({
      status: "ready",
      exitCode: 0,
      whatsapp: { skipped: 1, failed: 0 },
      email: { skipped: 1, failed: 0 },
      editorials: { status: "skipped", code: null },
    });
    expect(requests(weekly)).toEqual([]);

    const whatsappOnly = await weekly.run({ ...DRY, skipEmail: true });
    expect(codes(whatsappOnly)).toEqual(["sem_instancia_gateway", "recipient_phone_missing"]);
    const editorialsOnly = await weekly.run({ ...DRY, ...left, skipEditorials: false, editorials });
    expect(codes(editorialsOnly)).toEqual(["SOCIAL_EDITORIALS_CRON_SECRET_MISSING"]);
    expect(editorialsOnly).toMatchObject({
      status: "not_ready",
      exitCode: 3,
      editorials: { status: "failed" },
    });
  });

  test("a tenant that is not there or not eligible: exit 3, nothing done, dry or not", async () => {
    await using weekly = await weeklyFixture();
    const { sql } = weekly.db;
    await seedOwner(sql);
    const suspended = await seedOwner(sql, { wallet: "suspended" });
    const archived = await seedOwner(sql, { archived: true });
    const member = await seedOwner(sql, { role: "member" });
    const before = await databaseDigest(sql);
    const unknown = "00000000-0000-4000-8000-00000000dead";
    for (const tenantId of [unknown, suspended.tenantId, archived.tenantId, member.tenantId]) {
      for (const dryRun of [true, false]) {
        expect(await weekly.run({ dryRun, tenantId })).toMatchObject({
          status: "not_ready",
          exitCode: 3,
          failures: [{ step: "scope", code: "TENANT_NOT_ELIGIBLE", tenantId }],
          error: { code: "TENANT_NOT_ELIGIBLE" },
          heartbeat: "kept",
        });
      }
    }
    expect(await databaseDigest(sql)).toEqual(before);
    expect(requests(weekly)).toEqual([]);
  });
});

test("outside Monday a real run is refused before it looks at anybody", async () => {
  await using weekly = await weeklyFixture();
  const { sql } = weekly.db;
  await seedOwner(sql);
  await setClock(sql, "2026-11-24T03:00:00Z");
  const before = await databaseDigest(sql);
  expect(await weekly.run()).toMatchObject({
    status: "refused",
    exitCode: 4,
    error: { code: "WEEKLY_OUTSIDE_MONDAY" },
    reports: { scopes: 0 },
  });
  expect(await databaseDigest(sql)).toEqual(before);
  expect(requests(weekly)).toEqual([]);
});
