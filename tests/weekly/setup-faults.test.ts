/** What a run lacks before it sends: the dry run names it, the real run meets it under the same code. */
import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import type postgres from "postgres";
import { limitMsFor, playedBy } from "../cases/answer-case.ts";
import { STATE_ANSWERS } from "../cases/gateway-answers.ts";
import { repairSetup, SETUP_FAULTS } from "../cases/setup-faults.ts";
import type { Scripted } from "../standins/standin.ts";
import { databaseSnapshot } from "../support/database-snapshot.ts";
import { seedOwner } from "../support/seed.ts";
import { deliveriesByOwner, isHeartbeatKept, plantHeartbeat } from "./support/ledger.ts";
import { sharedWeekly } from "./support/shared-weekly.ts";
import { weeklyFixture } from "./support/weekly-fixture.ts";

const shared = sharedWeekly();
const CLEAN = { sent: 1, failed: 0, unknown: 0, skipped: 0 };

describe("a setup fault", () => {
  test.each(SETUP_FAULTS)(
    "$name",
    async ({ channel, code, cause, breaks, settings, ofOwner, unrecorded }) => {
      const weekly = shared();
      const { db, gateway, email, application } = weekly;
      const owner = await seedOwner(db.sql, { networks: [] });
      // An instance of the recipient's own never sends a report.
      gateway.instances.set("own", "open");
      await db.sql`insert into messaging_instances (tenant_id, instance_name) values (${owner.tenantId}, 'own')`;
      plantHeartbeat(weekly);
      await breaks?.(weekly);
      const before = await databaseSnapshot(db.sql);

      const dry = await weekly.run({ dryRun: true, ...settings });

      const other = channel === "whatsapp" ? "email" : "whatsapp";
      expect(dry).toMatchObject({ status: "not_ready", exitCode: 3, error: { code } });
      const failure = { step: channel, code, cause, ...(ofOwner && { tenantId: owner.tenantId }) };
      expect(dry.failures).toEqual([failure] as typeof dry.failures);
      expect(dry).toMatchObject({ [channel]: { failed: 1 }, [other]: { failed: 0 } });
      expect(await databaseSnapshot(db.sql)).toEqual(before);
      const asked = [application, gateway, email].flatMap(({ ledger }) => ledger.map(({ method }) => method));
      expect(new Set(asked)).toEqual(new Set(["GET"]));

      const real = await weekly.run(settings);

      expect(real).toMatchObject({
        status: "failed",
        exitCode: 1,
        reports: { failed: 0 },
        heartbeat: "kept",
      });
      expect(real.failures).toMatchObject([{ step: channel, code, ...(cause && { cause }) }]);
      expect(real).toMatchObject({ [channel]: { ...CLEAN, sent: 0, failed: 1 }, [other]: CLEAN });
      expect((channel === "whatsapp" ? gateway : email).routes.send.calls).toHaveLength(0);
      expect(gateway.ledger.filter(({ path }) => path.endsWith("/own"))).toEqual([]);
      expect(isHeartbeatKept(weekly)).toBe(true);
      const row = (await deliveriesByOwner(weekly, channel)).get(owner.userId);
      const failed = { status: "failed", errorCode: code, dispatched: false };
      const ofNobody = { senderTenantId: null, maskedHint: null };
      if (unrecorded) expect(row).toBeUndefined();
      else expect(row).toMatchObject({ ...failed, ...(ofOwner && ofNobody) });

      await repairSetup(weekly, weekly.senders, owner);
      const next = await weekly.run();

      expect(next).toMatchObject({ exitCode: 0, [channel]: CLEAN, [other]: { sent: 0, reused: 1 } });
      const repaired = (await deliveriesByOwner(weekly, channel)).get(owner.userId)!;
      expect(repaired).toMatchObject({ status: "sent", ...(row && { id: row.id, attempts: 2 }) });
      const key = `weekly-performance-email/${repaired.id}`;
      if (channel === "email")
        expect(email.accepted.map(({ idempotencyKey }) => idempotencyKey)).toEqual([key]);
    },
  );
});

describe("a real run that asks for the instance's state", () => {
  test.each(playedBy("run", STATE_ANSWERS))(
    "a state answered with $name: nothing is sent, and the next run sends",
    async (row) => {
      const weekly = shared();
      const { db, gateway, run } = weekly;
      await seedOwner(db.sql, { networks: [] });
      gateway.routes.state.script = () => row.answer as Scripted;
      weekly.timeoutsMs = { gateway: limitMsFor(row.answer) };
      const { code, cause } = row.becomes as Exclude<typeof row.becomes, "open">;
      const first = await run();
      expect(first).toMatchObject({ exitCode: 1, whatsapp: { ...CLEAN, sent: 0, failed: 1 }, email: CLEAN });
      expect(first.failures).toMatchObject([{ step: "whatsapp", code, ...(cause && { cause }) }]);
      expect(gateway.routes.send.calls).toHaveLength(0);
      gateway.routes.state.script = null;
      weekly.timeoutsMs = {};
      expect(await run()).toMatchObject({ exitCode: 0, whatsapp: CLEAN, email: { sent: 0, reused: 1 } });
    },
  );
});

describe("the owners that a run reaches", () => {
  test("a run reaches an owner whose phone and address have blanks and invisible characters around them", async () => {
    const { db, gateway, email, run } = shared();
    const around = (text: string) => `\u00A0\u200B${text}\uFEFF\n`;
    const spec = { email: around("ana@client.example"), phone: around("11 98765-4321"), networks: [] };
    await seedOwner(db.sql, spec);
    expect(await run()).toMatchObject({ status: "success", exitCode: 0 });
    expect(email.accepted.map(({ to }) => [to].flat())).toEqual([["ana@client.example"]]);
    expect(gateway.accepted.map(({ number }) => number)).toEqual(["5511987654321"]);
    const hints = await db.sql`select masked_hint from weekly_performance_deliveries order by channel desc`;
    expect(hints.map(({ masked_hint }) => masked_hint)).toEqual(["4321", "a***@client.example"]);
  });

  test("a run reaches each owner of a tenant, and none of its other users", async () => {
    const { db, email, run } = shared();
    const owner = await seedOwner(db.sql, { networks: [] });
    const { tenantId } = owner;
    for (const role of ["admin", "member"] as const)
      await seedOwner(db.sql, { tenantId, role, networks: [] });
    const second = await seedOwner(db.sql, { tenantId, networks: [] });
    expect(await run()).toMatchObject({ reports: { scopes: 2, completed: 2 } });
    const to = email.accepted.map((accepted) => String(accepted.to));
    expect(to.toSorted()).toEqual([owner.email!, second.email!].toSorted());
  });

  test("a run reaches nobody at the phone and address of another tenant's owner", async () => {
    await using weekly = await weeklyFixture();
    const { db, run } = weekly;
    const [one, other] = [await seedOwner(db.sql), await seedOwner(db.sql)];
    await listScopes(db.sql, `values ('${other.tenantId}'::uuid, '${one.userId}'::uuid)`);
    const missing = { tenantId: other.tenantId };
    expect((await run({ dryRun: true })).failures).toEqual([
      { step: "whatsapp", code: "recipient_phone_missing", ...missing },
      { step: "email", code: "recipient_email_missing", ...missing },
    ]);
  });

  test("a run reaches 600 owners, each once, in whichever order the application lists them", async () => {
    await using weekly = await weeklyFixture();
    const { db, run } = weekly;
    await db.sql`
      with t as (insert into tenants (name) select 'Tenant ' || i from generate_series(1, 600) as i returning id),
        w as (insert into credit_wallets (tenant_id, status) select id, 'active' from t)
      insert into users (tenant_id, role) select id, 'owner' from t`;
    await listScopes(db.sql, "select tenant_id, id from public.users order by tenant_id desc");
    expect(await run({ dryRun: true })).toMatchObject({ whatsapp: { failed: 600 }, email: { failed: 600 } });
    const reports = { scopes: 600, completed: 600, reused: 0, failed: 0 };
    expect(await run({ skipWhatsapp: true, skipEmail: true })).toMatchObject({ exitCode: 0, reports });
  });
});

describe("the instance that sends", () => {
  test("is the sender tenant's newest, whatever the application says of its state", async () => {
    const { db, gateway, senders, run } = shared();
    await seedOwner(db.sql, { networks: [] });
    const [smaller, greater, greatest] = [1, 2, 3].map(() => randomUUID()).toSorted();
    await db.sql`
      insert into messaging_instances (id, tenant_id, instance_name, status, created_at) values
        (${greatest!}, ${senders.whatsappTenantId}, 'oldest', 'connected', now() - interval '2 years'),
        (${greater!}, ${senders.whatsappTenantId}, 'newest 1/2', 'disconnected', '2126-01-01'),
        (${smaller!}, ${senders.whatsappTenantId}, 'as new', 'connected', '2126-01-01')`;
    for (const name of ["oldest", "newest 1/2", "as new"]) gateway.instances.set(name, "open");
    expect(await run({ dryRun: true })).toMatchObject({ status: "ready" });
    expect(gateway.ledger.map(({ path }) => path)).toEqual(["/instance/connectionState/newest%201%2F2"]);
    await run();
    expect(gateway.accepted.map(({ instance }) => instance)).toEqual(["newest 1/2"]);
  });

  test("sends the sender tenant's own report as well", async () => {
    const { db, senders, run } = shared();
    await seedOwner(db.sql, { tenantId: senders.whatsappTenantId, networks: [] });
    expect(await run()).toMatchObject({ status: "success", whatsapp: { sent: 1 } });
  });

  test("changes nothing about an unknown delivery when it is missing later", async () => {
    const { db, gateway, run } = shared();
    await seedOwner(db.sql, { networks: [] });
    gateway.routes.send.next({ accept: "drop" });
    expect((await run()).whatsapp.unknown).toBe(1);
    const summary = await run({ whatsappSenderTenantId: null });
    expect(summary.whatsapp).toMatchObject({ unknown: 1, failed: 0 });
    expect(summary.failures.map(({ code }) => code)).toEqual(["delivery_unknown"]);
  });
});

/** Lets the application list what this query gives: tenants and users. */
async function listScopes(sql: postgres.Sql, query: string): Promise<void> {
  await sql.unsafe(`
    create or replace function list_weekly_performance_report_scopes(p_tenant_id uuid default null)
    returns table (tenant_id uuid, user_id uuid) language sql stable set search_path = pg_catalog, pg_temp
    as $$ ${query} $$`);
}
