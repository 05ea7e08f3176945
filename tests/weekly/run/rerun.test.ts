import { describe, expect, test } from "bun:test";
import { createPace } from "../../../lib/platform/rate/pace.ts";
import { renderSummary } from "../../../lib/weekly/texts/summary-text.ts";
import { seedOwner } from "../../support/seed.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";

const shared = sharedWeekly();

describe("runWeekly() a second time", () => {
  test("counts a message as partial whose timeline entry still cannot be written", async () => {
    const weekly = shared();
    await seedOwner(weekly.db.sql);
    await weekly.db.sql`alter table timeline_entries add constraint broken check (false) not valid`;
    try {
      const failure = { step: "whatsapp", code: "timeline_entry_failed", cause: "23514 broken" };
      const first = await weekly.run();
      expect(first.failures).toMatchObject([failure]);
      expect(renderSummary(first)).toContain("\n  whatsapp: timeline_entry_failed, 23514 broken\n");
      expect((await weekly.run({ skipEmail: true })).failures).toMatchObject([failure]);
      const wrapStore = () => ({
        repairDelivery: () => Promise.reject(Object.assign(new Error("refused"), { code: "42501" })),
      });
      for (const changes of [{}, { wrapStore }])
        expect(await weekly.run({}, changes)).toMatchObject({
          exitCode: 1,
          whatsapp: { reused: 0, partial: 1 },
          failures: [{ step: "whatsapp", code: "timeline_entry_failed" }],
        });
    } finally {
      await weekly.db.sql`alter table timeline_entries drop constraint broken`;
    }
    expect(weekly.gateway.accepted).toHaveLength(1);
  });

  test("takes no turn for an e-mail that was sent, however many messages are sent beside it", async () => {
    const weekly = shared();
    await seedOwner(weekly.db.sql);
    await weekly.run({ skipWhatsapp: true });
    const pace = createPace({ perMinute: 1_000_000 });
    let held = 0;
    const emailPace = {
      ...pace,
      tryTurn() {
        const release = pace.tryTurn();
        if (release === null) return null;
        held += 1;
        return () => {
          held -= 1;
          release();
        };
      },
    };
    let together = 0;
    const summary = await weekly.run(
      {},
      {
        emailPace,
        wrapStore: (store) => ({
          settleAndClaimEmail(...args) {
            together += 1;
            return store.settleAndClaimEmail(...args);
          },
        }),
      },
    );
    expect(summary).toMatchObject({
      status: "success",
      whatsapp: { sent: 1 },
      email: { sent: 0, reused: 1 },
    });
    expect({ held, together }).toEqual({ held: 0, together: 0 });
  });
});
