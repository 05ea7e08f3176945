/** Repeats of an alert, and the comments on its issue. */
import { expect, test } from "bun:test";
import type { State } from "../../../../lib/webhook/state/contract.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  acceptOne,
  CREATED,
  DAY_MS,
  DEAD,
  DELIVERED,
  dueIds,
  issueRowOf,
  onlyDue,
  START_MS,
  type StateFixture,
  UNKNOWN,
} from "../../support/state-fixture.ts";

/** Registers these tests. */
export function commentTests(fixture: () => StateFixture): void {
  repeatTests(fixture);
  dueTests(fixture);
  endTests(fixture);
}

async function comments(state: State): Promise<number> {
  return (await state.stats()).comment.queued;
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

  test("an alert that is posted again each week for longer than delivered rows are kept stays a repeat", async () => {
    const { state, setClock } = fixture();
    await acceptOne(state, sampleAlert());
    for (const days of [7, 14, 21, 28, 31]) {
      await setClock(START_MS + days * DAY_MS);
      await state.prune();
      expect((await acceptOne(state, sampleAlert())).isRepeat).toBe(true);
    }
    await setClock(START_MS + 62 * DAY_MS);
    await state.prune();
    expect((await acceptOne(state, sampleAlert())).isRepeat).toBe(false);
  });

  test("due() and digestible() say which alerts are repeats", async () => {
    const { state } = fixture();
    const accepted = await acceptAll(state, sampleAlert(), sampleAlert());
    const [first, second] = accepted.map(({ messageRow }) => messageRow);
    const found = (await state.digestible([])).map(({ id, isRepeat }) => [id, isRepeat]);
    expect(found).toEqual([
      [first!, false],
      [second!, true],
    ]);
    await state.settle(first!, DELIVERED);
    expect(await onlyDue(state)).toMatchObject({ id: second!, isRepeat: true });
  });
}

function dueTests(fixture: () => StateFixture): void {
  const WITHOUT: [string, (state: State) => Promise<unknown>][] = [
    ["without an issue", async () => {}],
    ["for an issue that was dropped", async (state) => await state.dropQueued([await issueOf(state)])],
    [
      "for an issue with an unknown result, which may not be there",
      async (state) => await state.settle(await issueOf(state), UNKNOWN),
    ],
    [
      "after another status ended it",
      async (state) => {
        await issueOf(state);
        await acceptOne(state, resolvedAlert({ status: "unknown" }));
      },
    ],
  ];
  test.each(WITHOUT)("an end leaves no comment %s", async (_, before) => {
    const { state } = fixture();
    await before(state);
    await acceptOne(state, resolvedAlert());
    expect(await comments(state)).toBe(0);
    expect((await state.stats()).comment.dead).toBe(0);
  });
}

async function issueOf(state: State): Promise<number> {
  return issueRowOf(await acceptOne(state, sampleAlert()));
}

function endTests(fixture: () => StateFixture): void {
  test.each([DEAD, UNKNOWN])("is dead with its issue, and retried with it: %j", async (end) => {
    const { state } = fixture();
    const issue = await issueOf(state);
    await acceptOne(state, resolvedAlert());
    await state.settle(issue, end);
    const [comment] = (await state.listDead()).filter(({ kind }) => kind === "comment");
    expect(comment).toMatchObject({ status: "dead", code: "issue_given_up", attempts: 0 });
    expect(await state.retryDead([comment!.id])).toBe(0);
    expect(await state.retryDead([issue, comment!.id])).toBe(2);
    expect(await dueIds(state, "comment")).toEqual([]);
    await state.settle(issue, CREATED);
    expect(await dueIds(state, "comment")).toEqual([comment!.id]);
  });

  test("goes with an issue that is dropped while it waits", async () => {
    const { state } = fixture();
    const issue = await issueOf(state);
    await acceptOne(state, resolvedAlert());
    expect(await state.dropQueued([issue])).toBe(1);
    expect(await state.stats()).toMatchObject({ issue: { queued: 0 }, comment: { queued: 0 } });
  });
}
