/** Messages that combine several alerts. */
import { expect, test } from "bun:test";
import { DIGEST_LIMIT, type State } from "../../../../lib/webhook/state/contract.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  acceptOne,
  acceptRows,
  DELIVERED,
  deliveredAs,
  dueIds,
  dueRows,
  issueRowOf,
  onlyDue,
  retryAfter,
  SECOND_MS,
  START_MS,
  type StateFixture,
  UNKNOWN,
} from "../../support/state-fixture.ts";

/** Registers these tests. */
export function digestTests(fixture: () => StateFixture): void {
  choiceTests(fixture);
  memberTests(fixture);
  renewalTests(fixture);
  endTests(fixture);
}

async function digestibleIds(state: State, except: readonly number[] = []): Promise<number[]> {
  return (await state.digestible(except)).map(({ id }) => id);
}

function choiceTests(fixture: () => StateFixture): void {
  test("digestible() gives fingerprints whole, in the order of their turn, and never a critical one", async () => {
    const { state } = fixture();
    const severities: [string, string | null][] = [
      ["plain", null],
      ["a", "warning"],
      ["first", "critical"],
      ["a", "warning"],
      ["high", "HIGH"],
      ["mixed", "warning"],
      ["mixed", "Critical"],
    ];
    const accepted = await acceptAll(
      state,
      ...severities.map(([fingerprint, severity]) => resolvedAlert({ fingerprint, severity })),
    );
    const rows = await state.digestible([]);
    const expected = [4, 1, 3, 0].map((at) => accepted[at]!.messageRow);
    expect(rows.map(({ id }) => id)).toEqual(expected);
    expect(rows[0]).toMatchObject({
      kind: "message",
      alert: { fingerprint: "high" },
      attempts: 0,
      text: null,
      members: [],
    });
    expect(await state.waitingMessages(100)).toBe(5);
    expect(await state.waitingMessages(4)).toBe(4);
  });

  test("digestible() leaves out a fingerprint that was tried, began, or is on its way, and all that wait of it", async () => {
    const { state, setClock } = fixture();
    const [tried, begun, sending, , , , sound] = await acceptRows(
      state,
      ...(["tried", "begun", "sending", "tried", "begun", "sending", "sound"] as const),
    );
    await state.begin(tried, { text: "t" });
    await state.settle(tried, retryAfter(0));
    await state.begin(begun, { text: "b" });
    await setClock(START_MS + SECOND_MS);
    expect(await digestibleIds(state, [sending])).toEqual([sound]);
    expect(await state.waitingMessages(100)).toBe(7);
  });

  test("digestible() gives no more fingerprints than a message combines", async () => {
    const { state } = fixture();
    const fingerprints = Array.from({ length: DIGEST_LIMIT + 5 }, (_, index) => `f${index}`);
    const rows = await acceptRows(state, ...fingerprints, "f0", `f${DIGEST_LIMIT}`);
    const expected = [rows[0]!, rows[DIGEST_LIMIT + 5]!, ...rows.slice(1, DIGEST_LIMIT)];
    expect(await digestibleIds(state)).toEqual(expected);
  });
}

function memberTests(fixture: () => StateFixture): void {
  test("begin() changes nothing when a member has a text, is in another one, waits no more, or is an issue", async () => {
    const { state } = fixture();
    const [main, own, member, digest, gone, free] = await acceptRows(state, "a", "b", "c", "d", "e", "f");
    const issue = issueRowOf(await acceptOne(state, sampleAlert()));
    await state.begin(own, { text: "own" });
    await state.begin(digest, { text: "two", members: [member] });
    await state.settle(gone, DELIVERED);
    const before = await state.listQueued(99);
    for (const bad of [own, member, digest, gone, main, 999_999, issue])
      expect([bad, await state.begin(main, { text: "all", members: [free, bad] })]).toEqual([bad, false]);
    expect(await state.begin(member, { text: "mine" })).toBe(false);
    expect(await state.begin(member, null)).toBe(false);
    expect(await state.listQueued(99)).toEqual(before);
    expect(await state.begunWithin("message", SECOND_MS)).toBe(2);
    expect(await state.begin(main, { text: "all", members: [free] })).toBe(true);
  });
}

function renewalTests(fixture: () => StateFixture): void {
  test("a digest takes another text for the members that it has, which membersOf() gives, and no other members", async () => {
    const { state, setClock } = fixture();
    const [main, b, c, other] = await acceptRows(state, "a", "b", "c", "d");
    expect(await state.membersOf(main)).toEqual([]);
    await state.begin(main, { text: "early", members: [c, b] });
    await state.settle(main, retryAfter(0));
    await setClock(START_MS + SECOND_MS);
    const members = await state.membersOf(main);
    expect(members.map(({ id }) => id)).toEqual([b, c]);
    const first = { kind: "message", alert: { fingerprint: "b" }, waitedMs: SECOND_MS, isRepeat: false };
    expect(members[0]).toMatchObject({ ...first, issueUrl: null });
    expect(await state.begin(main, { text: "more", members: [other] })).toBe(false);
    expect(await state.begin(b, { text: "mine" })).toBe(false);
    expect(await state.begin(main, { text: "late" })).toBe(true);
    const [due] = await dueRows(state, "message", { except: [other] });
    expect(due).toMatchObject({ id: main, text: "late", members: [b, c] });
    await state.settle(main, DELIVERED);
    expect(await state.membersOf(main)).toEqual([]);
    expect(await dueIds(state, "message")).toEqual([other]);
  });
}

function endTests(fixture: () => StateFixture): void {
  test("retried texts with older alerts of each other's fingerprints do not wait for each other", async () => {
    const { state } = fixture();
    const [a1, b1, a2, b2] = await acceptRows(state, "a", "b", "a", "b");
    await state.begin(a2, { text: "a and b", members: [b1] });
    await state.begin(b2, { text: "b and a", members: [a1] });
    for (const row of [a2, b2]) await state.settle(row, UNKNOWN);
    expect(await state.retryDead(null)).toBe(4);
    expect(await dueIds(state, "message")).toEqual([a2, b2]);
    for (const row of [a2, b2]) await state.settle(row, DELIVERED);
    expect(await dueIds(state, "message")).toEqual([]);
  });

  test("what is recorded of a digest is recorded of its members; then the next of each has its turn", async () => {
    const { state } = fixture();
    const [main, b1, b2, a2, b3] = await acceptRows(state, "a", "b", "b", "a", "b");
    await state.begin(main, { text: "three", members: [b1, b2] });
    await state.settle(main, retryAfter(0, { code: "away" }));
    expect((await state.latest("b")).message).toMatchObject({ status: "queued", code: null });
    expect((await state.listQueued(9)).map(({ id, attempts, code }) => [id, attempts, code])).toEqual([
      [main, 1, "away"],
      [b1, 1, "away"],
      [b2, 1, "away"],
      [a2, 0, null],
      [b3, 0, null],
    ]);
    await state.begin(main, null);
    await state.settle(main, deliveredAs("wa-1"));
    expect(await dueIds(state, "message")).toEqual([a2, b3]);
    expect(await state.stats()).toMatchObject({ message: { queued: 2, dead: 0 } });
    expect([...(await state.heldReferences("message", ["wa-1", "wa-2"]))]).toEqual(["wa-1"]);
    expect([...(await state.heldReferences("issue", ["wa-1"]))]).toEqual([]);
    expect(await state.deliveredBetween(SECOND_MS, 0)).toEqual(["wa-1"]);
  });

  test("members of a digest that was dropped are rows of their own again", async () => {
    const { state } = fixture();
    const [main, member, third] = await acceptRows(state, "a", "b", "c");
    await state.begin(main, { text: "all", members: [member, third] });
    expect(await state.dropQueued([third])).toBe(1);
    expect(await state.dropQueued([main])).toBe(1);
    expect(await onlyDue(state)).toMatchObject({ id: member, text: null, members: [] });
    expect(await digestibleIds(state)).toEqual([member]);
    expect(await state.waitingMessages(100)).toBe(1);
  });
}
