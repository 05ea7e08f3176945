/** How attempts begin and end, and what is kept of those that may have arrived. */
import { expect, test } from "bun:test";
import type { Alert } from "../../../../lib/webhook/alert/alert.ts";
import type { AcceptedAlert, TriedBefore } from "../../../../lib/webhook/state/contract.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptOne,
  acceptRows,
  DAY_MS,
  DEAD,
  DELIVERED,
  dueIds,
  dueRows,
  issueRowOf,
  MINUTE_MS,
  onlyDue,
  retryAfter,
  SECOND_MS,
  START_MS,
  type StateFixture,
  UNKNOWN,
} from "../../support/state-fixture.ts";

/** Registers these tests. */
export function attemptTests(fixture: () => StateFixture): void {
  beginTests(fixture);
  triedBeforeTests(fixture);
  unansweredTests(fixture);
  unknownTests(fixture);
}

function beginTests(fixture: () => StateFixture): void {
  test("keeps its text, and counts as unclear when its end was never recorded", async () => {
    const { state, setClock, reopen } = fixture();
    const [row] = await acceptRows(state, "f1");
    const fresh = { isUnsettled: false, firstBegunAtMs: null, unansweredForMs: null, members: [] };
    expect(await onlyDue(state)).toMatchObject({ ...fresh, text: null, unclear: 0, attempts: 0, triedMs: 0 });
    await setClock(START_MS + SECOND_MS);
    const text = 'Disco 🔴 "cheio" \\ \u2028';
    expect(await state.begin(row, { text })).toBe(true);
    const begun = { text, isUnsettled: true, unclear: 1, attempts: 1, firstBegunAtMs: START_MS + SECOND_MS };
    const again = await reopen();
    expect(await onlyDue(again)).toMatchObject(begun);
    await setClock(START_MS + MINUTE_MS);
    expect(await again.begin(row, null)).toBe(true);
    expect(await onlyDue(again)).toMatchObject({ ...begun, unclear: 2, attempts: 2 });
    await again.settle(row, retryAfter(0));
    expect(await onlyDue(again)).toMatchObject({ ...begun, isUnsettled: false, unclear: 1, attempts: 2 });
  });

  test("freezes its text when its end was unclear, or was never recorded", async () => {
    const { state } = fixture();
    const [unclear, unsettled] = await acceptRows(state, "f1", "f2");
    await state.begin(unclear, { text: "one" });
    await state.settle(unclear, retryAfter(0, { isUnclear: true }));
    await state.begin(unclear, null);
    await state.settle(unclear, retryAfter(0));
    await state.begin(unsettled, { text: "two" });
    for (const row of [unclear, unsettled]) expect(await state.begin(row, { text: "another" })).toBe(false);
    expect((await dueRows(state, "message")).map(({ text }) => text)).toEqual(["one", "two"]);
  });

  test("does not begin for a row that has ended, has a text, has none, or does not exist", async () => {
    const { state } = fixture();
    const [row, other] = await acceptRows(state, "f1", "f2");
    expect(await state.begin(row, null)).toBe(false);
    expect(await state.begin(999_999, { text: "none" })).toBe(false);
    expect(await state.begin(row, { text: "one" })).toBe(true);
    expect(await state.begin(row, { text: "two" })).toBe(false);
    expect((await dueRows(state, "message"))[0]?.text).toBe("one");
    await state.settle(row, DELIVERED);
    await state.settle(other, DEAD);
    for (const ended of [row, other])
      for (const begun of [null, { text: "late" }]) expect(await state.begin(ended, begun)).toBe(false);
    expect(await state.begunWithin("message", MINUTE_MS)).toBe(1);
  });

  test("is counted by the time at which it began, of one kind, by any process, and not ahead of the clock", async () => {
    const { state, setClock, another } = fixture();
    const first = await acceptOne(state, sampleAlert());
    const [second] = await acceptRows(state, "f2");
    await state.begin(first.messageRow, { text: "1" });
    await state.begin(issueRowOf(first), { text: "" });
    await setClock(START_MS + 10 * SECOND_MS);
    await state.begin(second, { text: "2" });
    await state.settle(second, retryAfter(0));
    await state.begin(second, null);
    await state.settle(second, DELIVERED);
    expect(await state.begunWithin("message", 20 * SECOND_MS)).toBe(3);
    expect(await state.begunWithin("message", 10 * SECOND_MS)).toBe(2);
    expect(await state.begunWithin("issue", 20 * SECOND_MS)).toBe(1);
    await state.prune();
    const other = await another();
    expect(await other.begunWithin("message", 3_600 * SECOND_MS)).toBe(3);
    await setClock(START_MS);
    expect(await other.begunWithin("message", 20 * SECOND_MS)).toBe(1);
  });
}

function triedBeforeTests(fixture: () => StateFixture): void {
  const TRIED: TriedBefore = {
    ...{
      text: "sent before \ud83d\udea8 \u0000 \ud83d",
      attempts: 3,
      unclear: 2,
      begunForMs: 10 * MINUTE_MS,
    },
    ...{ unansweredForMs: null, delayMs: 5 * SECOND_MS },
  };

  test.each([
    ["may have arrived", TRIED],
    ["a proxy answered", { ...TRIED, unclear: 0, unansweredForMs: 40 * SECOND_MS }],
  ])(
    "an attempt that %s before its row was kept is taken up, and looked for after its delay",
    async (_, tried) => {
      const { state, setClock, reopen } = fixture();
      const [row] = await acceptRows(state, "f1");
      await state.takeUp(row, tried);
      await setClock(START_MS + 5 * SECOND_MS - 1);
      expect(await dueIds(state, "message")).toEqual([]);
      expect(await state.digestible([])).toEqual([]);
      await setClock(START_MS + 5 * SECOND_MS);
      const { text, attempts, unclear, unansweredForMs } = tried;
      expect(await onlyDue(await reopen())).toMatchObject({
        ...{ text, attempts, unclear, isUnsettled: false, members: [] },
        firstBegunAtMs: START_MS - 10 * MINUTE_MS,
        unansweredForMs: unansweredForMs && unansweredForMs + 5 * SECOND_MS,
      });
    },
  );

  test("is kept in the commit that keeps its alert", async () => {
    const { state, setClock, another } = fixture();
    const message = ({ fingerprint }: Alert) => (fingerprint === "tried" ? TRIED : undefined);
    const alerts = [resolvedAlert({ fingerprint: "tried" }), resolvedAlert({ fingerprint: "other" })];
    const [outcome] = await state.accept([alerts], { issue: () => undefined, message });
    const [tried, other] = (outcome as { accepted: AcceptedAlert[] }).accepted;
    const process = await another();
    expect(await dueIds(process, "message")).toEqual([other!.messageRow]);
    await process.settle(other!.messageRow, DELIVERED);
    await setClock(START_MS + 5 * SECOND_MS);
    const taken = { id: tried!.messageRow, text: TRIED.text, attempts: 3, unclear: 2 };
    expect(await onlyDue(process)).toMatchObject(taken);
  });

  test("is not taken up by a row that was begun meanwhile, or has ended", async () => {
    const { state } = fixture();
    const [begun, ended] = await acceptRows(state, "f1", "f2");
    await state.begin(begun, { text: "own" });
    await state.settle(ended, DELIVERED);
    for (const row of [begun, ended]) await state.takeUp(row, TRIED);
    expect(await onlyDue(state)).toMatchObject({ id: begun, text: "own", unclear: 1 });
  });
}

function unansweredTests(fixture: () => StateFixture): void {
  test("an attempt that a proxy answered stays known, over clear ones and a restart, until the row has another text", async () => {
    const { state, setClock, reopen } = fixture();
    const [row] = await acceptRows(state, "f1");
    await state.begin(row, { text: "one" });
    await setClock(START_MS + SECOND_MS);
    await state.settle(row, retryAfter(0, { isUnanswered: true }));
    await state.begin(row, null);
    await setClock(START_MS + MINUTE_MS);
    await state.settle(row, retryAfter(0));
    const again = await reopen();
    const known = { firstBegunAtMs: START_MS, unansweredForMs: 59 * SECOND_MS, unclear: 0, text: "one" };
    expect(await onlyDue(again)).toMatchObject(known);
    await setClock(START_MS + 2 * MINUTE_MS);
    await again.begin(row, null);
    await again.settle(row, retryAfter(0, { isUnanswered: true }));
    expect(await onlyDue(again)).toMatchObject({ ...known, unansweredForMs: 0 });
    expect(await again.begin(row, { text: "two" })).toBe(true);
    expect(await onlyDue(again)).toMatchObject({ text: "two", unansweredForMs: null });
  });

  test("an attempt that a proxy answered is known when its row is revived, and by the members of its text", async () => {
    const { state, setClock } = fixture();
    const [row, member] = await acceptRows(state, "f1", "f2");
    await state.begin(row, { text: "both", members: [member] });
    await state.settle(row, retryAfter(0, { isUnanswered: true }));
    await setClock(START_MS + SECOND_MS);
    await state.settle(row, { status: "dead", code: "gateway_http_504", isUnanswered: true });
    await setClock(START_MS + DAY_MS);
    expect(await state.retryDead([row])).toBe(2);
    expect(await onlyDue(state)).toMatchObject({
      ...{ id: row, members: [member], text: "both", unclear: 0, firstBegunAtMs: START_MS },
      unansweredForMs: DAY_MS - SECOND_MS,
    });
    // Without the text that had it there is nothing of it to be looked for, and its own text has left no copy yet.
    await state.dropQueued([row]);
    expect(await onlyDue(state)).toMatchObject({ id: member, text: null });
    expect(await state.begin(member, { text: "alone" })).toBe(true);
    expect(await onlyDue(state)).toMatchObject({ id: member, text: "alone", unansweredForMs: null });
  });
}

function unknownTests(fixture: () => StateFixture): void {
  test("an unknown row can be dropped, or retried with its text and the time of its first attempt", async () => {
    const { state, setClock } = fixture();
    const [revived, dropped] = await acceptRows(state, "f1", "f2");
    for (const row of [revived, dropped]) {
      await state.begin(row, { text: `text ${row}` });
      await state.settle(row, retryAfter(0, { triedMs: 500, isUnclear: true }));
      await state.begin(row, null);
      await state.settle(row, UNKNOWN);
    }
    await setClock(START_MS + DAY_MS);
    expect(await state.retryDead([revived])).toBe(1);
    expect(await onlyDue(state)).toMatchObject({
      ...{ id: revived, text: `text ${revived}`, attempts: 0, unclear: 0, triedMs: 0, isUnsettled: false },
      ...{ firstBegunAtMs: START_MS, waitedMs: DAY_MS },
    });
    expect(await state.begin(revived, { text: "anew" })).toBe(true);
    expect(await state.dropDead([dropped])).toBe(1);
    expect(await state.listDead()).toEqual([]);
  });
}
