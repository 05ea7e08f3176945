import { expect, test } from "bun:test";
import { NO_TERMINAL } from "../../../lib/text/terminal/screen.ts";
import { renderSummary } from "../../../lib/weekly/texts/summary-text.ts";
import { seedOwner, WEEK } from "../../support/seed.ts";
import { forgetLedger, isHeartbeatKept, plantHeartbeat } from "../support/ledger.ts";
import { weeksBefore, writePastReport } from "../support/past-report.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { recordingLog } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();

/** Two owners who had a report two weeks before; the week between had none. */
async function twoOwnersOfBefore() {
  const { db } = shared();
  const owners = [await seedOwner(db.sql), await seedOwner(db.sql)];
  for (const owner of owners) await writePastReport(db.sql, owner, weeksBefore(WEEK, 2));
  return owners;
}

test("a Monday on which the application gives nobody a report succeeds, and says how many had one", async () => {
  const weekly = shared();
  await twoOwnersOfBefore();
  await weekly.db.sql`update credit_wallets set status = 'suspended'`;
  plantHeartbeat(weekly);
  const log = recordingLog();

  const summary = await weekly.run({}, { log });
  expect(summary).toMatchObject({
    status: "success",
    exitCode: 0,
    heartbeat: "written",
    week: { owners: 0, before: { week: "2026-11-02", owners: 2 } },
    failures: [{ step: "scope", code: "OWNERS_DROPPED" }],
  });
  expect(isHeartbeatKept(weekly)).toBe(false);
  expect(log.lines).toContainEqual(
    expect.objectContaining({
      level: "warn",
      fields: expect.objectContaining({ code: "OWNERS_DROPPED", owners: 0, ownersBefore: 2 }),
    }),
  );
  const text = renderSummary(summary, NO_TERMINAL);
  expect(text).toContain("The weekly run succeeded");
  expect(text).toContain("  Owners     0; 2 in the week of 2026-11-02\n");
  expect(text).toContain("opsctl explain OWNERS_DROPPED");
});

test("a Monday with the owners of before warns of nothing, nor does a run that leaves something out", async () => {
  const weekly = shared();
  await twoOwnersOfBefore();
  expect(await weekly.run()).toMatchObject({ exitCode: 0, failures: [] });
  await forgetLedger(weekly);
  await weekly.db.sql`update credit_wallets set status = 'suspended'`;
  expect(await weekly.run({ skipEmail: true })).toMatchObject({ exitCode: 0, failures: [] });
});
