/** What two processes, or two hosts, do on one store at once. */
import { expect } from "bun:test";
import type { AttemptStart } from "../../../../lib/webhook/store/types.ts";
import { sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptOne,
  acceptRows,
  alertsOf,
  DEAD,
  DELIVERED,
  dueIds,
  start,
} from "../../support/state-fixture.ts";
import type { StateTests } from "../../support/state-stores.ts";

const ROUNDS = 10;

/** What another process begins while one begins a text of "a" with member "c"; of the rows of "a", "b" and "c". */
const RIVALS: [string, (rows: readonly [number, number, number]) => [number, AttemptStart]][] = [
  ["the same row", ([a]) => [a, start("other")]],
  ["another text with the member", ([, b, c]) => [b, start("other", [c])]],
  ["another text with the row", ([a, b]) => [b, start("other", [a])]],
  ["the member", ([, , c]) => [c, start("other")]],
];

/** Registers these tests. */
export function processTests({ test, each }: StateTests): void {
  test("claim each issue once, and keep every message, in any order", async ({ state, another }) => {
    const states = [state, await another()];
    const alerts = Array.from({ length: 20 }, (_, at) => sampleAlert({ fingerprint: `f${at}` }));
    const batches = Array.from({ length: 8 }, (_, at) => {
      const ordered = at % 4 < 2 ? alerts : alerts.toReversed();
      return states[at % 2]!.accept([ordered, ordered]);
    });
    const outcomes = (await Promise.all(batches)).flat();
    const accepted = outcomes.flatMap((outcome) => ("accepted" in outcome ? outcome.accepted : []));
    const ids = accepted.map(
      ({ alert, issue }) => `${alert.fingerprint} ${"issueId" in issue && issue.issueId}`,
    );
    expect([accepted.length, new Set(ids).size]).toEqual([320, 20]);
    expect(await dueIds(state, "issue")).toHaveLength(20);
    expect(await state.stats()).toMatchObject({ message: { queued: 320 }, issue: { queued: 20 } });
  });

  test("lose no row's turn while one ends what the other adds to", async ({ state, another }) => {
    const other = await another();
    for (let round = 0; round < ROUNDS; round += 1) {
      const [row] = await acceptRows(state, "f1");
      const [[next]] = await Promise.all([acceptRows(other, "f1"), state.finish(row, DELIVERED)]);
      expect(await dueIds(state, "message")).toEqual([next]);
      await other.finish(next, DELIVERED);
    }
    expect(await state.stats()).toMatchObject({ message: { queued: 0 }, queuedBytes: 0 });
  });

  each(RIVALS)("begin one text with an alert: %s", async ({ state, another }, _, rival) => {
    const other = await another();
    for (let round = 0; round < ROUNDS; round += 1) {
      const rows = await acceptRows(state, "a", "b", "c");
      const [row, how] = rival(rows);
      const begun = await Promise.all([
        state.begin({ id: rows[0], attempts: 0 }, start("a", [rows[2]])),
        other.begin({ id: row, attempts: 0 }, how),
      ]);
      expect(begun.toSorted()).toEqual([false, true]);
      await state.dropQueued(null);
    }
  });

  test("count together what the next message has to say", async ({ state, another }) => {
    const states = [state, await another()];
    const rows = await acceptRows(state, ...Array.from({ length: 40 }, (_, at) => `f${at}`));
    await Promise.all(rows.map((row, at) => states[at % 2]!.recordEmailed([row])));
    expect(await state.recoveryNote()).toEqual({ emailed: 40, undelivered: 0 });
  });

  test("release a claim and claim it again in turn", async ({ state, another }) => {
    const other = await another();
    for (let round = 0; round < ROUNDS; round += 1) {
      await state.accept([alertsOf("a")]);
      const [issue] = await dueIds(state, "issue");
      const [again] = await Promise.all([acceptOne(other, alertsOf("a")[0]!), state.finish(issue!, DEAD)]);
      expect(await dueIds(other, "issue")).toHaveLength(again.issue.status === "first" ? 1 : 0);
    }
  });

  test("deliver one at a time, and the next one when the first has ended", async ({ state, another }) => {
    const other = await another();
    expect([await state.lead(), await other.lead(), await state.lead()]).toEqual([true, false, true]);
    await state.close();
    expect(await other.lead()).toBe(true);
  });
}
