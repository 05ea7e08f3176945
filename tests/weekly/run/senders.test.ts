import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import type postgres from "postgres";
import type { WeeklyOptions } from "../../../lib/weekly/context/dependencies.ts";
import type { Scripted } from "../../standins/standin.ts";
import { type SeededOwner, seedOwner } from "../../support/seed.ts";
import { deliveriesByOwner, deliveryStates, isHeartbeatKept, plantHeartbeat } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import type { WeeklyFixture } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();

async function oneOwner(): Promise<WeeklyFixture & { owner: SeededOwner }> {
  const weekly = shared();
  const owner = await seedOwner(weekly.db.sql, { networks: [] });
  plantHeartbeat(weekly);
  return { ...weekly, owner };
}

describe("runWeekly() without a sender tenant", () => {
  test.each<[string, Partial<WeeklyOptions>, "whatsapp" | "email", "whatsapp" | "email"]>([
    ["sender_tenant_missing", { whatsappSenderTenantId: null }, "whatsapp", "email"],
    ["email_sender_tenant_missing", { emailSenderTenantId: null }, "email", "whatsapp"],
  ])(
    "%s: no row, no call, a failure of every report, and the other channel sends",
    async (code, options, channel, other) => {
      const weekly = await oneOwner();
      await seedOwner(weekly.db.sql, { networks: [] });
      const summary = await weekly.run(options);
      expect(summary).toMatchObject({ exitCode: 1, heartbeat: "kept", status: "failed" });
      expect(summary[channel]).toMatchObject({ sent: 0, failed: 2, skipped: 0 });
      expect(summary[other]).toMatchObject({ sent: 2, failed: 0 });
      expect(summary.failures.map((failure) => `${failure.step} ${failure.code}`)).toEqual([
        `${channel} ${code}`,
        `${channel} ${code}`,
      ]);
      expect(await deliveryStates(weekly)).toEqual([`${other} sent x2`]);
      expect((channel === "whatsapp" ? weekly.gateway : weekly.email).ledger).toHaveLength(0);
      expect(isHeartbeatKept(weekly)).toBe(true);
      expect((await weekly.run())[channel].sent).toBe(2);
    },
  );

  test("a delivery that is in doubt stays in doubt: the lack of a sender changes nothing about it", async () => {
    const weekly = await oneOwner();
    weekly.gateway.routes.send.script = () => ({ accept: "drop" });
    expect((await weekly.run()).whatsapp.unknown).toBe(1);
    const summary = await weekly.run({ whatsappSenderTenantId: null });
    expect(summary.whatsapp).toMatchObject({ unknown: 1, failed: 0 });
    expect(summary.failures.map(({ code }) => code)).toEqual(["delivery_unknown"]);
  });
});

describe("runWeekly() with a messaging instance that cannot send", () => {
  const state = (scripted: Scripted) => (weekly: WeeklyFixture) => {
    weekly.gateway.routes.state.script = () => scripted;
  };
  test.each<[string, (weekly: WeeklyFixture) => unknown]>([
    ["no row", ({ db }) => db.sql`delete from messaging_instances`],
    ["a blank name", ({ db }) => db.sql`update messaging_instances set instance_name = ' '`],
    ["an instance that the gateway does not know", ({ gateway }) => gateway.instances.delete("ops")],
    ["close", ({ gateway }) => gateway.instances.set("ops", "close")],
    ["connecting", ({ gateway }) => gateway.instances.set("ops", "connecting")],
    ["no state", ({ gateway }) => gateway.instances.set("ops", null)],
    ["500", state({ status: 500 })],
    ["dropped", state("drop")],
    ["a page", state("not_json")],
  ])(
    "%s: sem_instancia_gateway, nothing dispatched, e-mail goes, and the next run sends",
    async (_name, spoil) => {
      const weekly = await oneOwner();
      const { db, gateway, owner } = weekly;
      // The recipient has a paired instance of its own, which never sends a report.
      await db.sql`insert into messaging_instances (tenant_id, instance_name) values (${owner.tenantId}, 'own')`;
      gateway.instances.set("own", "open");
      await spoil(weekly);

      const summary = await weekly.run();

      expect(summary).toMatchObject({ exitCode: 1, whatsapp: { failed: 1 }, email: { sent: 1 } });
      expect((await deliveriesByOwner(weekly, "whatsapp")).get(owner.userId)).toMatchObject({
        status: "failed",
        errorCode: "sem_instancia_gateway",
        dispatched: false,
      });
      expect(gateway.routes.send.calls).toHaveLength(0);
      expect(gateway.ledger.filter(({ path }) => path.includes("own"))).toEqual([]);
      expect(isHeartbeatKept(weekly)).toBe(true);

      await db.sql`delete from messaging_instances where tenant_id = ${weekly.senders.whatsappTenantId}`;
      await db.sql`
      insert into messaging_instances (tenant_id, instance_name) values (${weekly.senders.whatsappTenantId}, 'ops')`;
      gateway.instances.set("ops", "open");
      gateway.routes.state.script = null;
      expect((await weekly.run()).whatsapp.sent).toBe(1);
      expect(gateway.accepted.map(({ instance }) => instance)).toEqual(["ops"]);
    },
  );

  test("a sender tenant that does not exist", async () => {
    const weekly = await oneOwner();
    const options = { whatsappSenderTenantId: randomUUID(), emailSenderTenantId: randomUUID() };
    expect(await weekly.run(options)).toMatchObject({
      whatsapp: { failed: 1 },
      email: { failed: 1 },
      exitCode: 1,
    });
    expect(await deliveryStates(weekly)).toEqual([
      "email failed email_sender_address_missing x1",
      "whatsapp failed sem_instancia_gateway x1",
    ]);
    expect([...weekly.gateway.ledger, ...weekly.email.ledger]).toEqual([]);
  });

  test("the newest instance of the sender tenant wins, whatever its own status column says", async () => {
    const weekly = await oneOwner();
    const { db, gateway, senders } = weekly;
    await db.sql`
      insert into messaging_instances (tenant_id, instance_name, status, created_at) values
        (${senders.whatsappTenantId}, 'oldest', 'connected', now() - interval '2 years'),
        (${senders.whatsappTenantId}, 'newest 1/2', 'disconnected', now() + interval '1 day')`;
    for (const name of ["oldest", "newest 1/2"]) gateway.instances.set(name, "open");
    await weekly.run();
    expect(gateway.accepted.map(({ instance }) => instance)).toEqual(["newest 1/2"]);
  });

  test("the configured instance sends the sender tenant's own report too", async () => {
    const weekly = shared();
    await seedOwner(weekly.db.sql, { tenantId: weekly.senders.whatsappTenantId, networks: [] });
    expect(await weekly.run()).toMatchObject({ status: "success", whatsapp: { sent: 1 } });
  });
});

describe("runWeekly() with a central e-mail sender that may not send", () => {
  const setEmail = (sql: postgres.Sql, email: unknown) =>
    sql`update tenant_config set config = ${JSON.stringify({ email })}::text::jsonb`;
  const address = "reports@mail.example";
  test.each<[string, string, unknown]>([
    ["no address", "email_sender_address_missing", { verification_status: "verified" }],
    ["an empty address", "email_sender_address_missing", { address: "", verification_status: "verified" }],
    [
      "an address with a name",
      "email_sender_address_missing",
      { address: `A <${address}>`, verification_status: "verified" },
    ],
    ["no object", "email_sender_address_missing", null],
    ["text in its place", "email_sender_address_missing", address],
    ["no status", "email_sender_domain_unverified", { address }],
    ["null", "email_sender_domain_unverified", { address, verification_status: null }],
    ["true", "email_sender_domain_unverified", { address, verification_status: true }],
    ["Verified", "email_sender_domain_unverified", { address, verification_status: "Verified" }],
    ["a leading blank", "email_sender_domain_unverified", { address, verification_status: " verified" }],
    ["pending", "email_sender_domain_unverified", { address, verification_status: "pending" }],
    ["another field", "email_sender_domain_unverified", { address, status: "verified" }],
  ])(
    "%s: %s before the provider, WhatsApp goes, and the next run sends under the same key",
    async (_name, code, config) => {
      const weekly = await oneOwner();
      const { db, email, owner } = weekly;
      await setEmail(db.sql, config);
      expect(await weekly.run()).toMatchObject({ exitCode: 1, email: { failed: 1 }, whatsapp: { sent: 1 } });
      const row = (await deliveriesByOwner(weekly, "email")).get(owner.userId)!;
      expect(row).toMatchObject({ status: "failed", errorCode: code, dispatched: false, maskedHint: null });
      expect(email.ledger).toHaveLength(0);
      expect(isHeartbeatKept(weekly)).toBe(true);

      await setEmail(db.sql, { address, verification_status: "verified" });
      expect((await weekly.run()).email.sent).toBe(1);
      expect(email.accepted[0]).toMatchObject({
        from: address,
        idempotencyKey: `weekly-performance-email/${row.id}`,
      });
    },
  );

  test("no row of configuration at all", async () => {
    const weekly = await oneOwner();
    await weekly.db.sql`delete from tenant_config`;
    await weekly.run();
    expect(await deliveryStates(weekly)).toContain("email failed email_sender_address_missing x1");
  });
});
