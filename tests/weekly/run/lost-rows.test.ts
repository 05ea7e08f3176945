import { describe, expect, test } from "bun:test";
import { createRunRecord } from "../../../lib/weekly/announce/run-record.ts";
import { type SeededOwner, seedOwner } from "../../support/seed.ts";
import { silentLog } from "../../support/silent-log.ts";
import { eraseOwner } from "../support/erase-owner.ts";
import { deliveryStates, forgetLedger, isHeartbeatKept, plantHeartbeat } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { recordingLog, type WeeklyFixture } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();

/** The record of a run that tells nobody. */
function recordOf({ logDir }: WeeklyFixture) {
  return createRunRecord({
    isWhole: true,
    logDir,
    webhook: null,
    log: silentLog,
    host: "vps-1",
    interrupt: new AbortController().signal,
    limitsMs: { usual: 1_000, interrupted: 1_000 },
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    sleep: async () => {},
  });
}

async function threeOwners(): Promise<WeeklyFixture & { owners: SeededOwner[] }> {
  const weekly = shared();
  const owners: SeededOwner[] = [];
  for (let n = 0; n < 3; n += 1) owners.push(await seedOwner(weekly.db.sql, { networks: [] }));
  plantHeartbeat(weekly);
  return { ...weekly, owners };
}

describe("runWeekly() in a failover to a replica that lagged", () => {
  test("takes no owner whose rows are lost for one who became eligible: nobody gets a second message", async () => {
    const weekly = await threeOwners();
    let claims = 0;
    const log = recordingLog();

    const summary = await weekly.run(
      { concurrency: 1 },
      {
        log,
        wrapStore: ({ claimReport }) => ({
          async claimReport(...claim) {
            claims += 1;
            if (claims === 3) await forgetLedger(weekly);
            return await claimReport(...claim);
          },
        }),
      },
    );

    expect(weekly.gateway.accepted).toHaveLength(3);
    expect(new Set(weekly.gateway.accepted.map(({ number }) => number)).size).toBe(3);
    expect(summary).toMatchObject({ exitCode: 1, reports: { scopes: 3 }, whatsapp: { sent: 3 } });
    expect(summary.error?.code).toBe("LEDGER_WENT_BACK");
    expect(log.lines.map(({ level, fields }) => [level, fields])).toContainEqual([
      "error",
      expect.objectContaining({ code: "LEDGER_WENT_BACK" }),
    ]);
    expect(isHeartbeatKept(weekly)).toBe(true);
    expect(await deliveryStates(weekly)).toEqual(["email sent x1", "whatsapp sent x1"]);
  });

  test("nor an owner whose rows are lost while the message is on its way", async () => {
    const weekly = shared();
    await seedOwner(weekly.db.sql, { networks: [] });

    const summary = await weekly.run(
      { concurrency: 1, skipEmail: true },
      {
        wrapStore: ({ settleDelivery }) => ({
          async settleDelivery(...settling) {
            await forgetLedger(weekly);
            return await settleDelivery(...settling);
          },
        }),
      },
    );

    expect(weekly.gateway.accepted).toHaveLength(1);
    expect(summary.failures.map(({ code }) => code)).toContain("delivery_row_lost");
    expect(summary.error?.code).toBe("LEDGER_WENT_BACK");
  });

  test.each([
    ["once", 1],
    ["twice, because the answer was lost", 2],
  ])("nor does the next run, when it was recorded %s that the row is gone", async (_how, times) => {
    const weekly = shared();
    await seedOwner(weekly.db.sql, { networks: [] });
    const first = recordOf(weekly);
    const summary = await weekly.run(
      { concurrency: 1, skipEmail: true },
      {
        onBegin: first.begin,
        wrapStore: ({ settleDelivery }) => ({
          async settleDelivery(...settling) {
            await forgetLedger(weekly);
            for (let asked = 1; asked < times; asked += 1) await settleDelivery(...settling);
            return await settleDelivery(...settling);
          },
        }),
      },
    );
    await first.end(summary);
    const known = { sentBefore: recordOf(weekly).sentBefore };

    const next = await weekly.run({ skipEmail: true }, known);

    expect(next).toMatchObject({ exitCode: 3, error: { code: "LEDGER_WENT_BACK" } });
    expect(next.error?.message).toContain(
      "counted 1 WhatsApp messages of this week as sent, and the database knows of 0",
    );
    expect(weekly.gateway.accepted).toHaveLength(1);
  });

  test("takes those who became eligible when it has lost nothing, whoever was deleted meanwhile", async () => {
    const weekly = await threeOwners();
    const { owners } = weekly;
    let claims = 0;

    const summary = await weekly.run(
      // As a digest the ledger counts an erased e-mail, too.
      { concurrency: 1, skipEmail: true },
      {
        wrapStore: ({ claimReport }) => ({
          async claimReport(scope, ...claim) {
            claims += 1;
            if (claims === 3) {
              for (const owner of owners) if (owner.userId !== scope.userId) await eraseOwner(weekly, owner);
              await seedOwner(weekly.db.sql, {
                networks: [],
                tenantId: "00000000-0000-4000-8000-000000000001",
              });
            }
            return await claimReport(scope, ...claim);
          },
        }),
      },
    );

    expect(summary).toMatchObject({ exitCode: 0, reports: { scopes: 4 }, whatsapp: { sent: 4 } });
    expect(weekly.gateway.accepted).toHaveLength(4);
  });
});
