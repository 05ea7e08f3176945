import { expect, test } from "bun:test";
import type { Alert } from "../../../../lib/webhook/alert/alert.ts";
import type { AcceptedAlert, DueRow, OutboxKind, State } from "../../../../lib/webhook/state/contract.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  DAY_MS,
  DELIVERED,
  dueIds,
  issueRowOf,
  MINUTE_MS,
  retryAfter,
  SECOND_MS,
  START_MS,
  type StateFixture,
} from "../../support/state-fixture.ts";

const IN_DOUBT = { status: "in_doubt", code: "gateway_timeout" } as const;

/** The suite's tests of how attempts begin and end, and of what is in doubt. */
export function attemptTests(fixture: () => StateFixture): void {
  beginTests(fixture);
  renewalTests(fixture);
  takenUpTests(fixture);
  unansweredTests(fixture);
  endTests(fixture);
  doubtTests(fixture);
}

async function onlyDue(state: State, kind: OutboxKind = "message"): Promise<DueRow> {
  const rows = await state.due(kind, { limit: 9, except: [], issueGraceMs: 0 });
  expect(rows).toHaveLength(1);
  return rows[0]!;
}

function beginTests(fixture: () => StateFixture): void {
  test("an attempt that begins keeps its text, and one whose end was never recorded counts as unclear", async () => {
    const { state, setClock, reopen } = fixture();
    const [accepted] = await acceptAll(state, resolvedAlert());
    const row = accepted!.messageRow;
    const fresh = {
      text: null,
      isUnsettled: false,
      unclear: 0,
      firstBegunAtMs: null,
      unansweredForMs: null,
      members: [],
    };
    expect(await onlyDue(state)).toMatchObject({ ...fresh, attempts: 0, triedMs: 0 });
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

  test("begin() is refused for a row that does not wait, has a text, has none, or does not exist", async () => {
    const { state } = fixture();
    const [first, second] = await acceptAll(state, resolvedAlert(), resolvedAlert({ fingerprint: "f2" }));
    const [row, other] = [first!.messageRow, second!.messageRow];
    expect(await state.begin(row, null)).toBe(false);
    expect(await state.begin(999_999, { text: "none" })).toBe(false);
    expect(await state.begin(row, { text: "one" })).toBe(true);
    expect(await state.begin(row, { text: "two" })).toBe(false);
    expect((await state.due("message", { limit: 1, except: [], issueGraceMs: 0 }))[0]?.text).toBe("one");
    expect(await state.begunWithin("message", MINUTE_MS)).toBe(1);
    for (const [end, settlement] of [
      [row, DELIVERED],
      [other, { status: "dead", code: "refused" }],
    ] as const) {
      await state.settle(end, settlement);
      expect([await state.begin(end, null), await state.begin(end, { text: "late" })]).toEqual([
        false,
        false,
      ]);
    }
    expect(await state.begunWithin("message", MINUTE_MS)).toBe(1);
  });
}

function renewalTests(fixture: () => StateFixture): void {
  test("while no copy can exist a row takes another text, whose first attempt is then the first one", async () => {
    const { state, setClock, reopen } = fixture();
    const row = (await acceptAll(state, resolvedAlert()))[0]!.messageRow;
    await state.begin(row, { text: "early" });
    await state.settle(row, retryAfter(0));
    await setClock(START_MS + MINUTE_MS);
    expect(await state.begin(row, { text: 'late "\u0000' })).toBe(true);
    const late = { text: 'late "\u0000', firstBegunAtMs: START_MS + MINUTE_MS, attempts: 2, unclear: 1 };
    const again = await reopen();
    expect(await onlyDue(again)).toMatchObject({ ...late, isUnsettled: true });
    expect(await again.begunWithin("message", 2 * MINUTE_MS)).toBe(2);
    await again.settle(row, retryAfter(0));
    await setClock(START_MS + 2 * MINUTE_MS);
    expect(await again.begin(row, null)).toBe(true);
    expect(await onlyDue(again)).toMatchObject({ ...late, attempts: 3 });
  });

  test("a row keeps its text from the first attempt on whose end was unclear, or was never recorded", async () => {
    const { state } = fixture();
    const rows = await acceptAll(state, resolvedAlert(), resolvedAlert({ fingerprint: "f2" }));
    const [unclear, unsettled] = rows.map(({ messageRow }) => messageRow) as [number, number];
    await state.begin(unclear, { text: "one" });
    await state.settle(unclear, retryAfter(0, { isUnclear: true }));
    await state.begin(unclear, null);
    await state.settle(unclear, retryAfter(0));
    await state.begin(unsettled, { text: "two" });
    for (const row of [unclear, unsettled]) expect(await state.begin(row, { text: "another" })).toBe(false);
    const due = await state.due("message", { limit: 9, except: [], issueGraceMs: 0 });
    expect(due.map(({ text }) => text)).toEqual(["one", "two"]);
  });
}

function takenUpTests(fixture: () => StateFixture): void {
  const TRIED = {
    ...{ text: "sent before", attempts: 3, unclear: 2, begunForMs: 10 * MINUTE_MS },
    ...{ unansweredForMs: null, delayMs: 5 * SECOND_MS },
  };

  test("what was tried before a row was kept is kept with it, and looked for no sooner than told", async () => {
    const { state, setClock, reopen } = fixture();
    const [accepted] = await acceptAll(state, resolvedAlert());
    await state.takeUp(accepted!.messageRow, TRIED);
    await setClock(START_MS + 5 * SECOND_MS - 1);
    expect(await dueIds(state, "message")).toEqual([]);
    await setClock(START_MS + 5 * SECOND_MS);
    expect(await onlyDue(await reopen())).toMatchObject({
      ...{ text: "sent before", attempts: 3, unclear: 2, isUnsettled: false, members: [] },
      ...{ firstBegunAtMs: START_MS - 10 * MINUTE_MS, unansweredForMs: null },
    });
  });

  test("what an outage left unanswered before a row was kept is looked for when it is due", async () => {
    const { state } = fixture();
    const [accepted] = await acceptAll(state, resolvedAlert());
    await state.takeUp(accepted!.messageRow, {
      ...TRIED,
      ...{ unclear: 0, unansweredForMs: 40 * SECOND_MS, delayMs: 0 },
    });
    expect(await onlyDue(state)).toMatchObject({ unclear: 0, unansweredForMs: 40 * SECOND_MS });
    expect(await state.digestible([])).toEqual([]);
  });

  test("what was tried before is kept in the commit that keeps its alert", async () => {
    const { state, setClock, another } = fixture();
    const text = "sent before \ud83d\udea8 \u0000 \ud83d";
    const message = ({ fingerprint }: Alert) => (fingerprint === "tried" ? { ...TRIED, text } : undefined);
    const alerts = [resolvedAlert({ fingerprint: "tried" }), resolvedAlert({ fingerprint: "other" })];
    const [outcome] = await state.accept([alerts], { issue: () => undefined, message });
    const [tried, other] = (outcome as { accepted: AcceptedAlert[] }).accepted;
    const process = await another();
    expect(await dueIds(process, "message")).toEqual([other!.messageRow]);
    await process.settle(other!.messageRow, DELIVERED);
    await setClock(START_MS + 5 * SECOND_MS);
    expect(await onlyDue(process)).toMatchObject({ id: tried!.messageRow, text, attempts: 3, unclear: 2 });
  });

  test("a row that was begun meanwhile, or has ended, takes nothing up", async () => {
    const { state } = fixture();
    const [begun, ended] = await acceptAll(state, resolvedAlert(), resolvedAlert({ fingerprint: "f2" }));
    await state.begin(begun!.messageRow, { text: "own" });
    await state.settle(ended!.messageRow, DELIVERED);
    for (const { messageRow } of [begun!, ended!]) await state.takeUp(messageRow, TRIED);
    expect(await onlyDue(state)).toMatchObject({ text: "own", unclear: 1 });
  });
}

function unansweredTests(fixture: () => StateFixture): void {
  test("an attempt that was left unanswered stays known, over clear ones and a restart, until the row has another text", async () => {
    const { state, setClock, reopen } = fixture();
    const row = (await acceptAll(state, resolvedAlert()))[0]!.messageRow;
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

  test("a row that was given up unanswered is looked up when it is revived; of a digest the members know it, too", async () => {
    const { state, setClock } = fixture();
    const [row, member] = (await acceptAll(state, resolvedAlert(), resolvedAlert({ fingerprint: "f2" }))).map(
      ({ messageRow }) => messageRow,
    ) as [number, number];
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
    // Without the text that told it there is nothing of it to be looked for.
    await state.dropQueued([row]);
    expect(await onlyDue(state)).toMatchObject({ id: member, text: null });
    // Its own text has left no copy yet.
    expect(await state.begin(member, { text: "alone" })).toBe(true);
    expect(await onlyDue(state)).toMatchObject({ id: member, text: "alone", unansweredForMs: null });
  });
}

function endTests(fixture: () => StateFixture): void {
  test("a retry counts its attempt, its time and whether its end was unclear", async () => {
    const { state, setClock, reopen } = fixture();
    const [accepted] = await acceptAll(state, resolvedAlert());
    const row = accepted!.messageRow;
    await state.begin(row, { text: "t" });
    await state.settle(row, retryAfter(0, { triedMs: 1_500, isUnclear: true }));
    expect(await onlyDue(state)).toMatchObject({ attempts: 1, unclear: 1, triedMs: 1_500 });
    await state.begin(row, null);
    await state.settle(row, retryAfter(0, { triedMs: DAY_MS - 1, code: "gateway_unreachable" }));
    const counted = { attempts: 2, unclear: 1, triedMs: DAY_MS - 1, isUnsettled: false };
    // However long it then waits, stopped or held: only what is recorded counts.
    await setClock(START_MS + 30 * DAY_MS);
    expect(await onlyDue(await reopen())).toMatchObject({ ...counted, waitedMs: 30 * DAY_MS, text: "t" });
  });

  test("an issue's attempts are recorded like a message's", async () => {
    const { state } = fixture();
    const [accepted] = await acceptAll(state, sampleAlert());
    const row = issueRowOf(accepted!);
    expect(await state.begin(row, { text: "body" })).toBe(true);
    expect(await onlyDue(state, "issue")).toMatchObject({ text: "body", isUnsettled: true, attempts: 1 });
    await state.settle(row, retryAfter(0));
    expect(await onlyDue(state, "issue")).toMatchObject({ text: "body", isUnsettled: false, unclear: 0 });
  });

  test("heldReferences() knows the ids of delivered rows, each of its kind", async () => {
    const { state } = fixture();
    const [first, second] = await acceptAll(state, sampleAlert(), resolvedAlert({ fingerprint: "f2" }));
    await state.settle(first!.messageRow, { status: "delivered", reference: "WA-1", url: null });
    await state.settle(issueRowOf(first!), { status: "delivered", reference: "OPS-1", url: null });
    await state.settle(second!.messageRow, DELIVERED);
    const held = async (kind: OutboxKind) => [
      ...(await state.heldReferences(kind, ["OPS-1", "x", "WA-1", "WA-1", ""])),
    ];
    expect([await held("message"), await held("issue"), await held("comment")]).toEqual([
      ["WA-1"],
      ["OPS-1"],
      [],
    ]);
    expect((await state.heldReferences("message", [])).size).toBe(0);
  });
}

function doubtTests(fixture: () => StateFixture): void {
  test("a row in doubt is kept, counted and listed, lets the next one go, and is not repeated", async () => {
    const { state, setClock } = fixture();
    const [first, second] = await acceptAll(state, resolvedAlert(), resolvedAlert());
    await state.begin(first!.messageRow, { text: "t" });
    await setClock(START_MS + SECOND_MS);
    await state.settle(first!.messageRow, IN_DOUBT);
    expect(await dueIds(state, "message")).toEqual([second!.messageRow]);
    expect((await state.stats()).message).toEqual({
      queued: 1,
      dead: 0,
      inDoubt: 1,
      oldestQueuedAgeMs: SECOND_MS,
    });
    expect(await state.listDead()).toMatchObject([
      { id: first!.messageRow, status: "in_doubt", code: "gateway_timeout", attempts: 1 },
    ]);
    await state.settle(second!.messageRow, DELIVERED);
    await setClock(START_MS + DAY_MS);
    expect(await dueIds(state, "message")).toEqual([]);
    expect(await state.begin(first!.messageRow, null)).toBe(false);
    expect((await state.latest("f1")).message?.status).toBe("delivered");
  });

  test("an issue in doubt keeps its claim, so that there is no second one", async () => {
    const { state } = fixture();
    const [accepted] = await acceptAll(state, sampleAlert());
    await state.settle(issueRowOf(accepted!), IN_DOUBT);
    expect((await acceptAll(state, sampleAlert()))[0]?.issue.status).toBe("duplicate");
    expect((await state.latest("f1")).issue?.status).toBe("in_doubt");
  });

  test("retryDead() revives a row in doubt with its text and the time of its first attempt; dropDead() removes it", async () => {
    const { state, setClock } = fixture();
    const rows = (await acceptAll(state, resolvedAlert(), resolvedAlert({ fingerprint: "f2" }))).map(
      ({ messageRow }) => messageRow,
    ) as [number, number];
    for (const row of rows) {
      await state.begin(row, { text: `text ${row}` });
      await state.settle(row, retryAfter(0, { triedMs: 500, isUnclear: true }));
      await state.begin(row, null);
      await state.settle(row, IN_DOUBT);
    }
    await setClock(START_MS + DAY_MS);
    expect(await state.retryDead([rows[0]])).toBe(1);
    expect(await onlyDue(state)).toMatchObject({
      ...{ id: rows[0], text: `text ${rows[0]}`, attempts: 0, unclear: 0, triedMs: 0, isUnsettled: false },
      ...{ firstBegunAtMs: START_MS, waitedMs: DAY_MS },
    });
    expect(await state.begin(rows[0], { text: "anew" })).toBe(true);
    expect(await state.dropDead([rows[1]])).toBe(1);
    expect(await state.listDead()).toEqual([]);
  });
}
