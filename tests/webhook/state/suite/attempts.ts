/** How attempts begin and end, and what is kept of those that may have arrived. */
import { expect } from "bun:test";
import {
  type AttemptEnd,
  type OutboxKind,
  SEND_OVER_MS,
  type State,
} from "../../../../lib/webhook/store/types.ts";
import { sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptOne,
  acceptRows,
  CREATED,
  DAY_MS,
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
  onlyDue,
  retryAfter,
  SECOND_MS,
  START_MS,
  start,
  tryOnce,
  UNKNOWN,
  WITHOUT_TEXT,
} from "../../support/state-fixture.ts";
import type { StateTests } from "../../support/state-stores.ts";

/** What happened to a row, or a member, since the process that begins an attempt saw that it waits. */
const GUARDS: ["row" | "member", Move, boolean][] = [
  ["row", "waits", true],
  ["row", "failed", false],
  ["row", "is on its way", false],
  ["row", "may have arrived", false],
  ["row", "is in another text", false],
  ["row", "is delivered", false],
  ["row", "is dead", false],
  ["row", "is unknown", false],
  ["row", "was dropped", false],
  ["member", "is on its way", false],
  ["member", "may have arrived", false],
  ["member", "is in another text", false],
  ["member", "is delivered", false],
  ["member", "is dead", false],
  ["member", "was dropped", false],
];

const tryAgain = async (
  state: State,
  id: number,
  attempts: number,
  end: AttemptEnd,
  how = start("again"),
) => {
  expect(await state.begin({ id, attempts }, how)).toBe(true);
  await state.finish(id, end);
};

/** Registers the tests of how attempts begin. */
export function beginTests({ test, each, hasLease }: StateTests): void {
  each(GUARDS)(
    "begins as a whole or not at all, when its %s %s: %p",
    async ({ state, reopen }, which, move, begins) => {
      const [row, member, free] = await acceptRows(state, "a", "b", "c");
      await MOVES[move](state, which === "row" ? row : member);
      const queued = await state.listQueued(9);
      const how = { ...start("all", [free, member]), paceAheadMs: MINUTE_MS };
      expect(await state.begin({ id: row, attempts: 0 }, how)).toBe(begins);
      const again = await reopen();
      if (!begins) expect(await again.listQueued(9)).toEqual(queued);
      expect((await again.lanes()).message.paceAheadMs).toBe(begins ? MINUTE_MS : 0);
    },
  );

  test("does not begin for a row that never was, or was tried less often, or with an issue as a member", async ({
    state,
  }) => {
    const [row] = await acceptRows(state, "a");
    const issue = issueRowOf(await acceptOne(state, sampleAlert()));
    expect(await state.begin({ id: 999_999, attempts: 0 }, start("t"))).toBe(false);
    expect(await state.begin({ id: row, attempts: 1 }, start("t"))).toBe(false);
    expect(await state.begin({ id: row, attempts: 0 }, start("t", [issue]))).toBe(false);
    expect(await onlyDue(state, "issue")).toMatchObject({ id: issue, attempts: 0 });
  });

  test("does not begin on a host that lost the lease to another", async ({ state, setClock, another }) => {
    if (!hasLease) return;
    const [row] = await acceptRows(state, "a");
    const other = await another();
    expect([await state.lead(), await other.lead()]).toEqual([true, false]);
    await setClock(START_MS + 15 * SECOND_MS);
    expect(await other.lead()).toBe(true);
    expect(await state.begin({ id: row, attempts: 0 }, start("t"))).toBe(false);
    expect(await other.begin({ id: row, attempts: 0 }, start("t"))).toBe(true);
  });

  test("is due again after a minute when its end was never recorded, as one that may have arrived", async ({
    state,
    setClock,
    reopen,
  }) => {
    const [row, member] = await acceptRows(state, "a", "b");
    const note = { emailed: 2, undelivered: 1 };
    const how = start('Disco 🔴 "cheio" \\ \u2028', [member], note);
    expect(await state.begin({ id: row, attempts: 0 }, how)).toBe(true);
    const again = await reopen();
    const sent = { ...how.content, firstBegunAtMs: START_MS };
    for (const attempts of [1, 2]) {
      await setClock(START_MS + attempts * SEND_OVER_MS - 1);
      expect(await dueIds(again, "message")).toEqual([]);
      await setClock(START_MS + attempts * SEND_OVER_MS);
      const ambiguous = attempts;
      expect(await onlyDue(again)).toMatchObject({ id: row, sent, attempts, ambiguous, members: [member] });
      expect(await again.begin({ id: row, attempts }, how)).toBe(true);
    }
  });

  test("is due again at once when its end was never recorded and it is an issue's", async ({ state }) => {
    const issue = issueRowOf(await acceptOne(state, sampleAlert()));
    expect(await state.begin({ id: issue, attempts: 0 }, WITHOUT_TEXT)).toBe(true);
    expect(await onlyDue(state, "issue")).toMatchObject({ id: issue, attempts: 1, sent: null });
  });

  test("is due, whatever it waits for, when the clock was set back behind its beginning", async ({
    state,
    setClock,
  }) => {
    const [sending, failed] = await acceptRows(state, "a", "b");
    await MOVES["is on its way"](state, sending);
    await tryOnce(state, failed, retryAfter(HOUR_MS));
    for (const backMs of [1, MINUTE_MS, HOUR_MS, DAY_MS]) {
      await setClock(START_MS - backMs);
      const due = await dueRows(state, "message");
      expect([backMs, due]).toMatchObject([backMs, [{ id: sending }, { id: failed, waitedMs: 0 }]]);
    }
    await tryAgain(state, failed, 1, retryAfter(5 * MINUTE_MS));
    expect(await dueIds(state, "message")).toEqual([sending]);
    await setClock(START_MS - DAY_MS + 5 * MINUTE_MS);
    expect(await dueIds(state, "message")).toEqual([sending, failed]);
  });

  test("keeps for how long the rate limit is used up, by the store's clock, over a restart", async ({
    state,
    setClock,
    reopen,
  }) => {
    const [first, second] = await acceptRows(state, "a", "b");
    const none = { pausedBy: null, paceAheadMs: 0 };
    expect(await state.lanes()).toEqual({ message: none, issue: none, comment: none });
    await state.begin({ id: first, attempts: 0 }, { ...start("t"), paceAheadMs: 20_000 });
    const again = await reopen();
    const ahead = async (atMs: number) => {
      await setClock(START_MS + atMs);
      return (await again.lanes()).message.paceAheadMs;
    };
    expect([await ahead(5_000), (await again.lanes()).issue]).toEqual([15_000, none]);
    await again.begin({ id: second, attempts: 0 }, { ...start("t"), paceAheadMs: 17_000 });
    expect([await ahead(21_999), await ahead(22_000), await ahead(30_000)]).toEqual([1, 0, 0]);
    // Over a clock that was set back, no longer than it was.
    expect(await ahead(-DAY_MS)).toBeLessThanOrEqual(17_000);
  });

  test("finds its lane paused for the reason that was given last, over a restart", async ({
    state,
    reopen,
  }) => {
    const paused = async (of: State) => Object.values(await of.lanes()).map(({ pausedBy }) => pausedBy);
    await state.pauseLane("message", "gateway_unauthorized");
    await state.pauseLane("issue", "tracker_unauthorized");
    await state.pauseLane("message", "sem_instancia_gateway");
    const again = await reopen();
    expect(await paused(again)).toEqual(["sem_instancia_gateway", "tracker_unauthorized", null]);
    await again.pauseLane("issue", null);
    expect(await paused(again)).toEqual(["sem_instancia_gateway", null, null]);
  });
}

/** How a text of "a" and twice "b" ends, and which rows are due then: "a", twice "b", "a" and "b" once more. */
const ENDS: [string, AttemptEnd, number[]][] = [
  ["delivered", deliveredAs("wa-1"), [3, 4]],
  ["dead", DEAD, [3, 4]],
  ["unknown", UNKNOWN, [3, 4]],
  ["to be tried again", retryAfter(0, { code: "other" }), [0, 1]],
  ["perhaps there", retryAfter(0, { code: "other", mayHaveArrived: true }), [0]],
];

/** Registers the tests of how attempts end. */
export function finishTests({ test, each }: StateTests): void {
  each(ENDS)(
    "a text that is %s is that for all whose alerts it tells",
    async ({ state, reopen }, _, end, expected) => {
      const rows = await acceptRows(state, "a", "b", "b", "a", "b");
      await tryOnce(state, rows[0], end, start("three", rows.slice(1, 3)));
      const again = await reopen();
      expect(await dueIds(again, "message")).toEqual(expected.map((at) => rows[at]!));
      const listed = [...(await again.listQueued(9)), ...(await again.listDead())];
      const told = listed.filter(({ id }) => rows.slice(0, 3).includes(id));
      const code = end.status === "delivered" ? null : end.code;
      expect(told).toMatchObject(
        code === null ? [] : [0, 1, 2].map((at) => ({ id: rows[at], code, attempts: 1 })),
      );
      await again.dropQueued([rows[3], rows[4]]);
      const status = end.status === "retry" ? "queued" : end.status;
      for (const fingerprint of ["a", "b"])
        expect((await again.latest(fingerprint)).message).toMatchObject({ status, code, attempts: 1 });
    },
  );

  test("the gateway's id of a delivered text is one, of a message", async ({ state, setClock }) => {
    const [main, member] = await acceptRows(state, "a", "b");
    await tryOnce(state, main, deliveredAs("wa-1"), start("two", [member]));
    await setClock(START_MS + SECOND_MS);
    expect([...(await state.heldReferences("message", ["wa-1", "wa-2"]))]).toEqual(["wa-1"]);
    expect([...(await state.heldReferences("issue", ["wa-1"]))]).toEqual([]);
    expect([...(await state.heldReferences("message", []))]).toEqual([]);
    expect(await state.deliveredBetween(MINUTE_MS, 0)).toEqual(["wa-1"]);
  });

  test("a text is kept exactly while it may have arrived, and counts as it was said", async ({
    state,
    setClock,
    reopen,
  }) => {
    const [row, member] = await acceptRows(state, "a", "b");
    const maybe = (ambiguous: number, triedMs: number) =>
      retryAfter(0, { ambiguous, triedMs, mayHaveArrived: true });
    const free = { id: member, sent: null, members: [] };
    await tryOnce(state, row, retryAfter(0, { triedMs: 10 }), start("early", [member]));
    const early = { id: row, sent: null, members: [], attempts: 1, triedMs: 10, ambiguous: 0 };
    expect(await dueRows(state, "message")).toMatchObject([early, free]);
    await setClock(START_MS + MINUTE_MS);
    await tryAgain(state, row, 1, maybe(0, 20), start("one", [member]));
    const sent = { text: "one", firstBegunAtMs: START_MS + MINUTE_MS };
    expect(await onlyDue(state)).toMatchObject({ sent, members: [member], triedMs: 20, ambiguous: 0 });
    await setClock(START_MS + HOUR_MS);
    const again = await reopen();
    await tryAgain(again, row, 2, maybe(2, 30), start("one", [member]));
    expect(await onlyDue(again)).toMatchObject({ sent, members: [member], triedMs: 30, ambiguous: 2 });
    await tryAgain(again, row, 3, retryAfter(0, { triedMs: 40 }), start("one", [member]));
    expect(await dueRows(again, "message")).toMatchObject([{ ...early, attempts: 4, triedMs: 40 }, free]);
    await tryAgain(again, row, 4, maybe(1, 50), start("two"));
    const later = { text: "two", firstBegunAtMs: START_MS + HOUR_MS };
    expect(await dueRows(again, "message")).toMatchObject([{ id: row, sent: later }, free]);
  });

  each<[OutboxKind]>([["message"], ["issue"]])(
    "a delay of an hour lasts an hour, also after a restart: %s",
    async ({ state, setClock, reopen }, kind) => {
      const accepted = await acceptOne(state, sampleAlert());
      const row = kind === "message" ? accepted.messageRow : issueRowOf(accepted);
      await tryOnce(state, row, retryAfter(HOUR_MS), kind === "message" ? start("t") : WITHOUT_TEXT);
      const again = await reopen();
      for (const afterMs of [0, 5 * MINUTE_MS, HOUR_MS - 1, HOUR_MS]) {
        await setClock(START_MS + afterMs);
        expect([afterMs, await dueIds(again, kind)]).toEqual([afterMs, afterMs < HOUR_MS ? [] : [row]]);
      }
      const queued = (await again.listQueued(9)).find(({ id }) => id === row);
      expect(queued?.nextAttemptAt).toBe(new Date(START_MS + HOUR_MS).toISOString());
    },
  );

  each<[AttemptEnd]>([[DELIVERED], [DEAD], [UNKNOWN]])(
    "nothing changes a row that ended: %j",
    async ({ state, reopen }, end) => {
      const [row] = await acceptRows(state, "a");
      await state.finish(row, end);
      const before = [await state.latest("a"), await state.recoveryNote()];
      for (const late of [
        deliveredAs("late"),
        { ...DEAD, code: "late" },
        { ...UNKNOWN, code: "late" },
        MAYBE,
      ])
        await state.finish(row, late);
      const again = await reopen();
      expect([await again.latest("a"), await again.recoveryNote()]).toEqual(before);
      expect(await dueIds(again, "message")).toEqual([]);
      await again.finish(999_999, DELIVERED);
    },
  );

  test("a delivered issue keeps its reference and its link", async ({ state }) => {
    await tryOnce(state, issueRowOf(await acceptOne(state, sampleAlert())), CREATED, WITHOUT_TEXT);
    const { issue } = await state.latest("f1");
    expect(issue).toEqual({
      status: "delivered",
      attempts: 1,
      code: null,
      reference: "OPS-1",
      url: ISSUE_URL,
    });
  });
}
