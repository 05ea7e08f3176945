import { describe, expect, test } from "bun:test";
import { type SeededOwner, seedOwner } from "../../support/seed.ts";
import { deliveryStates } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import type { WeeklyFixture } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();

/** Makes an owner's report what a later version of opsctl would have stored, which this one cannot read. */
async function asLaterVersion({ db }: WeeklyFixture, { userId }: SeededOwner): Promise<void> {
  await db.sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`
      update weekly_performance_reports
      set schema_version = 2, payload = payload || '{"schemaVersion": 2, "chapters": []}' where user_id = ${userId}`;
  });
}

async function setDeliveries({ db }: WeeklyFixture, set: string, condition: string): Promise<void> {
  await db.sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx.unsafe(`update weekly_performance_deliveries set ${set} where ${condition}`);
  });
}

async function sentByLaterVersion(): Promise<{ weekly: WeeklyFixture; owner: SeededOwner }> {
  const weekly = shared();
  const owner = await seedOwner(weekly.db.sql);
  await weekly.run();
  await asLaterVersion(weekly, owner);
  for (const peer of [weekly.application, weekly.gateway, weekly.email]) peer.ledger.length = 0;
  return { weekly, owner };
}

describe("a report that another version of opsctl has made", () => {
  test("a report that was sent is reused as it is, though this version cannot read it", async () => {
    const { weekly } = await sentByLaterVersion();
    for (let run = 0; run < 2; run += 1)
      expect(await weekly.run()).toMatchObject({
        status: "success",
        heartbeat: "written",
        reports: { completed: 0, reused: 1, failed: 0 },
        whatsapp: { reused: 1 },
        email: { reused: 1 },
        week: { reports: { completed: 1, missing: 0 } },
      });
    expect([weekly.application, weekly.gateway, weekly.email].map(({ ledger }) => ledger.length)).toEqual([
      0, 0, 0,
    ]);
  });

  test("a report that was sent gets the timeline entry that is missing", async () => {
    const { weekly } = await sentByLaterVersion();
    await setDeliveries(weekly, "error_code = 'timeline_entry_failed'", "channel = 'whatsapp'");
    await weekly.db.sql`delete from timeline_entries`;
    expect(await weekly.run()).toMatchObject({ exitCode: 0, whatsapp: { reused: 1 } });
    const [row] = await weekly.db.sql`select count(*)::int as count from timeline_entries`;
    expect(row!.count).toBe(1);
  });

  test("a report with an unknown result stays so, and nothing is sent", async () => {
    const { weekly } = await sentByLaterVersion();
    await setDeliveries(
      weekly,
      "status = 'unknown', provider_message_id = null, error_code = 'gateway_timeout'",
      "channel = 'whatsapp'",
    );
    expect(await weekly.run()).toMatchObject({
      exitCode: 1,
      reports: { reused: 1, failed: 0 },
      whatsapp: { unknown: 1 },
      email: { reused: 1 },
      failures: [{ step: "whatsapp", code: "delivery_unknown", deliveryId: expect.any(String) }],
    });
    expect(weekly.gateway.ledger).toEqual([]);
  });

  test("a report of which one channel is not sent fails by itself: this version cannot write that message", async () => {
    const { weekly } = await sentByLaterVersion();
    await seedOwner(weekly.db.sql);
    await setDeliveries(
      weekly,
      "status = 'failed', provider_message_id = null, error_code = 'email_sender_domain_unverified'",
      "channel = 'email'",
    );
    expect(await weekly.run()).toMatchObject({
      exitCode: 1,
      reports: { completed: 1, failed: 1 },
      whatsapp: { sent: 1 },
      failures: [{ step: "report", code: "report_payload_unreadable" }],
    });
    // The channel that is left out needs no message.
    expect(await weekly.run({ skipEmail: true })).toMatchObject({
      exitCode: 0,
      reports: { reused: 2, failed: 0 },
      whatsapp: { reused: 2 },
    });
  });

  test("a report that was never sent is not reused: this version makes its own, and sends it once", async () => {
    const { weekly } = await sentByLaterVersion();
    await weekly.db.sql.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await tx`delete from weekly_performance_deliveries`;
    });
    expect(await weekly.run()).toMatchObject({
      exitCode: 0,
      reports: { completed: 1, reused: 0 },
      whatsapp: { sent: 1 },
      week: { owners: 1, reports: { completed: 1 }, whatsapp: { sent: 1 } },
    });
    expect(await deliveryStates(weekly)).toEqual(["email sent x1", "whatsapp sent x1"]);
    expect(await weekly.run()).toMatchObject({ exitCode: 0, reports: { reused: 1 } });
  });
});
