/** What a state takes over from one in memory. */
import { expect } from "bun:test";
import { ISSUE_TTL_MS, SEND_OVER_MS, type State } from "../../../../lib/webhook/store/types.ts";
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
  onlyDue,
  retryAfter,
  SECOND_MS,
  START_MS,
  type StateFixture,
  start,
  tryOnce,
  WITHOUT_TEXT,
} from "../../support/state-fixture.ts";
import type { StateTests } from "../../support/state-stores.ts";
import { openInMemory } from "../../support/state-stores.ts";

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

  test("gives rows ids of its own, after those that it has, in their order", async ({
    state,
    reopen,
    memory,
    adopt,
  }) => {
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

  test("keeps text, counts and members of what may have arrived, and when it is tried again", async ({
    state,
    setClock,
    memory,
    adopt,
  }) => {
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

  test("knows what was delivered, e-mailed or given up there", async ({ state, setClock, memory, adopt }) => {
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

  test("keeps to a claim that was made there, to the millisecond", async ({
    state,
    memory,
    adopt,
    setClocks,
  }) => {
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

  test("keeps to the older one of two claims, and does not create the issue of the other", async ({
    state,
    memory,
    adopt,
    setClocks,
  }) => {
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

  test("knows the longer one of two rate limits that are used up", async ({
    state,
    memory,
    adopt,
    setClocks,
  }) => {
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

  test("changes nothing for an empty one", async ({ state, adopt }) => {
    await acceptOne(state, sampleAlert());
    const all = async () => [await state.listQueued(9), await state.lanes(), await state.recoveryNote()];
    const before = await all();
    expect(await adopt()).toBe(0);
    expect(await all()).toEqual(before);
  });
}
