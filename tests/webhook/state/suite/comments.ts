import { expect, test } from "bun:test";
import {
  type AcceptedAlert,
  ISSUE_TTL_MS,
  KEEP_ENDED_MS,
  type State,
} from "../../../../lib/webhook/state/contract.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  DAY_MS,
  DELIVERED,
  dueIds,
  issueRowOf,
  MINUTE_MS,
  START_MS,
  type StateFixture,
} from "../../support/state-fixture.ts";

const URL = "https://tracker.example/issue/1";
const CREATED = { status: "delivered", reference: "OPS-1", url: URL } as const;

/** The suite's tests of repeats, of comments on issues, and of how long rows are kept. */
export function commentTests(fixture: () => StateFixture): void {
  repeatTests(fixture);
  dueTests(fixture);
  endTests(fixture);
  keepTests(fixture);
}

async function comments(state: State): Promise<number> {
  return (await state.stats()).comment.queued;
}

async function acceptOne(state: State, alert = sampleAlert()): Promise<AcceptedAlert> {
  const [accepted] = await acceptAll(state, alert);
  return accepted!;
}

function repeatTests(fixture: () => StateFixture): void {
  test("an alert that fires since the same instant is a repeat, until it ends or fires anew", async () => {
    const { state } = fixture();
    const at = (startsAt: string | null) => sampleAlert({ startsAt });
    const alerts = [
      ...[at("1"), at("1"), at("2"), at("2"), at(null), at(null)],
      ...[at("2"), resolvedAlert({ startsAt: "2" }), at("2"), at("2")],
    ];
    const accepted = await acceptAll(state, ...alerts);
    expect(accepted.map(({ isRepeat }) => isRepeat)).toEqual([
      ...[false, true, false, true, false, false],
      ...[false, false, false, true],
    ]);
    const again = await fixture().reopen();
    expect(await acceptOne(again, at("2"))).toMatchObject({ isRepeat: true });
    const other = await acceptOne(again, sampleAlert({ startsAt: "2", fingerprint: "other" }));
    expect(other.isRepeat).toBe(false);
  });

  test("an alert that is told again each week for longer than delivered rows are kept stays a repeat", async () => {
    const { state, setClock } = fixture();
    await acceptOne(state);
    for (const days of [7, 14, 21, 28, 31]) {
      await setClock(START_MS + days * DAY_MS);
      await state.prune();
      expect((await acceptOne(state)).isRepeat).toBe(true);
    }
    await setClock(START_MS + 62 * DAY_MS);
    await state.prune();
    expect((await acceptOne(state)).isRepeat).toBe(false);
  });

  test("due() and digestible() say which alerts are repeats", async () => {
    const { state } = fixture();
    const [first, second] = await acceptAll(state, sampleAlert(), sampleAlert());
    const found = async () => (await state.digestible([])).map(({ id, isRepeat }) => [id, isRepeat]);
    expect(await found()).toEqual([
      [first!.messageRow, false],
      [second!.messageRow, true],
    ]);
    await state.settle(first!.messageRow, DELIVERED);
    const [due] = await state.due("message", { limit: 1, except: [], issueGraceMs: 0 });
    expect(due).toMatchObject({ id: second!.messageRow, isRepeat: true });
  });
}

function dueTests(fixture: () => StateFixture): void {
  test("each end of an alert leaves one comment, due once its issue is there", async () => {
    const { state, setClock } = fixture();
    const issue = issueRowOf(await acceptOne(state));
    await setClock(START_MS + MINUTE_MS);
    const ended = resolvedAlert({ endsAt: "2026-11-16T14:05:00Z" });
    await acceptAll(state, ended, ended);
    expect(await comments(state)).toBe(1);
    expect(await dueIds(state, "comment")).toEqual([]);
    await state.settle(issue, CREATED);
    const [due, ...others] = await state.due("comment", { limit: 9, except: [], issueGraceMs: 0 });
    expect(due).toMatchObject({
      kind: "comment",
      alert: ended,
      claimedAtMs: START_MS,
      issueUrl: URL,
      isRepeat: false,
      attempts: 0,
    });
    expect(others).toEqual([]);
    expect(await state.begin(due!.id, { text: "Resolvido" })).toBe(true);
    await state.settle(due!.id, DELIVERED);
    expect((await state.latest("f1")).comment).toMatchObject({ status: "delivered", attempts: 1 });
    expect(await dueIds(state, "comment")).toEqual([]);
  });

  test("firing again within its 30 minutes comments nothing; its end does, on the same issue", async () => {
    const { state, setClock } = fixture();
    await state.settle(issueRowOf(await acceptOne(state)), CREATED);
    await acceptAll(state, resolvedAlert());
    expect((await acceptOne(state)).issue.status).toBe("duplicate");
    expect(await comments(state)).toBe(1);
    // The claim holds no more, the issue stays the newest of its fingerprint.
    await setClock(START_MS + ISSUE_TTL_MS);
    await acceptAll(state, resolvedAlert());
    expect(await comments(state)).toBe(2);
    const [first] = await dueIds(state, "comment");
    await state.settle(first!, DELIVERED);
    const [second] = await state.due("comment", { limit: 9, except: [], issueGraceMs: 0 });
    expect(second).toMatchObject({ claimedAtMs: START_MS, issueUrl: URL });
  });

  test("no comment without an issue, for another status, or when comments are off", async () => {
    const { state } = fixture();
    await acceptAll(state, resolvedAlert());
    await acceptAll(state, sampleAlert(), resolvedAlert({ status: "unknown" }), resolvedAlert());
    const off = await acceptOne(state, sampleAlert({ fingerprint: "off" }));
    await state.dropQueued([issueRowOf(off)]);
    await acceptAll(state, resolvedAlert({ fingerprint: "off" }));
    expect(await comments(state)).toBe(0);
  });
}

function endTests(fixture: () => StateFixture): void {
  test("an issue that was given up, or is in doubt, gives up its comments", async () => {
    const { state } = fixture();
    for (const [fingerprint, status] of [
      ["a", "dead"],
      ["b", "in_doubt"],
    ] as const) {
      const issue = issueRowOf(await acceptOne(state, sampleAlert({ fingerprint })));
      await acceptAll(state, resolvedAlert({ fingerprint }));
      await state.settle(issue, { status, code: "why" });
      const [comment] = (await state.listDead()).filter((row) => row.kind === "comment");
      expect(comment).toMatchObject({ fingerprint, status: "dead", code: "issue_given_up", attempts: 0 });
      expect(await state.retryDead([comment!.id])).toBe(0);
      // With its issue it is tried again, and waits for it.
      expect(await state.retryDead([issue, comment!.id])).toBe(2);
      expect(await dueIds(state, "comment")).toEqual([]);
      await state.settle(issue, CREATED);
      expect(await dueIds(state, "comment")).toEqual([comment!.id]);
      await state.settle(comment!.id, DELIVERED);
    }
  });

  test("dropping an issue that waits frees its claim and takes its comments with it", async () => {
    const { state } = fixture();
    const issue = issueRowOf(await acceptOne(state));
    await acceptAll(state, resolvedAlert());
    expect(await state.dropQueued([issue])).toBe(1);
    expect(await state.stats()).toMatchObject({ issue: { queued: 0 }, comment: { queued: 0 } });
    expect((await acceptOne(state)).issue.status).toBe("first");
  });
}

function keepTests(fixture: () => StateFixture): void {
  test("prune() drops what was given up or is in doubt after 90 days, to the millisecond", async () => {
    const { state, setClock } = fixture();
    const accepted = await acceptAll(
      state,
      ...["dead", "doubt", "later", "waits"].map((fingerprint) => resolvedAlert({ fingerprint })),
    );
    const [dead, doubt, later] = accepted.map(({ messageRow }) => messageRow) as [number, number, number];
    await state.settle(dead, { status: "dead", code: "x" });
    await state.settle(doubt, { status: "in_doubt", code: "x" });
    await setClock(START_MS + 1);
    await state.settle(later, { status: "dead", code: "x" });
    await setClock(START_MS + KEEP_ENDED_MS - 1);
    await state.prune();
    expect((await state.listDead()).map(({ id }) => id)).toEqual([dead, doubt, later]);
    await setClock(START_MS + KEEP_ENDED_MS);
    await state.prune();
    expect((await state.listDead()).map(({ id }) => id)).toEqual([later]);
    expect((await state.stats()).message).toMatchObject({ queued: 1, dead: 1, inDoubt: 0 });
  });

  test("deliveredBetween() gives the ids of messages of an age, newest first", async () => {
    const { state, setClock } = fixture();
    const ages = [30, 10, 9, 1, 0];
    const accepted = await acceptAll(
      state,
      ...ages.map((age) => sampleAlert({ fingerprint: `f${age}` })),
      resolvedAlert({ fingerprint: "none" }),
    );
    const now = START_MS + DAY_MS;
    for (const [at, age] of ages.entries()) {
      await setClock(now - age * MINUTE_MS);
      await state.settle(accepted[at]!.messageRow, { status: "delivered", reference: `m${age}`, url: null });
      await state.settle(issueRowOf(accepted[at]!), CREATED);
    }
    await state.settle(accepted.at(-1)!.messageRow, DELIVERED);
    expect(await state.deliveredBetween(30 * MINUTE_MS, MINUTE_MS)).toEqual(["m1", "m9", "m10"]);
    expect(await state.deliveredBetween(30 * MINUTE_MS + 1, 9 * MINUTE_MS)).toEqual(["m9", "m10", "m30"]);
    expect(await state.deliveredBetween(MINUTE_MS, 0)).toEqual(["m0"]);
    expect(await state.deliveredBetween(MINUTE_MS, MINUTE_MS)).toEqual([]);
  });
}
