import { describe, expect, test } from "bun:test";
import { createPace } from "../../../lib/platform/rate/pace.ts";
import type { Store } from "../../../lib/weekly/database/store.ts";
import { seedOwner, setClock } from "../../support/seed.ts";
import { deliveryStates } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";

const shared = sharedWeekly();

/** Counts the calls of the store that confirm a delivery or claim the e-mail. */
function counting(calls: Record<string, number>) {
  return (store: Store): Partial<Store> => {
    const counted =
      <A extends unknown[], R>(name: string, call: (...args: A) => R) =>
      (...args: A): R => {
        calls[name] = (calls[name] ?? 0) + 1;
        return call(...args);
      };
    return {
      settleAndClaimEmail: counted("together", store.settleAndClaimEmail),
      settleDelivery: counted("settle", store.settleDelivery),
      claimEmail: counted("claim", store.claimEmail),
    };
  };
}

describe("runWeekly() confirms the WhatsApp message and claims the e-mail", () => {
  test("in one call when the e-mail's turn has come", async () => {
    const weekly = shared();
    await seedOwner(weekly.db.sql);
    const calls: Record<string, number> = {};
    const emailPace = createPace({ perMinute: 1_000_000 });
    expect(await weekly.run({}, { emailPace, wrapStore: counting(calls) })).toMatchObject({
      status: "success",
    });
    expect(calls).toEqual({ together: 1, settle: 1 });
    expect(await deliveryStates(weekly)).toEqual(["email sent x1", "whatsapp sent x1"]);
  });

  test("one by one when the e-mail has to wait: its lease does not run out in a queue", async () => {
    const weekly = shared();
    await seedOwner(weekly.db.sql);
    const calls: Record<string, number> = {};
    const emailPace = createPace({ perMinute: 1_000_000 });
    const waiting = { ...emailPace, tryTurn: () => null };
    await weekly.run({}, { emailPace: waiting, wrapStore: counting(calls) });
    expect(calls).toEqual({ settle: 2, claim: 1 });
  });

  test.each([
    ["--skip-email", { skipEmail: true }],
    ["an e-mail sender that is not set", { emailSenderTenantId: null }],
  ])("one by one with %s: no e-mail is claimed", async (_name, options) => {
    const weekly = shared();
    await seedOwner(weekly.db.sql);
    const calls: Record<string, number> = {};
    await weekly.run(options, { wrapStore: counting(calls) });
    expect(calls).toEqual({ settle: 1 });
    expect(await deliveryStates(weekly)).toEqual(["whatsapp sent x1"]);
  });

  test("a claim that is refused takes nothing of the confirmation away: midnight came during the send", async () => {
    const weekly = shared();
    await seedOwner(weekly.db.sql);
    const calls: Record<string, number> = {};
    const summary = await weekly.run(
      {},
      {
        emailPace: createPace({ perMinute: 1_000_000 }),
        wrapStore: (store) => ({
          ...counting(calls)(store),
          async settleAndClaimEmail(...args) {
            await setClock(weekly.db.sql, "2026-11-24T03:00:00Z");
            return await store.settleAndClaimEmail(...args);
          },
        }),
      },
    );
    expect(calls).toEqual({ settle: 1, claim: 1 });
    expect(summary).toMatchObject({
      exitCode: 1,
      whatsapp: { sent: 1 },
      email: { sent: 0, skipped: 1 },
      error: { code: "MONDAY_ENDED" },
    });
    expect(await deliveryStates(weekly)).toEqual(["whatsapp sent x1"]);
    expect(weekly.email.accepted).toEqual([]);
  });

  describe("and the answer to that call is lost", () => {
    const lost = Object.assign(new Error("connection closed"), { code: "CONNECTION_CLOSED" });
    const losing =
      (calls: Record<string, number>, onLoss: () => void = () => {}) =>
      (store: Store): Partial<Store> => {
        const counted = counting(calls)(store) as Store;
        return {
          ...counted,
          async settleAndClaimEmail(...args) {
            await counted.settleAndClaimEmail(...args);
            onLoss();
            throw lost;
          },
        };
      };
    const emailRows = async () =>
      await shared().db.sql`
        select status, error_code as code, attempts from weekly_performance_deliveries where channel = 'email'`;
    const pace = () => createPace({ perMinute: 1_000_000 });

    test("the claim is taken up again at once: each message is sent once", async () => {
      const weekly = shared();
      await seedOwner(weekly.db.sql);
      const calls: Record<string, number> = {};
      const summary = await weekly.run({}, { emailPace: pace(), wrapStore: losing(calls) });
      expect(summary).toMatchObject({ status: "success", whatsapp: { sent: 1 }, email: { sent: 1 } });
      expect(calls).toEqual({ together: 1, settle: 2, claim: 1 });
      expect([...(await emailRows())]).toEqual([{ status: "sent", code: null, attempts: 1 }]);
      expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual([1, 1]);
    });

    test("a run that is ended then leaves no claim behind: the next one sends at once", async () => {
      const weekly = shared();
      await seedOwner(weekly.db.sql);
      const interrupt = new AbortController();
      const wrapStore = losing({}, () => interrupt.abort());
      const ended = await weekly.run({}, { emailPace: pace(), wrapStore, interrupt: interrupt.signal });
      expect(ended).toMatchObject({
        error: { code: "RUN_INTERRUPTED" },
        whatsapp: { sent: 1 },
        email: { sent: 0 },
      });
      expect([...(await emailRows())]).toMatchObject([{ status: "failed", code: "RUN_INTERRUPTED" }]);
      expect(await weekly.run()).toMatchObject({ status: "success", email: { sent: 1, partial: 0 } });
      expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual([1, 1]);
    });
  });

  test("an owner who is deleted during the send is no failure", async () => {
    const weekly = shared();
    const owner = await seedOwner(weekly.db.sql, { networks: [], sends: [] });
    const summary = await weekly.run(
      {},
      {
        emailPace: createPace({ perMinute: 1_000_000 }),
        wrapStore: (store) => ({
          async settleAndClaimEmail(...args) {
            await weekly.db.sql`delete from users where id = ${owner.userId}`;
            return await store.settleAndClaimEmail(...args);
          },
        }),
      },
    );
    expect(summary).toMatchObject({ whatsapp: { sent: 1, failed: 0 }, email: { skipped: 1, failed: 0 } });
  });
});
