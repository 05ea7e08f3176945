/** The order of delivery, whatever two processes do at once. */
import { expect } from "bun:test";
import fc from "fast-check";
import { OUTBOX_KINDS } from "../../../lib/webhook/store/model.ts";
import type { State } from "../../../lib/webhook/store/outbox.ts";
import { assertInDatabase } from "../../support/property.ts";
import {
  alertsOf,
  DAY_MS,
  DEAD,
  DELIVERED,
  dueIds,
  dueRows,
  MAYBE,
  retryAfter,
  START_MS,
  type StateFixture,
  start,
  UNKNOWN,
  WITHOUT_TEXT,
} from "../support/state-fixture.ts";
import { describeStores } from "../support/state-stores.ts";

/** Times between groups of calls, in milliseconds: later, or before what was recorded. */
const MOVES_MS = [0, 0, 3, 70_000, -5];

/** What a process does, with any row and alert. */
const CALLS: readonly ((state: State, row: number, alert: string) => Promise<unknown>)[] = [
  (state, _, alert) => state.accept([alertsOf(alert)]),
  (state, _, alert) => state.accept([alertsOf(`${alert}-`), alertsOf(`${alert}2`)]),
  (state, _, alert) => state.accept([alertsOf(`${alert}! ${alert}^`)]),
  (state, row) => beginDue(state, row),
  (state, row) => beginDigest(state, row),
  (state) => beginDigest(state, 2),
  (state, row) => state.finish(row, DELIVERED),
  (state, row) => state.finish(row, DEAD),
  (state, row) => state.finish(row, UNKNOWN),
  (state, row) => state.finish(row, retryAfter(row % 6)),
  (state, row) => state.finish(row, MAYBE),
  (state, row) => state.dropQueued([row]),
  (state, row) => state.dropDead([row]),
  (state, row) => state.retryDead([row]),
  (state) => state.retryDead(null),
  (state, row) => state.recordEmailed([row]),
  (state) => state.prune(),
];

/** Begins a row that was due, which another process may have begun since. */
async function beginDue(state: State, at: number): Promise<void> {
  const due = await dueRows(state, OUTBOX_KINDS[at % 3]!);
  const row = due[at % Math.max(1, due.length)];
  if (row !== undefined)
    await state.begin(row, row.kind === "message" ? start(row.sent?.text ?? "t", row.members) : WITHOUT_TEXT);
}

async function beginDigest(state: State, most: number): Promise<void> {
  const [first, ...others] = await state.digestible([], 0);
  const members = others.slice(0, most).map(({ id }) => id);
  if (first !== undefined) await state.begin(first, start("more", members));
}

/**
 * What is due is what the lists say: the oldest of its fingerprint, in no other text, when its time has come; and what is
 * counted is what is listed.
 */
async function expectInTurn(state: State, nowMs: number): Promise<void> {
  const [stats, queued, ended] = [await state.stats(), await state.listQueued(999), await state.listDead()];
  for (const kind of OUTBOX_KINDS) {
    const own = queued.filter((row) => row.kind === kind);
    const count = (status: string) =>
      ended.filter((row) => row.kind === kind && row.status === status).length;
    const { queued: waiting, dead, unknown } = stats[kind];
    expect([kind, waiting, dead, unknown]).toEqual([kind, own.length, count("dead"), count("unknown")]);
    const oldest = (fingerprint: string) =>
      Math.min(...own.filter((row) => row.fingerprint === fingerprint).map(({ id }) => id));
    const isDue = ({ nextAttemptAt }: { nextAttemptAt: string | null }) =>
      nextAttemptAt === null || Date.parse(nextAttemptAt) <= nowMs;
    const turn = own.filter((row) => row.digest === null && row.id === oldest(row.fingerprint));
    const expected = turn.filter(isDue).map(({ id }) => id);
    const due = await dueIds(state, kind);
    // A clock that was set back makes rows due, and a comment waits for its issue.
    if (kind === "comment") expect(turn.map(({ id }) => id)).toEqual(expect.arrayContaining(due));
    else expect(due.filter((id) => expected.includes(id))).toEqual(expected);
    expect(turn.map(({ id }) => id).filter((id) => due.includes(id))).toEqual(due);
  }
}

/** Delivers what is due, until nothing waits. */
async function expectToEnd({ state, setClock }: StateFixture): Promise<void> {
  await setClock(START_MS + DAY_MS);
  for (let due = [0]; due.length > 0; ) {
    due = (await Promise.all(OUTBOX_KINDS.map((kind) => dueIds(state, kind)))).flat();
    await expectInTurn(state, START_MS + DAY_MS);
    for (const id of due) await state.finish(id, DELIVERED);
  }
  expect(await state.listQueued(9)).toEqual([]);
}

describeStores(({ test, opened, hasLease }) => {
  test("rows keep their turn, and all end, whatever two processes do at once", async () => {
    const call = fc.record({
      of: fc.nat(CALLS.length - 1),
      by: fc.nat(1),
      row: fc.nat(15),
      alert: fc.nat(3),
    });
    const group = fc.record({
      calls: fc.array(call, { maxLength: 3 }),
      moveMs: fc.constantFrom(...MOVES_MS),
    });
    const property = fc.asyncProperty(fc.array(group, { maxLength: 12 }), (groups) =>
      opened({}, async (fixture) => {
        const states = [fixture.state, await fixture.another()] as const;
        await fixture.state.accept([alertsOf("a b c d a- b-")]);
        let nowMs = START_MS;
        for (const { calls, moveMs } of groups) {
          await Promise.all(
            calls.map(({ of, by, row, alert }) => CALLS[of]!(states[by]!, row + 1, "abcd"[alert]!)),
          );
          nowMs += moveMs;
          await fixture.setClock(nowMs);
          await expectInTurn(states[0], nowMs);
        }
        await expectToEnd(fixture);
      }),
    );
    await assertInDatabase(property, { numRuns: hasLease ? 8 : 25 });
  });
});
