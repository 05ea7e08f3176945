/** The fallback channel, the recovery note, and what is taken over from a state in memory. */

import { expect } from "bun:test";
import { ISSUE_TTL_MS, SEND_OVER_MS } from "../../../../lib/webhook/store/model.ts";
import type { State } from "../../../../lib/webhook/store/outbox.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  acceptOne,
  acceptRows,
  alertsOf,
  CREATED,
  DEAD,
  DELIVERED,
  deliveredAs,
  dueIds,
  dueRows,
  HOUR_MS,
  ISSUE_URL,
  issueRowOf,
  MAYBE,
  MINUTE_MS,
  MOVES,
  type Move,
  NO_NOTE,
  onlyDue,
  retryAfter,
  SECOND_MS,
  START_MS,
  type StateFixture,
  start,
  tryOnce,
  UNKNOWN,
  WITHOUT_TEXT,
} from "../../support/state-fixture.ts";
import { openInMemory, type StateTests } from "../../support/state-stores.ts";

const CRITICAL = { severity: " CRITICAL" };
const OF_ALARM = { severity: "info", labels: { via: "other" } };

/** Alerts, what happened to their message, and after how many minutes it is escalated; null: never. */
const ESCALATED: [object, Move | "was e-mailed", number | null][] = [
  [CRITICAL, "waits", 3],
  [OF_ALARM, "waits", 3],
  [{ severity: "high" }, "waits", null],
  [CRITICAL, "may have arrived", 3],
  [OF_ALARM, "is in another text", 3],
  [CRITICAL, "is unknown", 0],
  [CRITICAL, "is dead", null],
  [CRITICAL, "is delivered", null],
  [CRITICAL, "was dropped", null],
  [CRITICAL, "was e-mailed", null],
];

/** Registers the tests of the fallback channel. */
export function fallbackTests({ test, each }: StateTests): void {
  each(ESCALATED)("gets one of %j that %s: %p", async ({ state, setClock }, changes, move, minutes) => {
    const { messageRow: row, alert } = await acceptOne(state, resolvedAlert(changes));
    if (move === "was e-mailed") await state.recordEmailed([row]);
    else await MOVES[move](state, row);
    const status = move === "is unknown" ? "unknown" : "queued";
    const escalation = { row, alert, status, acceptedAtMs: START_MS, issueUrl: null } as const;
    for (const waited of [0, 2, 3]) {
      await setClock(START_MS + waited * MINUTE_MS);
      const expected = minutes !== null && waited >= minutes ? [escalation] : [];
      expect(await state.escalations(3 * MINUTE_MS)).toEqual(expected);
    }
  });

  test("gets what came before the clock was set back", async ({ state, setClock }) => {
    const before = await acceptOne(state, sampleAlert(CRITICAL));
    await state.finish(issueRowOf(before), CREATED);
    await setClock(START_MS - HOUR_MS);
    await acceptOne(state, sampleAlert({ ...CRITICAL, fingerprint: "later" }));
    const found = await state.escalations(3 * MINUTE_MS);
    expect(found).toMatchObject([{ row: before.messageRow, issueUrl: ISSUE_URL }]);
  });

  test("has one e-mail on its way, over a restart", async ({ state, reopen }) => {
    const [row] = await acceptRows(state, "a");
    expect(await state.pendingEmail()).toBeNull();
    for (const email of ["one", "two"]) await state.keepEmail(email);
    const again = await reopen();
    expect(await again.pendingEmail()).toBe("two");
    await again.recordEmailed([row]);
    expect(await again.pendingEmail()).toBeNull();
    for (const email of ["three", null]) await again.keepEmail(email);
    expect(await again.pendingEmail()).toBeNull();
  });
}

/** What happens to the row that carried a note of two, while a third alert is e-mailed; and what is left to say. */
const CARRIED: [string, number, (state: State, row: number) => Promise<unknown>][] = [
  ["is delivered", 1, (state, row) => state.finish(row, DELIVERED)],
  ["may have arrived", 3, (state, row) => state.finish(row, MAYBE)],
  ["is found by a look-up", 1, (state, row) => endIn(state, row, MAYBE, DELIVERED)],
  ["is delivered with another note", 2, (state, row) => endIn(state, row, retryAfter(0), null, DELIVERED)],
  ["failed", 3, (state, row) => state.finish(row, retryAfter(0))],
  ["is unknown", 3, (state, row) => state.finish(row, UNKNOWN)],
  ["was dropped", 3, (state, row) => state.dropQueued([row])],
];

/** Ends a row in several steps; null begins it again, with a note of one. */
async function endIn(state: State, row: number, ...ends: (Parameters<State["finish"]>[1] | null)[]) {
  for (const end of ends)
    if (end !== null) await state.finish(row, end);
    else await state.begin({ id: row, attempts: 1 }, start("t", [], { emailed: 1, undelivered: 0 }));
}

/** Registers the tests of the recovery note. */
export function noteTests({ test, each }: StateTests): void {
  test("counts messages that were e-mailed or are dead", async ({ state, reopen }) => {
    const accepted = await acceptAll(state, ...alertsOf("a b c d e"));
    const [a, b, c, d, e] = accepted.map(({ messageRow }) => messageRow);
    const [issue, other] = accepted.map(issueRowOf);
    expect(await state.recoveryNote()).toEqual(NO_NOTE);
    for (const rows of [[a!, b!], [b!, issue!, 999_999], []]) await state.recordEmailed(rows);
    expect(await state.recoveryNote()).toEqual({ emailed: 2, undelivered: 0 });
    await state.finish(other!, DEAD);
    await tryOnce(state, c!, DEAD, start("two", [d!]));
    await state.finish(e!, UNKNOWN);
    await state.finish(a!, DELIVERED);
    await state.dropDead([c!]);
    expect(await (await reopen()).recoveryNote()).toEqual({ emailed: 2, undelivered: 2 });
  });

  each(CARRIED)("when its row %s, %d are left", async ({ state, another }, _, left, end) => {
    const [carrier, next, ...others] = await acceptRows(state, "carrier", "a", "b", "c");
    await state.recordEmailed([next, others[0]]);
    await state.begin({ id: carrier, attempts: 0 }, start("t", [], await state.recoveryNote()));
    await state.recordEmailed([others[1]]);
    // A row that another process began is ended by this one, after a restart.
    await end(left === 2 ? state : await another(), carrier);
    expect(await state.recoveryNote()).toEqual({ emailed: left, undelivered: 0 });
    await tryOnce(state, next, DELIVERED, start("t", [], await state.recoveryNote()));
    expect(await (await another()).recoveryNote()).toEqual(NO_NOTE);
  });

  test("is never less than nothing, when two rows carry it", async ({ state }) => {
    const [first, second, third] = await acceptRows(state, "a", "b", "c");
    await state.recordEmailed([third]);
    await state.finish(third, DEAD);
    const note = await state.recoveryNote();
    expect(note).toEqual({ emailed: 1, undelivered: 1 });
    for (const row of [first, second]) await state.begin({ id: row, attempts: 0 }, start("t", [], note));
    for (const row of [first, second]) await state.finish(row, DELIVERED);
    expect(await state.recoveryNote()).toEqual(NO_NOTE);
    await state.recordEmailed([first]);
    expect(await state.recoveryNote()).toEqual({ emailed: 1, undelivered: 0 });
  });
}

type Beside = { memory: State; adopt(): Promise<number>; setClocks(ms: number): Promise<void> };

/** Registers these tests. */
export function adoptTests(tests: StateTests): void {
  /** A test that also gets a state in memory, what takes it over, and what sets the clocks of both. */
  const test = (title: string, run: (fixture: StateFixture & Beside) => Promise<unknown>) =>
    tests.test(title, async (fixture) => {
      const memory = await openInMemory();
      const adopt = async () => await fixture.state.adopt(await memory.state.contents());
      const setClocks = async (ms: number) => {
        await memory.setClock(ms);
        await fixture.setClock(ms);
      };
      await run({ ...fixture, memory: memory.state, adopt, setClocks }).finally(memory.close);
    });

  test("gives rows ids of its own, in their order", async ({ state, reopen, memory, adopt }) => {
    const [own] = await acceptRows(state, "own");
    const [first] = await acceptAll(memory, ...alertsOf("x own y x!-"));
    expect(await adopt()).toBe(8);
    const again = await reopen();
    const due = await dueRows(again, "message");
    expect(due).toMatchObject([{ id: own }, { alert: first!.alert }, { alert: { fingerprint: "y" } }]);
    for (const { id } of due) await again.finish(id, DELIVERED);
    const next = (await dueRows(again, "message")).map(({ alert }) => alert.fingerprint);
    expect(next).toEqual(["x", "own"]);
    const [later] = await acceptRows(again, "later");
    const ids = [...(await again.listQueued(99)), ...due].map(({ id }) => id);
    expect([new Set(ids).size, Math.max(...ids)]).toEqual([ids.length, later]);
    const issues = (await again.recent(9)).map(({ issue }) => issue?.status ?? "none");
    expect(issues.join(" ")).toBe("none none queued queued queued none");
    expect([(await again.stats()).comment.queued, await again.hourly(1)]).toEqual([1, [6]]);
  });

  test("keeps an issue waiting for the first attempt of its message", async ({ state, memory, adopt }) => {
    await acceptOne(state, sampleAlert({ fingerprint: "other" }));
    await acceptOne(memory, sampleAlert());
    await adopt();
    expect(await dueIds(state, "issue", { issueGraceMs: 2 * SECOND_MS })).toEqual([]);
    for (const id of await dueIds(state, "message")) await tryOnce(state, id, DELIVERED);
    expect(await dueIds(state, "issue", { issueGraceMs: 2 * SECOND_MS })).toHaveLength(2);
  });

  test("keeps what may have arrived", async ({ state, setClock, memory, adopt }) => {
    await acceptRows(state, "own", "own");
    await state.dropQueued(null);
    const [maybe, m1, m2, sending, failed] = await acceptRows(memory, "a", "b", "c", "d", "e");
    const counts = { ambiguous: 2, triedMs: 500 };
    const how = start("of three", [m1, m2], { emailed: 1, undelivered: 0 });
    await tryOnce(memory, maybe, retryAfter(0, { ...counts, mayHaveArrived: true }), how);
    await memory.begin({ id: sending, attempts: 0 }, start("on its way"));
    await tryOnce(memory, failed, retryAfter(HOUR_MS));
    expect(await adopt()).toBe(5);
    const row = await onlyDue(state);
    const members = [row.id + 1, row.id + 2];
    expect(row).toMatchObject({
      ...counts,
      sent: { ...how.content, firstBegunAtMs: START_MS },
      attempts: 1,
      members,
    });
    await state.finish(row.id, deliveredAs("wa-1"));
    expect(await dueIds(state, "message")).toEqual([]);
    await setClock(START_MS + SEND_OVER_MS);
    expect(await onlyDue(state)).toMatchObject({
      id: row.id + 3,
      sent: { text: "on its way" },
      ambiguous: 1,
    });
    await setClock(START_MS + HOUR_MS);
    expect(await dueIds(state, "message")).toEqual([row.id + 3, row.id + 4]);
  });

  test("knows what was delivered, e-mailed or undelivered there", async ({
    state,
    setClock,
    memory,
    adopt,
  }) => {
    const [first, dead] = await acceptAll(memory, ...alertsOf("a dead-"));
    await tryOnce(memory, first!.messageRow, deliveredAs("wa-1"));
    await tryOnce(memory, issueRowOf(first!), CREATED, WITHOUT_TEXT);
    await tryOnce(memory, dead!.messageRow, DEAD);
    await memory.recordEmailed([dead!.messageRow]);
    expect(await adopt()).toBe(0);
    await setClock(START_MS + SECOND_MS);
    expect(await state.deliveredBetween(MINUTE_MS, 0)).toEqual(["wa-1"]);
    expect((await state.heldReferences("message", ["wa-1"])).size).toBe(1);
    expect(await state.listDead()).toMatchObject([{ fingerprint: "dead" }]);
    expect(await state.recoveryNote()).toEqual({ emailed: 1, undelivered: 1 });
    const [again] = await acceptAll(state, ...alertsOf("a"));
    expect(again!.issue).toMatchObject({ status: "duplicate", url: ISSUE_URL });
  });

  test("takes rows over once, also when the answer was lost", async ({ state, memory, adopt }) => {
    await acceptAll(memory, ...alertsOf("a b"));
    expect(await adopt()).toBe(4);
    await state.prune();
    expect(await adopt()).toBe(0);
    expect(await state.stats()).toMatchObject({ message: { queued: 2 }, issue: { queued: 2 } });
    await acceptAll(memory, ...alertsOf("c"));
    expect([await adopt(), await adopt()]).toEqual([2, 0]);
    expect(await state.stats()).toMatchObject({ message: { queued: 3 }, issue: { queued: 3 } });
  });

  test("brings back no claim that was released here", async ({ state, memory, adopt }) => {
    const first = await acceptOne(state, sampleAlert());
    await memory.adopt({ alerts: await state.alertRecords(["f1"]), rows: [] });
    expect((await acceptOne(memory, sampleAlert())).issue.status).toBe("duplicate");
    await tryOnce(state, issueRowOf(first), DEAD, WITHOUT_TEXT);
    await adopt();
    expect((await acceptOne(state, sampleAlert())).issue.status).toBe("first");
  });

  test("comments on the issue that there is here", async ({ state, memory, adopt, setClocks }) => {
    await acceptAll(memory, ...alertsOf("f f-"));
    await setClocks(START_MS + 1);
    const { issue } = await acceptOne(state, sampleAlert({ fingerprint: "f" }));
    await adopt();
    const { id, issueId } = await onlyDue(state, "issue");
    expect(issue).toMatchObject({ issueId });
    await tryOnce(state, id, CREATED, WITHOUT_TEXT);
    expect(await onlyDue(state, "comment")).toMatchObject({ issueId });
  });

  test("keeps to a claim that was made there", async ({ state, memory, adopt, setClocks }) => {
    const { issue } = await acceptOne(memory, sampleAlert());
    await setClocks(START_MS + MINUTE_MS);
    await adopt();
    const { issueId } = await onlyDue(state, "issue");
    expect(issue).toMatchObject({ issueId });
    const duplicate = { status: "duplicate", issueId };
    expect(await acceptOne(state, sampleAlert())).toMatchObject({ isRepeat: true, issue: duplicate });
    await setClocks(START_MS + ISSUE_TTL_MS);
    expect((await acceptOne(state, sampleAlert())).issue.status).toBe("first");
  });

  test("keeps to the older one of two claims", async ({ state, memory, adopt, setClocks }) => {
    const own = issueRowOf(await acceptOne(state, sampleAlert()));
    const { issueId } = await onlyDue(state, "issue");
    await setClocks(START_MS + MINUTE_MS);
    expect((await acceptOne(memory, sampleAlert())).issue.status).toBe("first");
    expect(await adopt()).toBe(1);
    expect(await dueIds(state, "issue")).toEqual([own]);
    await state.finish(own, CREATED);
    const duplicate = { status: "duplicate", issueId, url: ISSUE_URL };
    expect((await acceptOne(state, sampleAlert())).issue).toEqual(duplicate as never);
    await setClocks(START_MS + ISSUE_TTL_MS);
    expect((await acceptOne(state, sampleAlert())).issue.status).toBe("first");
  });

  test("has the same claim when it was taken to memory and back", async ({ state, memory, adopt }) => {
    await state.finish(issueRowOf(await acceptOne(state, sampleAlert())), CREATED);
    await memory.adopt({ alerts: await state.alertRecords(["f1"]), rows: [] });
    const known = { status: "duplicate", url: ISSUE_URL };
    expect(await acceptOne(memory, sampleAlert())).toMatchObject({ isRepeat: true, issue: known });
    await acceptOne(memory, resolvedAlert());
    expect(await adopt()).toBe(3);
    expect(await onlyDue(state, "comment")).toMatchObject({ issueUrl: ISSUE_URL });
    expect(await state.alertRecords(["f1"])).toMatchObject([{ isFiring: false, issueUrl: ISSUE_URL }]);
  });

  test("knows the longer one of two rate limits", async ({ state, memory, adopt, setClocks }) => {
    const [row] = await acceptRows(memory, "a");
    const [own] = await acceptRows(state, "own");
    const begin = { ...start("t"), paceAheadMs: 4_000 };
    await state.begin({ id: own, attempts: 0 }, begin);
    await memory.begin({ id: row, attempts: 0 }, { ...begin, paceAheadMs: 9_000 });
    await memory.finish(row, MAYBE);
    await setClocks(START_MS + SECOND_MS);
    await adopt();
    expect((await state.lanes()).message.paceAheadMs).toBe(8_000);
    await memory.begin({ id: row, attempts: 1 }, { ...begin, paceAheadMs: 1_000 });
    await adopt();
    expect((await state.lanes()).message.paceAheadMs).toBe(8_000);
  });
}
