import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { databaseSnapshot } from "../../support/database-snapshot.ts";
import { type SeededOwner, seedOwner } from "../../support/seed.ts";
import { connectionOf } from "../support/outage.ts";
import { storedReport } from "../support/stored-report.ts";
import { type WeeklyFixture, weeklyFixture } from "../support/weekly-fixture.ts";

async function replaceList({ db }: WeeklyFixture, body: string): Promise<void> {
  await db.sql.unsafe(`
    create or replace function list_weekly_performance_report_scopes(p_tenant_id uuid default null)
    returns table (tenant_id uuid, user_id uuid) language plpgsql stable security definer set search_path = ''
    as $$ begin ${body} end $$`);
}

const tenants = async ({ db }: WeeklyFixture) =>
  (await db.sql`select distinct tenant_id as id from weekly_performance_reports`).map(({ id }) => id);

describe("who gets a report", () => {
  test("is what the list function says, and nothing else", async () => {
    await using weekly = await weeklyFixture();
    await seedOwner(weekly.db.sql);
    const chosen = await seedOwner(weekly.db.sql, { archived: true, role: "member", wallet: null });
    await replaceList(weekly, `return query select '${chosen.tenantId}'::uuid, '${chosen.userId}'::uuid;`);
    expect(await weekly.run()).toMatchObject({ status: "success", reports: { scopes: 1, completed: 1 } });
    expect(await tenants(weekly)).toEqual([chosen.tenantId]);
    expect(weekly.email.accepted.map(({ to }) => String(to))).toEqual([chosen.email!]);
  });

  test("is nobody's own invention: a scope without a user gets nothing, and the week is not called done", async () => {
    await using weekly = await weeklyFixture();
    const real = await seedOwner(weekly.db.sql);
    await replaceList(
      weekly,
      `return query values ('${real.tenantId}'::uuid, '${real.userId}'::uuid),
         ('00000000-0000-4000-8000-00000000dead'::uuid, '00000000-0000-4000-8000-00000000beef'::uuid);`,
    );
    expect(await weekly.run()).toMatchObject({
      status: "failed",
      exitCode: 1,
      reports: { scopes: 2, completed: 1, ineligible: 1 },
      failures: [{ step: "week", code: "WEEK_OPEN" }],
      heartbeat: "kept",
    });
    expect(weekly.gateway.accepted).toHaveLength(1);
  });

  test("is a tenant and a user together: under another tenant a user has no number, address or figures", async () => {
    await using weekly = await weeklyFixture();
    const { sql } = weekly.db;
    const real = await seedOwner(sql, { sends: [["email.opened"]] });
    const other = await seedOwner(sql);
    const misplaced = { tenantId: other.tenantId, userId: real.userId };
    await replaceList(
      weekly,
      `return query values ('${real.tenantId}'::uuid, '${real.userId}'::uuid),
         ('${misplaced.tenantId}'::uuid, '${misplaced.userId}'::uuid);`,
    );
    const counts = { failed: 1 };
    expect(await weekly.run({ dryRun: true })).toMatchObject({ whatsapp: counts, email: counts });

    const summary = await weekly.run();

    expect(summary).toMatchObject({
      reports: { scopes: 2, completed: 2 },
      social: { calls: 2 },
      whatsapp: { sent: 1, failed: 1 },
      email: { sent: 1, failed: 1 },
    });
    expect(summary.failures.map(({ code, tenantId }) => [code, tenantId])).toEqual([
      ["recipient_phone_missing", other.tenantId],
      ["recipient_email_missing", other.tenantId],
    ]);
    expect(weekly.email.accepted.map(({ to }) => String(to))).toEqual([real.email!]);
    expect(weekly.gateway.accepted).toHaveLength(1);
    const { payload } = await storedReport(sql, misplaced);
    expect(payload.accountScore).toMatchObject({ score: null, sourceId: null });
    expect(payload.missingChannels).toEqual(["email", "instagram", "linkedin", "blog", "tiktok"]);
  });

  test("is the tenant of --tenant alone, even when the list function answers more than it was asked for", async () => {
    await using weekly = await weeklyFixture();
    const [wanted, other] = [await seedOwner(weekly.db.sql), await seedOwner(weekly.db.sql)];
    await replaceList(
      weekly,
      `return query values ('${wanted.tenantId}'::uuid, '${wanted.userId}'::uuid),
         ('${other.tenantId}'::uuid, '${other.userId}'::uuid);`,
    );
    await weekly.db.sql`update users set phone = null`;
    const { tenantId } = wanted;
    const dry = await weekly.run({ tenantId, dryRun: true });
    expect(dry).toMatchObject({ reports: { scopes: 1 }, whatsapp: { failed: 1 } });
    expect(dry.failures.map((failure) => failure.tenantId)).toEqual([tenantId]);

    expect(await weekly.run({ tenantId })).toMatchObject({ reports: { scopes: 1, completed: 1 } });
    expect(await tenants(weekly)).toEqual([tenantId]);
    expect(weekly.email.accepted.map(({ to }) => String(to))).toEqual([wanted.email!]);
  });

  test("cannot be guessed when the list function raises: the run ends before anything is written", async () => {
    await using weekly = await weeklyFixture();
    await seedOwner(weekly.db.sql);
    await replaceList(weekly, "raise exception 'out of order for owner@client.example';");
    const before = await databaseSnapshot(weekly.db.sql);
    for (const dryRun of [true, false]) {
      const error = await weekly.run({ dryRun }).then(
        () => null,
        (reason: Error & { code?: string }) => reason,
      );
      expect(error?.code).toMatch(/^DATABASE_/);
      expect(error?.message).not.toContain("owner@client.example");
    }
    expect(await databaseSnapshot(weekly.db.sql)).toEqual(before);
    const { application, gateway, email } = weekly;
    expect([...application.ledger, ...gateway.ledger, ...email.ledger]).toEqual([]);
  });

  test("is each owner of a tenant that has two, with their own numbers and addresses", async () => {
    await using weekly = await weeklyFixture();
    const { sql } = weekly.db;
    const first = await seedOwner(sql, { sends: [["email.opened"]] });
    const second = await seedOwner(sql, { tenantId: first.tenantId, sends: [["email.bounced"], []] });
    await seedOwner(sql, { tenantId: first.tenantId, role: "admin" });
    expect(await weekly.run({ tenantId: first.tenantId })).toMatchObject({
      status: "success",
      reports: { scopes: 2, completed: 2 },
    });
    const metrics = async (owner: typeof first) =>
      (await storedReport(sql, owner)).payload.channels.email.metrics;
    expect(await metrics(first)).toMatchObject({ sends: 1, opened: 1, bounced: 0 });
    expect(await metrics(second)).toMatchObject({ sends: 2, opened: 0, bounced: 1 });
    expect(weekly.email.accepted.map(({ to }) => String(to)).toSorted()).toEqual(
      [first.email!, second.email!].toSorted(),
    );
  });

  test("does not depend on tenants.status, which may even be gone", async () => {
    await using weekly = await weeklyFixture();
    const { sql } = weekly.db;
    const owners = [await seedOwner(sql), await seedOwner(sql, { balance: 0, wallet: "grace" })];
    await sql`update tenants set status = 'suspended'`;
    expect(await weekly.run({ tenantId: owners[0]!.tenantId })).toMatchObject({ status: "success" });
    await sql`alter table tenants drop column status`;
    expect(await weekly.run()).toMatchObject({ status: "success", reports: { completed: 1, reused: 1 } });
  });

  test("is every owner once, also where there are more than a page of them, in whichever order they are listed", async () => {
    await using weekly = await weeklyFixture();
    const { sql } = weekly.db;
    const PAGE = 500;
    await sql`
      with t as (insert into tenants (name) select 'Tenant ' || i from generate_series(1, ${PAGE + 1}::int) as i returning id),
        w as (insert into credit_wallets (tenant_id, status) select id, 'active' from t)
      insert into users (tenant_id, role) select id, 'owner' from t`;
    const byNobodysKey =
      "return query select u.tenant_id, u.id from public.users as u order by md5(u.id::text);";
    await replaceList(weekly, byNobodysKey);
    const without = { whatsapp: { failed: PAGE + 1 }, email: { failed: PAGE + 1 } };
    expect(await weekly.run({ dryRun: true })).toMatchObject({ reports: { scopes: PAGE + 1 }, ...without });
    expect(await weekly.run({ skipWhatsapp: true, skipEmail: true })).toMatchObject({
      status: "success",
      reports: { scopes: PAGE + 1, completed: PAGE + 1, reused: 0 },
    });
    expect((await tenants(weekly)).length).toBe(PAGE + 1);
  });
});

describe("whose connections are analysed", () => {
  async function connect(
    { db }: WeeklyFixture,
    { tenantId, userId }: Pick<SeededOwner, "tenantId" | "userId">,
    network: string,
    { id = randomUUID() as string, status = "active", createdAt = "2026-11-02" } = {},
  ): Promise<void> {
    await db.sql`
      insert into social_connections (id, tenant_id, user_id, network, status, created_at)
      values (${id}, ${tenantId}, ${userId}, ${network}, ${status}, ${createdAt}::text::timestamptz)`;
  }

  test("is each active one of the two networks: by network, the older one first, then the one with the lesser id", async () => {
    await using weekly = await weeklyFixture();
    const { sql } = weekly.db;
    const owner = await seedOwner(sql, { networks: [] });
    const colleague = await seedOwner(sql, { networks: [], tenantId: owner.tenantId, role: "member" });
    const stranger = await seedOwner(sql, { networks: [], archived: true });
    const [a, b, c, d] = Array.from({ length: 4 }, () => randomUUID()).toSorted() as [
      string,
      string,
      string,
      string,
    ];
    await connect(weekly, owner, "linkedin", { id: a, createdAt: "2026-11-01" });
    await connect(weekly, owner, "instagram", { id: c, createdAt: "2026-11-03" });
    await connect(weekly, owner, "instagram", { id: b, createdAt: "2026-11-03" });
    await connect(weekly, owner, "instagram", { id: d });
    await connect(weekly, owner, "instagram", { status: "revoked" });
    await connect(weekly, owner, "tiktok");
    await connect(weekly, colleague, "instagram");
    await connect(weekly, { ...owner, tenantId: stranger.tenantId }, "instagram");
    expect(await weekly.run()).toMatchObject({ status: "success", reports: { scopes: 1 } });
    expect(weekly.application.routes.analysis.calls.map(connectionOf)).toEqual([d, b, c, a]);
  });
});

describe("who sends", () => {
  test("is the newest instance of the sender tenant, of two made at once the one with the greater id", async () => {
    await using weekly = await weeklyFixture();
    const { sql } = weekly.db;
    await seedOwner(sql, { networks: [] });
    const other = await seedOwner(sql, { archived: true });
    const ids = Array.from({ length: 3 }, () => randomUUID()).toSorted();
    const made = [
      [ids[1]!, "lesser", "2036-11-03"],
      [ids[2]!, "greater", "2036-11-03"],
      [ids[0]!, "older", "2036-11-01"],
    ] as const;
    const { whatsappTenantId } = weekly.senders;
    for (const [id, name, at] of made) {
      weekly.gateway.instances.set(name, "open");
      await sql`
        insert into messaging_instances (id, tenant_id, instance_name, created_at)
        values (${id}, ${whatsappTenantId}, ${name}, ${at}::text::timestamptz)`;
    }
    await sql`
      insert into messaging_instances (tenant_id, instance_name, created_at)
      values (${other.tenantId}, 'of another tenant', '2036-11-20')`;
    expect(await weekly.run({ dryRun: true })).toMatchObject({ status: "ready" });
    expect(await weekly.run()).toMatchObject({ status: "success" });
    expect(weekly.gateway.accepted.map(({ instance }) => instance)).toEqual(["greater"]);
  });
});
