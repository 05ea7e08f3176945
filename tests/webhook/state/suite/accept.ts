/** Accepting alerts, within the limits; the issue of a fingerprint, and the comments on it. */

import { expect } from "bun:test";
import type { Alert } from "../../../../lib/webhook/alert/alert.ts";
import {
  type AcceptOutcome,
  type AttemptEnd,
  ISSUE_TTL_MS,
  KEEP_DELIVERED_MS,
} from "../../../../lib/webhook/store/model.ts";
import type { State } from "../../../../lib/webhook/store/outbox.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  acceptOne,
  acceptRows,
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
  SECOND_MS,
  START_MS,
  type StateFixture,
  start,
  tryOnce,
  WITHOUT_TEXT,
} from "../../support/state-fixture.ts";
import type { StateTests } from "../../support/state-stores.ts";

/** Texts that a database, a statement or a format could take for something else. */
const ODD_TEXTS: [string, string][] = [
  ["NUL", "\u0000 nul \u0000"],
  ["half a character", "\udc00 and \ud83d"],
  ["marks of statements", `'; drop -- "$1" {outbox} {now} \\u0000 \\ %`],
  ["lines and symbols", "a\r\n\u2028\u0085\tb 🚨 ção"],
  ["64 KiB", `${"é".repeat(65_530)}\ud83d`],
  ["nothing", ""],
];

/** Registers the tests of what is kept. */
export function acceptTests({ test, each }: StateTests): void {
  each(ODD_TEXTS)("keeps an alert with odd texts: %s", async ({ state, reopen }, _, odd) => {
    const labels = { [odd]: odd, ["__proto__"]: odd, toString: odd };
    const texts = { name: odd, summary: odd, description: odd, severity: odd, value: odd };
    const alert = sampleAlert({ ...texts, labels });
    const accepted = await acceptOne(state, alert);
    expect(accepted.alert).toEqual(alert);
    const row = await onlyDue(await reopen());
    expect(row).toEqual({
      ...{ attempts: 0, waitedMs: 0, triedMs: 0, ambiguous: 0, sent: null, members: [], isRepeat: false },
      ...{ id: accepted.messageRow, kind: "message", alert, issueId: null, issueUrl: null },
    });
    expect(JSON.stringify(row.alert)).toBe(JSON.stringify(alert));
  });

  each(ODD_TEXTS)("keeps odd answers of services: %s", async ({ state, setClock, reopen }, _, odd) => {
    const accepted = await acceptOne(state, sampleAlert({ name: odd }));
    const { messageRow } = accepted;
    await tryOnce(state, messageRow, retryAfter(0, { code: odd, mayHaveArrived: true }), start(odd));
    await state.finish(issueRowOf(accepted), { status: "delivered", reference: odd, url: odd });
    await state.pauseLane("message", odd);
    await state.keepEmail(JSON.stringify(odd));
    const again = await reopen();
    expect((await onlyDue(again)).sent?.text).toBe(odd);
    expect(await again.pendingEmail()).toBe(JSON.stringify(odd));
    const [{ code } = {}] = await again.listQueued(1);
    const { pausedBy } = (await again.lanes()).message;
    await again.finish(messageRow, { status: "delivered", reference: odd, url: null });
    await setClock(START_MS + SECOND_MS);
    const { message, issue } = await again.latest("f1");
    const kept = [code, pausedBy, message?.reference, issue?.reference, issue?.url];
    // What a column cannot store is not kept as it was, but the same id is known again.
    if (/[\0\p{Cs}]|.{501}/u.test(odd)) expect(kept.every((text) => typeof text === "string")).toBe(true);
    else expect(kept).toEqual([odd, odd, odd, odd, odd]);
    expect([...(await again.heldReferences("message", [odd, "other"]))]).toEqual([odd]);
    expect(await again.deliveredBetween(MINUTE_MS, 0)).toEqual([message!.reference!]);
    expect((await again.recent(1))[0]?.shown.name).toBe(odd.slice(0, 200));
  });

  test("takes thousands of requests, or many megabytes, at once", async ({ state }) => {
    const description = "x".repeat(1_000_000);
    const large = Array.from({ length: 12 }, () => [resolvedAlert({ description })]);
    const small = alertsOf("1001*s-").map((alert) => [alert]);
    for (const requests of [large, small, []]) {
      const expected = requests.map(([alert]) => ({ accepted: [{ alert }] }));
      expect(await state.accept(requests)).toMatchObject(expected);
    }
    expect((await state.stats()).message.queued).toBe(1_013);
  });
}

/** Alerts; what is said of each: its issue, and whether it is a repeat; and how many comments there are then. */
type Sequence = [string, string, string, number];
const SEQUENCES: Sequence[] = [
  ["the same start", "a a a", "first, duplicate repeat, duplicate repeat", 0],
  ["another start", "a1 a2 a2", "first, duplicate, duplicate repeat", 0],
  ["no start", "a0 a0", "first, duplicate", 0],
  ["an end between", "a a- a a", "first, not_firing, duplicate, duplicate repeat", 1],
  ["an end first", "a- a a-", "not_firing, first, not_firing", 1],
  ["two ends", "a a- a-", "first, not_firing, not_firing", 1],
  ["another fingerprint", "a b a b-", "first, first, duplicate repeat, not_firing", 1],
];

async function oneByOne(state: State, requests: readonly Alert[][]): Promise<AcceptOutcome[]> {
  const outcomes: AcceptOutcome[] = [];
  for (const request of requests) outcomes.push(...(await state.accept([request])));
  return outcomes;
}

/** Ways in which requests may come. */
const WAYS = { "in one commit": (state: State, all: Alert[][]) => state.accept(all), "one by one": oneByOne };
type Way = keyof typeof WAYS;

/** Registers the tests of repeats. */
export function repeatTests({ test, each }: StateTests): void {
  const ways = [...Object.keys(WAYS), "in one request"] as (Way | "in one request")[];
  const cases = SEQUENCES.flatMap((one) => ways.map((way): [typeof way, ...Sequence] => [way, ...one]));
  each(cases)("%s: %s", async ({ state }, way, _, names, expected, comments) => {
    const alerts = alertsOf(names);
    const single = alerts.map((alert) => [alert]);
    const outcomes = way === "in one request" ? await state.accept([alerts]) : await WAYS[way](state, single);
    const accepted = outcomes.flatMap((outcome) => ("accepted" in outcome ? outcome.accepted : []));
    const said = accepted.map(({ isRepeat, issue }) => `${issue.status}${isRepeat ? " repeat" : ""}`);
    expect(said.join(", ")).toBe(expected);
    expect((await state.stats()).comment.queued).toBe(comments);
    const waiting = (await state.digestible([], 0)).toSorted((one, other) => one.id - other.id);
    expect(waiting.map(({ id, isRepeat }) => [id, isRepeat])).toEqual(
      accepted.map(({ messageRow, isRepeat }) => [messageRow, isRepeat]),
    );
  });

  test("over a restart, and for 30 days", async ({ state, setClock, reopen }) => {
    await acceptOne(state, sampleAlert());
    const again = await reopen();
    for (const days of [7, 29, 58, 89]) {
      await setClock(START_MS + days * DAY_MS);
      await again.prune();
      expect([days, (await acceptOne(again, sampleAlert())).isRepeat]).toEqual([days, days < 89]);
    }
  });
}

const SIZE = Buffer.byteLength(JSON.stringify(alertsOf("1*w!-")[0]));
const MANY = 1_000_000;

/** Limits of rows and bytes, requests, and those that are refused. */
type Limit = [string, number, number, string, string];
type LimitCase = [Way, ...Limit];

const LIMITS: Limit[] = [
  ["whole requests", 4, MANY, "3*w-|2*w-|w-", "2*w-"],
  ["issues of a request", 100, MANY, "90*w|45*w", "90*w"],
  ["an issue of a fingerprint", 10, MANY, "s s s s s s s s|w-", "w-"],
  ["comments", 10, MANY, "4*w|1*w-|1*w!-", "1*w-"],
  ["comments of a request", 10, MANY, "3*w 3*w-|2*w 2*w-", "3*w 3*w-"],
  ["a tenth for critical ones", 10, MANY, "9*w-|w-|w!-|2*w!-", "w-|2*w!-"],
  ["a tenth for requests with one", 10, MANY, "8*w-|2*w-|w- c!-", "2*w-"],
  ["the same, in other order", 10, MANY, "8*w-|2*w-|c!- w-", "2*w-"],
  ["bytes", MANY, 10 * SIZE, "9*w!-|w-|1*w!-|2*w!-", "w-|2*w!-"],
];

/** Registers the tests of the limits of rows and bytes. */
export function limitTests({ test, each }: StateTests): void {
  const ways = Object.keys(WAYS) as Way[];
  const cases = LIMITS.flatMap((limit) => ways.map((way): LimitCase => [way, ...limit]));
  const limitsOf = (...[, , rows, bytes]: LimitCase) => ({ limits: { rows, bytes } });
  each(cases, limitsOf)("%s, they count %s", async ({ state }, way, _, _rows, _bytes, requests, refused) => {
    const all = requests.split("|");
    const outcomes = await WAYS[way](state, all.map(alertsOf));
    const full = outcomes.map((outcome) => "refused" in outcome && outcome.refused === "outbox_full");
    expect(full).toEqual(all.map((one) => refused.split("|").includes(one)));
    const accepted = all.filter((_one, at) => !full[at]).flatMap(alertsOf);
    expect((await state.stats()).message.queued).toBe(accepted.length);
  });

  const counted = async ({ state, setClock, another }: StateFixture) => {
    const other = await another();
    const rows = await acceptRows(other, "a", "b", "c");
    await setClock(START_MS + MINUTE_MS);
    expect(await state.accept([alertsOf("w-")])).toEqual([{ refused: "outbox_full" }]);
    await state.finish(rows[0], DELIVERED);
    await other.finish(rows[1], DEAD);
    await other.dropQueued([rows[2]]);
    await setClock(START_MS + 2 * MINUTE_MS);
    await acceptAll(state, ...alertsOf("3*w-"));
  };
  test("they count what waits, of other processes within seconds", counted, {
    limits: { rows: 3, bytes: MANY },
  });
}

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

  const LATE: [AttemptEnd][] = [[DEAD], [CREATED]];
  each(LATE)("that ends late leaves the next one alone: %j", async ({ state, setClock }, end) => {
    const old = await issueOf(state);
    await setClock(START_MS + TTL_MS);
    const next = await issueOf(state);
    await state.finish(old, end);
    expect(await nextIssue(state)).toMatchObject({ status: "duplicate", url: null });
    expect(await dueIds(state, "issue")).toEqual([next]);
  });

  each([[1], [40]])("that is revived after %d days", async ({ state, setClock, reopen }, days) => {
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
  });

  test("that is dead is revived alone", async ({ state, setClock }) => {
    for (const minute of [0, 1, 2]) {
      await setClock(START_MS + minute * MINUTE_MS);
      await state.finish(await issueOf(state), DEAD);
    }
    expect(await state.retryDead(null)).toBe(1);
    expect([(await dueIds(state, "issue")).length, (await state.listDead()).length]).toEqual([1, 2]);
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

  test("is due after its issue, with its id and link", async ({ state, setClock }) => {
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
