/** The issue of a fingerprint: one in 30 minutes, and the comments on it. */
import { expect } from "bun:test";
import {
  type AttemptEnd,
  ISSUE_TTL_MS,
  KEEP_DELIVERED_MS,
  type State,
} from "../../../../lib/webhook/store/types.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  acceptOne,
  alertsOf,
  CREATED,
  DAY_MS,
  DEAD,
  DELIVERED,
  dueIds,
  ISSUE_URL,
  issueRowOf,
  MINUTE_MS,
  onlyDue,
  retryAfter,
  START_MS,
  type StateFixture,
  tryOnce,
  WITHOUT_TEXT,
} from "../../support/state-fixture.ts";
import type { StateTests } from "../../support/state-stores.ts";

const TTL_MS = ISSUE_TTL_MS;
const issueOf = async (state: State) => issueRowOf(await acceptOne(state, sampleAlert()));
const nextIssue = async (state: State) => (await acceptOne(state, sampleAlert())).issue;
const idOf = (issue: object) => ("issueId" in issue ? String(issue.issueId) : "");
const comments = async (state: State) => (await state.stats()).comment;

/** When an alert fires, after the start of the test, and what is said of its issue each time. */
const CLAIMS: [string, number[], string][] = [
  ["to the millisecond", [0, TTL_MS - 1, TTL_MS], "first duplicate first"],
  ["from its claim on", [0, TTL_MS - 1, TTL_MS + 1, 2 * TTL_MS], "first duplicate first duplicate"],
  ["with the clock set back by a day", [0, -DAY_MS, TTL_MS - DAY_MS - 1], "first duplicate duplicate"],
  ["and not longer with the clock set back", [0, -DAY_MS, TTL_MS - DAY_MS], "first duplicate first"],
];

/** How an issue may end, and whether the next firing gets another one. */
const ENDS: [string, boolean, (state: State, issue: number) => Promise<unknown>][] = [
  ["that is tried again keeps", false, (state, row) => tryOnce(state, row, retryAfter(0), WITHOUT_TEXT)],
  ["that was created keeps", false, (state, row) => tryOnce(state, row, CREATED, WITHOUT_TEXT)],
  ["that is dead gives back", true, (state, row) => state.finish(row, DEAD)],
  ["that is dropped gives back", true, (state, row) => state.dropQueued([row])],
  ["that is dropped with all gives back", true, (state) => state.dropQueued(null)],
];

/** Registers the tests of the claim. */
export function claimTests({ test, each }: StateTests): void {
  each(CLAIMS)("is created once in 30 minutes, %s", async ({ state, setClock }, _, firings, expected) => {
    const issues = [];
    for (const afterMs of firings) {
      await setClock(START_MS + afterMs);
      issues.push(await nextIssue(state));
    }
    expect(issues.map(({ status }) => status).join(" ")).toBe(expected);
    for (const [at, issue] of issues.entries())
      if (at > 0) expect(idOf(issue) === idOf(issues[at - 1]!)).toBe(issue.status === "duplicate");
    expect((await onlyDue(state, "issue")).issueId).toBe(idOf(issues[0]!));
  });

  each(ENDS)("an issue %s its claim", async ({ state, reopen }, _, isFree, end) => {
    await end(state, await issueOf(state));
    expect((await nextIssue(await reopen())).status).toBe(isFree ? "first" : "duplicate");
  });

  test("gives its link to duplicates and to messages that wait", async ({ state }) => {
    const { alert, issue } = await acceptOne(state, sampleAlert());
    const issueId = idOf(issue);
    const [record] = await state.alertRecords(["f1", "other"]);
    const claimUntilMs = START_MS + TTL_MS;
    const known = { fingerprint: "f1", isFiring: true, startsAt: alert.startsAt, issueId, claimUntilMs };
    expect(record).toMatchObject({ ...known, issueUrl: null });
    expect(await nextIssue(state)).toEqual({ status: "duplicate", issueId, url: null });
    const row = await onlyDue(state, "issue");
    expect(row).toMatchObject({ issueId, sent: null, members: [] });
    await state.finish(row.id, CREATED);
    expect(await nextIssue(state)).toEqual({ status: "duplicate", issueId, url: ISSUE_URL });
    expect((await onlyDue(state)).issueUrl).toBe(ISSUE_URL);
    expect(await state.alertRecords(["f1", "other"])).toEqual([{ ...record!, issueUrl: ISSUE_URL }]);
    expect(await state.alertRecords([])).toEqual([]);
  });

  each<[AttemptEnd]>([[DEAD], [CREATED]])(
    "that ends late leaves the next one its claim and link: %j",
    async ({ state, setClock }, end) => {
      const old = await issueOf(state);
      await setClock(START_MS + TTL_MS);
      const next = await issueOf(state);
      await state.finish(old, end);
      expect(await nextIssue(state)).toMatchObject({ status: "duplicate", url: null });
      expect(await dueIds(state, "issue")).toEqual([next]);
    },
  );

  each([[1], [40]])(
    "that is revived after %d days has its id and its claim again",
    async ({ state, setClock, reopen }, days) => {
      const { issue } = await acceptOne(state, sampleAlert());
      const { id } = await onlyDue(state, "issue");
      await tryOnce(state, id, DEAD, WITHOUT_TEXT);
      const revivedMs = START_MS + days * DAY_MS;
      await setClock(revivedMs);
      await state.prune();
      expect(await state.retryDead([id])).toBe(1);
      const again = await reopen();
      expect(await onlyDue(again, "issue")).toMatchObject({ id, issueId: idOf(issue), attempts: 0 });
      await setClock(revivedMs + TTL_MS - 1);
      expect(await nextIssue(again)).toMatchObject({ status: "duplicate", issueId: idOf(issue) });
      await setClock(revivedMs + TTL_MS);
      expect((await nextIssue(again)).status).toBe("first");
    },
  );

  test("of dead ones one is revived, and none while the fingerprint has another", async ({
    state,
    setClock,
  }) => {
    for (const minute of [0, 1, 2]) {
      await setClock(START_MS + minute * MINUTE_MS);
      await state.finish(await issueOf(state), DEAD);
    }
    expect(await state.retryDead(null)).toBe(1);
    expect([await dueIds(state, "issue"), await state.listDead()]).toMatchObject([
      { length: 1 },
      { length: 2 },
    ]);
    expect(await state.retryDead(null)).toBe(0);
  });
}

/** What comes before the end of an alert, and how many comments there are then. */
const BEFORE_END: [string, number, (state: State) => Promise<unknown>][] = [
  ["nothing", 0, async () => {}],
  ["a firing", 1, (state) => acceptAll(state, ...alertsOf("a"))],
  ["an issue that is there", 1, async (state) => state.finish(await issueOf(state), CREATED)],
  ["an issue that is dead", 0, async (state) => state.finish(await issueOf(state), DEAD)],
  ["an issue that was dropped", 0, async (state) => state.dropQueued([await issueOf(state)])],
  ["an end and a firing", 2, (state) => acceptAll(state, ...alertsOf("a a- a"))],
  ["another end", 1, (state) => acceptAll(state, ...alertsOf("a a-"))],
  ["an end of another kind", 0, (state) => acceptAll(state, sampleAlert(), resolvedAlert({ status: "odd" }))],
];

/** Registers the tests of comments. */
export function commentTests({ test, each }: StateTests): void {
  each(BEFORE_END)("after %s, %d are made until the end", async ({ state }, _, expected, before) => {
    await before(state);
    await acceptAll(state, resolvedAlert(), ...alertsOf("a-"));
    expect(await comments(state)).toMatchObject({ queued: expected, dead: 0 });
  });

  test("is due once its issue does not wait any more, with the id and link of its issue", async ({
    state,
    setClock,
  }) => {
    const issue = await issueOf(state);
    const { issueId } = await onlyDue(state, "issue");
    const { alert } = await acceptOne(state, resolvedAlert());
    await tryOnce(state, issue, retryAfter(MINUTE_MS), WITHOUT_TEXT);
    expect(await dueIds(state, "comment")).toEqual([]);
    await state.finish(issue, CREATED);
    const comment = await onlyDue(state, "comment");
    expect(comment).toMatchObject({ issueId, issueUrl: ISSUE_URL, alert, sent: null, members: [] });
    await setClock(START_MS + TTL_MS);
    await state.finish(await issueOf(state), CREATED);
    await acceptOne(state, resolvedAlert());
    await tryOnce(state, comment.id, DELIVERED, WITHOUT_TEXT);
    expect((await onlyDue(state, "comment")).issueId).not.toBe(issueId);
  });

  test("is dead with its issue, and revived with it", async ({ state }) => {
    const issue = await issueOf(state);
    await acceptOne(state, resolvedAlert());
    await state.finish(issue, DEAD);
    const [comment] = (await state.listDead()).filter(({ kind }) => kind === "comment");
    expect(comment).toMatchObject({ status: "dead", code: "issue_dead", attempts: 0 });
    expect(await state.retryDead([comment!.id])).toBe(0);
    expect(await state.retryDead([issue, comment!.id])).toBe(2);
    expect(await dueIds(state, "comment")).toEqual([]);
    await state.finish(issue, CREATED);
    expect(await dueIds(state, "comment")).toEqual([comment!.id]);
  });

  test("goes with an issue that is dropped while it waits", async ({ state }) => {
    const issue = await issueOf(state);
    await acceptOne(state, resolvedAlert());
    await state.dropQueued([issue]);
    expect(await state.stats()).toMatchObject({ issue: { queued: 0 }, comment: { queued: 0, dead: 0 } });
  });

  test("is made also when the row of the issue was pruned", async ({ state, setClock }) => {
    await state.finish(await issueOf(state), CREATED);
    const issueId = idOf(await nextIssue(state));
    await setClock(START_MS + 10 * MINUTE_MS);
    await acceptOne(state, sampleAlert());
    await setClock(START_MS + KEEP_DELIVERED_MS + MINUTE_MS);
    await state.prune();
    expect((await state.latest("f1")).issue).toBeUndefined();
    await acceptOne(state, resolvedAlert());
    expect(await onlyDue(state, "comment")).toMatchObject({ issueId, issueUrl: ISSUE_URL });
  });

  const unwanted = async ({ state }: StateFixture) => {
    await acceptAll(state, ...alertsOf("a a-"));
    expect(await comments(state)).toMatchObject({ queued: 0 });
  };
  test("is not made unless the operator wants it", unwanted, { comments: false });
}
