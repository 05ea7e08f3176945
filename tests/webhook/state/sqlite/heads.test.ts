/** Which row of a fingerprint is next, for any calls of two processes on one file. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import {
  KEEP_DELIVERED_MS,
  OUTBOX_KINDS,
  type Settlement,
  type State,
} from "../../../../lib/webhook/state/contract.ts";
import { openSqliteState } from "../../../../lib/webhook/state/sqlite/state.ts";
import { assertInDatabase } from "../../../support/property.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { sampleAlert } from "../../support/sample-alert.ts";
import { DELIVERED, dueIds, MINUTE_MS, retryAfter, START_MS } from "../../support/state-fixture.ts";
import { wrongMarks } from "../../support/state-marks.ts";

type Step = { by: 0 | 1 } & (
  | { do: "accept"; requests: { fingerprint: string; firing: boolean }[][] }
  | { do: "settle"; ends: { row: number; settlement: Settlement }[] }
  | { do: "begin"; row: number; members: number[] }
  | { do: "drop waiting"; rows: number[] | null }
  | { do: "retry"; rows: number[] | null }
  | { do: "drop"; rows: number[] | null }
  | { do: "prune" }
  | { do: "wait"; ms: number }
);

const by = fc.constantFrom<0 | 1>(0, 1);
const row = fc.integer({ min: 1, max: 30 });
const rows = fc.option(fc.array(row, { maxLength: 6 }));
const alert = fc.record({ fingerprint: fc.constantFrom("a", "b", "c"), firing: fc.boolean() });
const settlement = fc.constantFrom<Settlement>(
  DELIVERED,
  { status: "dead", code: "refused" },
  { status: "in_doubt", code: "timeout" },
  retryAfter(5),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      by,
      do: fc.constant("accept" as const),
      requests: fc.array(fc.array(alert, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      by,
      do: fc.constant("settle" as const),
      ends: fc.array(fc.record({ row, settlement }), { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      by,
      do: fc.constant("begin" as const),
      row,
      members: fc.uniqueArray(row, { maxLength: 3 }),
    }),
  },
  fc.record({ by, do: fc.constant("drop waiting" as const), rows: fc.array(row, { maxLength: 2 }) }),
  { weight: 2, arbitrary: fc.record({ by, do: fc.constant("retry" as const), rows }) },
  fc.record({ by, do: fc.constant("drop" as const), rows }),
  fc.record({ by, do: fc.constant("prune" as const) }),
  fc.record({
    by,
    do: fc.constant("wait" as const),
    ms: fc.constantFrom(1, 31 * MINUTE_MS, KEEP_DELIVERED_MS),
  }),
);

type Fixture = { states: [State, State]; clock: { ms: number } };

async function take({ states, clock }: Fixture, one: Step): Promise<void> {
  const state = states[one.by];
  if (one.do === "accept")
    await state.accept(
      one.requests.map((alerts) =>
        alerts.map((changes) => sampleAlert({ ...changes, status: changes.firing ? "firing" : "resolved" })),
      ),
    );
  else if (one.do === "settle")
    await Promise.all(one.ends.map((end) => state.settle(end.row, end.settlement)));
  else if (one.do === "begin") await state.begin(one.row, { text: "text", members: one.members });
  else if (one.do === "drop waiting") await state.dropQueued(one.rows);
  else if (one.do === "retry") await state.retryDead(one.rows);
  else if (one.do === "drop") await state.dropDead(one.rows);
  else if (one.do === "prune") await state.prune();
  else clock.ms += one.ms;
}

/** Delivers what is due, until nothing is. */
async function drain({ states, clock }: Fixture): Promise<void> {
  const [state] = states;
  for (let due = [0]; due.length > 0; ) {
    clock.ms += MINUTE_MS;
    due = [];
    for (const kind of OUTBOX_KINDS) due.push(...(await dueIds(state, kind)));
    for (const id of due) await state.settle(id, DELIVERED);
  }
}

async function withFixture(work: (fixture: Fixture, path: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "opsctl-heads-"));
  const clock = { ms: START_MS };
  const open = () => openSqliteState({ directory, nowMs: () => clock.ms, comments: true, log: silentLog });
  const states: [State, State] = [await open(), await open()];
  try {
    await work({ states, clock }, join(directory, "state.db"));
  } finally {
    for (const state of states) await state.close();
    rmSync(directory, { recursive: true });
  }
}

test("the oldest queued row of a fingerprint, and no other, is its head after any sequence of calls", async () => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 40 }), (steps) =>
    withFixture(async (fixture, path) => {
      for (const one of steps) {
        await take(fixture, one);
        expect(wrongMarks(path)).toEqual([]);
      }
      await drain(fixture);
      const { message, issue, comment } = await fixture.states[1].stats();
      expect([message.queued, issue.queued, comment.queued]).toEqual([0, 0, 0]);
    }),
  );
  await assertInDatabase(property, { numRuns: 40 });
});
