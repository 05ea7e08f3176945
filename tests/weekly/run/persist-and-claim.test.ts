import { describe, expect, test } from "bun:test";
import { createPace, type Pace } from "../../../lib/platform/rate/pace.ts";
import type { Store } from "../../../lib/weekly/database/store.ts";
import { seedOwner, setClock } from "../../support/seed.ts";
import { deliveryStates } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";

const shared = sharedWeekly();

/** Counts the calls of the store that store a report or claim the message. */
function counting(calls: Record<string, number>) {
  return (store: Store): Partial<Store> => {
    const counted =
      <A extends unknown[], R>(name: string, call: (...args: A) => R) =>
      (...args: A): R => {
        calls[name] = (calls[name] ?? 0) + 1;
        return call(...args);
      };
    return {
      persistAndClaimWhatsapp: counted("together", store.persistAndClaimWhatsapp),
      persistReport: counted("persist", store.persistReport),
      claimWhatsapp: counted("claim", store.claimWhatsapp),
    };
  };
}

/** A pace that counts the turns that were not given back. */
function watched(pace: Pace): Pace & { held(): number } {
  let held = 0;
  const watch = (release: () => void) => {
    let isHeld = true;
    held += 1;
    return () => {
      if (isHeld) held -= 1;
      isHeld = false;
      release();
    };
  };
  return {
    ...pace,
    turn: async (signal) => watch(await pace.turn(signal)),
    tryTurn() {
      const release = pace.tryTurn();
      return release === null ? null : watch(release);
    },
    held: () => held,
  };
}

const fast = () => watched(createPace({ perMinute: 1_000_000 }));

describe("runWeekly() stores a report and claims its WhatsApp message", () => {
  test("in one call when the message's turn has come", async () => {
    const weekly = shared();
    await seedOwner(weekly.db.sql);
    const calls: Record<string, number> = {};
    const whatsappPace = fast();
    const summary = await weekly.run({}, { whatsappPace, wrapStore: counting(calls) });
    expect(summary).toMatchObject({ status: "success", reports: { completed: 1 }, whatsapp: { sent: 1 } });
    expect(calls).toEqual({ together: 1 });
    expect(await deliveryStates(weekly)).toEqual(["email sent x1", "whatsapp sent x1"]);
    expect(whatsappPace.held()).toBe(0);
  });

  test("one by one when the message has to wait: its lease does not run out in a queue", async () => {
    const weekly = shared();
    await seedOwner(weekly.db.sql);
    const calls: Record<string, number> = {};
    const whatsappPace = { ...fast(), tryTurn: () => null };
    await weekly.run({}, { whatsappPace, wrapStore: counting(calls) });
    expect(calls).toEqual({ persist: 1, claim: 1 });
  });

  test.each([
    ["--skip-whatsapp", { skipWhatsapp: true }],
    ["a sender that is not set", { whatsappSenderTenantId: null }],
  ])("one by one with %s: no message is claimed", async (_name, options) => {
    const weekly = shared();
    await seedOwner(weekly.db.sql);
    const calls: Record<string, number> = {};
    await weekly.run(options, { wrapStore: counting(calls) });
    expect(calls).toEqual({ persist: 1 });
    expect(await deliveryStates(weekly)).toEqual(["email sent x1"]);
  });

  test("a report that is complete already is not stored again: its message is claimed alone", async () => {
    const weekly = shared();
    await seedOwner(weekly.db.sql);
    await weekly.run({ skipWhatsapp: true });
    const calls: Record<string, number> = {};
    await weekly.run({}, { wrapStore: counting(calls) });
    expect(calls).toEqual({ claim: 1 });
    expect(await deliveryStates(weekly)).toEqual(["email sent x1", "whatsapp sent x1"]);
  });

  test("a claim that is refused leaves the report to be stored alone: nothing is half done", async () => {
    const weekly = shared();
    const { sql } = weekly.db;
    await seedOwner(sql);
    const calls: Record<string, number> = {};
    const whatsappPace = fast();
    const stored: unknown[] = [];
    const summary = await weekly.run(
      {},
      {
        whatsappPace,
        wrapStore: (store) => ({
          ...counting(calls)(store),
          async persistAndClaimWhatsapp(...args) {
            await sql`alter table weekly_performance_deliveries add constraint broken check (false) not valid`;
            try {
              return await store.persistAndClaimWhatsapp(...args);
            } finally {
              stored.push(...(await sql`select status from weekly_performance_reports`));
              await sql`alter table weekly_performance_deliveries drop constraint broken`;
            }
          },
        }),
      },
    );
    expect(stored).toEqual([{ status: "running" }]);
    expect(calls).toEqual({ persist: 1, claim: 1 });
    expect(summary).toMatchObject({ status: "success", whatsapp: { sent: 1 } });
    expect(whatsappPace.held()).toBe(0);
  });

  test("midnight before it: the report is failed, no message is claimed", async () => {
    const weekly = shared();
    await seedOwner(weekly.db.sql);
    const summary = await weekly.run(
      {},
      {
        wrapStore: (store) => ({
          async persistAndClaimWhatsapp(...args) {
            await setClock(weekly.db.sql, "2026-11-24T03:00:00Z");
            return await store.persistAndClaimWhatsapp(...args);
          },
        }),
      },
    );
    expect(summary).toMatchObject({
      exitCode: 1,
      reports: { completed: 0, failed: 1 },
      error: { code: "MONDAY_ENDED" },
    });
    expect(await deliveryStates(weekly)).toEqual([]);
    expect(weekly.gateway.accepted).toEqual([]);
  });

  test("a stored payload that this version cannot read gives the turn back", async () => {
    const weekly = shared();
    await seedOwner(weekly.db.sql);
    const whatsappPace = fast();
    const summary = await weekly.run(
      { skipEmail: true },
      {
        whatsappPace,
        wrapStore: (store) => ({
          async persistAndClaimWhatsapp(...args) {
            return { ...(await store.persistAndClaimWhatsapp(...args)), payload: { schemaVersion: 1 } };
          },
        }),
      },
    );
    expect(summary).toMatchObject({ reports: { completed: 0, failed: 1 }, whatsapp: { sent: 0 } });
    expect(summary.failures).toMatchObject([{ code: "report_persist_failed" }]);
    expect(whatsappPace.held()).toBe(0);
    expect(weekly.gateway.accepted).toEqual([]);
  });
});
