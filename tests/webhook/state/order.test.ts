/** The order of delivery, for any sequence of calls of one process, and whatever two do at once. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  type DueRow,
  OUTBOX_KINDS,
  type OutboxKind,
  type Settlement,
  type State,
} from "../../../lib/webhook/state/contract.ts";
import { assertInDatabase } from "../../support/property.ts";
import { resolvedAlert, sampleAlert } from "../support/sample-alert.ts";
import {
  acceptAll,
  acceptRows,
  DAY_MS,
  DEAD,
  DELIVERED,
  dueIds,
  retryAfter,
  SECOND_MS,
  START_MS,
  type StateFixture,
  UNKNOWN,
} from "../support/state-fixture.ts";
import { describeStores } from "../support/state-stores.ts";

describeStores((open) => {
  test("due() agrees with a simple model on any sequence of calls", async () => {
    const property = fc.asyncProperty(fc.array(steps, { maxLength: 25 }), async (sequence) => {
      const fixture = await open();
      try {
        const model = new Model();
        for (const step of sequence) {
          await takeStep(fixture.state, model, step);
          if (step.do === "move") await fixture.setClock(model.nowMs);
        }
      } finally {
        await fixture.close();
      }
    });
    await assertInDatabase(property, { numRuns: 30 });
  });

  test("rows that have been due for longest come in order, of hundreds that were tried and are due again", async () => {
    const { state, setClock, close } = await open();
    const rows = await acceptRows(state, ...Array.from({ length: MANY }, (_, i) => `f${i}`));
    await Promise.all(
      rows.map((row, i) => state.settle(row, retryAfter(i < LATE ? 2 * SECOND_MS : SECOND_MS))),
    );
    await setClock(START_MS + SECOND_MS - 1);
    expect(await dueIds(state, "message")).toEqual([]);
    await setClock(START_MS + SECOND_MS);
    expect(await firstDue(state, rows[LATE]!)).toEqual([rows[LATE + 1]!, rows[LATE + 2]!]);
    await setClock(START_MS + 3 * SECOND_MS);
    expect(await firstDue(state, rows[LATE]!)).toEqual([rows[LATE + 1]!, rows[LATE + 2]!]);
    for (const row of rows.slice(LATE, 3 * LATE)) await state.settle(row, DELIVERED);
    expect(await firstDue(state, rows[0]!)).toEqual([rows[1]!, rows[2]!]);
    await close();
  });

  test("messages of a fingerprint keep their order, and each row ends, whatever two processes do at once", async () => {
    const steps = fc.array(
      fc.record({ way: fc.nat(WAYS.length - 1), by: fc.nat(1), row: fc.nat(30), of: fc.nat(3) }),
      {
        ...{ minLength: 10, maxLength: 40 },
      },
    );
    const property = fc.asyncProperty(steps, async (all) => {
      const fixture = await open({ comments: true });
      try {
        const states = [fixture.state, await fixture.another()];
        for (let at = 0; at < all.length; at += 3) {
          const together = all.slice(at, at + 3);
          await Promise.all(
            together.map(({ way, by, row, of }) => WAYS[way]!(states[by]!, row + 1, `f${of}`)),
          );
          await expectInLine(states[at % 2]!);
        }
        await expectToEnd(fixture);
      } finally {
        await fixture.close();
      }
    });
    await assertInDatabase(property, { numRuns: 20 });
  });
});

/** What a process does, each with any row or fingerprint. */
const WAYS: readonly ((state: State, row: number, fingerprint: string) => Promise<unknown>)[] = [
  (state, _, fingerprint) => state.accept([[sampleAlert({ fingerprint })]]),
  (state, _, fingerprint) => state.accept([[resolvedAlert({ fingerprint }), sampleAlert({ fingerprint })]]),
  (state, _, fingerprint) => state.accept([[sampleAlert({ fingerprint, severity: "critical" })]]),
  (state, row) => state.begin(row, { text: "one" }),
  (state, row) => beginDigest(state, row),
  (state, row) => state.settle(row, DELIVERED),
  (state, row) => state.settle(row, DEAD),
  (state, row) => state.settle(row, UNKNOWN),
  (state, row) => state.settle(row, retryAfter(0, { triedMs: 1, isUnclear: true })),
  (state, row) => state.dropQueued([row]),
  (state, row) => state.dropDead([row]),
  (state, row) => state.retryDead([row]),
  (state) => state.retryDead(null),
  (state, row) => state.recordEmailed([row]),
  (state) => state.prune(),
];

/** Begins a digest as a process does: of what it has just seen together, which the other one may have taken since. */
async function beginDigest(state: State, most: number): Promise<void> {
  const [first, ...members] = (await state.digestible([])).map(({ id }) => id);
  if (first !== undefined) await state.begin(first, { text: "more", members: members.slice(0, most) });
}

/** What is counted is what is there, and a row that is due is the oldest of its fingerprint and in no other's text. */
async function expectInLine(state: State): Promise<void> {
  const [stats, queued, ended] = [await state.stats(), await state.listQueued(999), await state.listDead()];
  for (const kind of OUTBOX_KINDS) {
    const count = (rows: readonly { kind: OutboxKind }[]) => rows.filter((row) => row.kind === kind).length;
    const dead = ended.filter(({ status }) => status === "dead");
    expect([kind, stats[kind].queued, stats[kind].dead, stats[kind].inDoubt]).toEqual([
      ...[kind, count(queued), count(dead), count(ended) - count(dead)],
    ]);
    const own = queued.filter((row) => row.kind === kind && row.digest === null).sort((a, b) => a.id - b.id);
    const oldest = [...new Map(own.toReversed().map(({ fingerprint, id }) => [fingerprint, id])).values()];
    // What was begun goes on, also when a person has revived an older row since.
    const begun = own.filter(({ attempts }) => attempts > 0).map(({ id }) => id);
    expect([...oldest, ...begun]).toEqual(expect.arrayContaining(await dueIds(state, kind)));
  }
}

/** Delivers what is due, until nothing waits. */
async function expectToEnd({ state, setClock }: StateFixture): Promise<void> {
  await setClock(START_MS + DAY_MS);
  for (let due = [0]; due.length > 0; ) {
    due = (await Promise.all(OUTBOX_KINDS.map((kind) => dueIds(state, kind)))).flat();
    await expectInLine(state);
    for (const id of due) await state.settle(id, DELIVERED);
  }
  const { message, issue, comment } = await state.stats();
  expect([message.queued, issue.queued, comment.queued]).toEqual([0, 0, 0]);
}

/** Of rows that are due again, so many are put in order, and some more. */
const LATE = 5;
const MANY = 256 + 2 * LATE;

async function firstDue(state: State, besides: number): Promise<number[]> {
  const found = await state.due("message", { limit: 2, except: [besides], issueGraceMs: 0 });
  return found.map(({ id }) => id);
}

type NewAlert = { fingerprint: string; severity: string; firing: boolean };

type Step =
  | { do: "accept"; alerts: NewAlert[] }
  | { do: "due"; kind: OutboxKind; limit: number; grace: number; except: number }
  | { do: "settle"; nth: number; settlement: Settlement }
  | { do: "move"; ms: number };

const newAlerts: fc.Arbitrary<NewAlert> = fc.record({
  fingerprint: fc.constantFrom("a", "b", "c", "d"),
  severity: fc.constantFrom("critical", "warning"),
  firing: fc.boolean(),
});
const settlements: fc.Arbitrary<Settlement> = fc.oneof(
  fc.constant<Settlement>({ status: "delivered", reference: null, url: null }),
  fc.constant<Settlement>({ status: "dead", code: "refused" }),
  fc.integer({ min: 0, max: 9 }).map((delayMs) => retryAfter(delayMs)),
);
const dueSteps = fc.record({
  do: fc.constant("due" as const),
  kind: fc.constantFrom<OutboxKind>("message", "issue"),
  limit: fc.integer({ min: 1, max: 4 }),
  grace: fc.constantFrom(0, 5),
  except: fc.nat(2),
});
const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("accept" as const),
    alerts: fc.array(newAlerts, { minLength: 1, maxLength: 4 }),
  }),
  dueSteps,
  fc.record({ do: fc.constant("settle" as const), nth: fc.nat(12), settlement: settlements }),
  fc.record({ do: fc.constant("move" as const), ms: fc.integer({ min: 0, max: 6 }) }),
);

type Row = {
  id: number;
  kind: OutboxKind;
  fingerprint: string;
  isCritical: boolean;
  isQueued: boolean;
  attempts: number;
  acceptedAtMs: number;
  nextAttemptAtMs: number;
  message: Row | null;
};

/** A simple model of the outbox: one process, in memory. */
class Model {
  nowMs = START_MS;
  readonly rows: Row[] = [];

  add(id: number, kind: OutboxKind, alert: NewAlert, message: Row | null): Row {
    const row = {
      id,
      kind,
      fingerprint: alert.fingerprint,
      isCritical: alert.severity === "critical",
      isQueued: true,
      attempts: 0,
      acceptedAtMs: this.nowMs,
      nextAttemptAtMs: this.nowMs,
      message,
    };
    this.rows.push(row);
    return row;
  }

  due(kind: OutboxKind, limit: number, except: readonly number[], graceMs: number): number[] {
    const queued = this.rows.filter((row) => row.kind === kind && row.isQueued);
    const isOldest = (row: Row) =>
      !queued.some(({ id, fingerprint }) => id < row.id && fingerprint === row.fingerprint);
    const mayGo = ({ message, acceptedAtMs }: Row) =>
      message === null || !message.isQueued || message.attempts > 0 || this.nowMs - acceptedAtMs >= graceMs;
    return queued
      .filter((row) => isOldest(row) && row.nextAttemptAtMs <= this.nowMs && mayGo(row))
      .filter(({ id }) => !except.includes(id))
      .sort((a, b) => Number(b.isCritical) - Number(a.isCritical) || a.id - b.id)
      .slice(0, limit)
      .map(({ id }) => id);
  }

  settle(row: Row, settlement: Settlement): void {
    if (!row.isQueued) return;
    row.attempts += 1;
    row.isQueued = settlement.status === "retry";
    if (settlement.status === "retry") row.nextAttemptAtMs = this.nowMs + settlement.delayMs;
  }
}

async function takeStep(state: State, model: Model, step: Step): Promise<void> {
  if (step.do === "move") {
    model.nowMs += step.ms;
  } else if (step.do === "accept") {
    const alerts = step.alerts.map((alert) => sampleAlert(alert));
    for (const [index, { messageRow, issue }] of (await acceptAll(state, ...alerts)).entries()) {
      const alert = step.alerts[index] as NewAlert;
      const message = model.add(messageRow, "message", alert, null);
      if (issue.status === "first") model.add(issue.row, "issue", alert, message);
    }
  } else if (step.do === "settle") {
    const row = model.rows[step.nth % Math.max(1, model.rows.length)];
    if (row === undefined) return;
    await state.settle(row.id, step.settlement);
    model.settle(row, step.settlement);
  } else {
    const except = model.due(step.kind, step.except, [], 0);
    const query = { limit: step.limit, except, issueGraceMs: step.grace };
    const rows: DueRow[] = await state.due(step.kind, query);
    expect(rows.map(({ id }) => id)).toEqual(model.due(step.kind, step.limit, except, step.grace));
  }
}
