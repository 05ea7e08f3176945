/** Several processes at once over the same owners: the claims divide the work, and each part is done once. */
import { expect } from "bun:test";
import type { DeliveryCounts } from "../../lib/weekly/context/summary.ts";
import { openArena } from "./arena.ts";
import { expectConsistent, expectNothingDoubled, expectNothingLost, expectQuiet } from "./ledger.ts";

/** Lets `processes` runs work on `owners` owners at once. */
export async function runAtOnce({ processes, owners }: { processes: number; owners: number }): Promise<void> {
  await using arena = await openArena({ owners, latencyMs: 5, editorials: true });
  const ended = await Promise.all(Array.from({ length: processes }, () => arena.run()));

  const states = await expectNothingLost(arena);
  expect(states).toEqual({ "whatsapp sent": owners, "email sent": owners });
  expect(arena.gateway.accepted).toHaveLength(owners);
  expect(arena.email.accepted).toHaveLength(owners);
  expect(arena.application.analyzed).toHaveLength(2 * owners);

  for (const one of ended) {
    expectConsistent(one);
    const { reports, whatsapp, email } = one.summary!;
    expect(reports.completed + reports.reused + reports.busy).toBe(owners);
    const counted = ({ sent, reused, partial }: DeliveryCounts) => sent + reused + partial;
    expect([counted(whatsapp), counted(email)]).toEqual([owners - reports.busy, owners - reports.busy]);
  }
  const sum = (count: (summary: NonNullable<(typeof ended)[number]["summary"]>) => number) =>
    ended.reduce((total, { summary }) => total + count(summary!), 0);
  expect(sum(({ reports }) => reports.completed)).toBe(owners);
  expect(sum(({ whatsapp }) => whatsapp.sent)).toBe(owners);
  expect(sum(({ email }) => email.sent)).toBe(owners);
  const drains = ended.map(({ summary }) => summary!.editorials.status);
  expect(drains.filter((status) => status !== "completed" && status !== "skipped")).toEqual([]);
  expect(drains).toContain("completed");

  expectQuiet(arena, await arena.runHere(), states);
  await expectNothingDoubled(arena);
}
