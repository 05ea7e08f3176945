/** Which rows are due and may share a message, and how their attempts begin and end. */

import { expect } from "bun:test";
import {
  type AttemptEnd,
  DIGEST_LIMIT,
  type OutboxKind,
  SEND_OVER_MS,
} from "../../../../lib/webhook/store/model.ts";
import type { State } from "../../../../lib/webhook/store/outbox.ts";
import { sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  acceptOne,
  acceptRows,
  alertsOf,
  DAY_MS,
  DEAD,
  DELIVERED,
  deliveredAs,
  dueIds,
  dueRows,
  ENDED,
  HOUR_MS,
  issueRowOf,
  MAYBE,
  MINUTE_MS,
  MOVED,
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

const EACH_MOVE = MOVED.map((move): [Move] => [move]);

const messages = async (state: State, names: string) =>
  (await acceptAll(state, ...alertsOf(names))).map(({ messageRow }) => messageRow);

/** Alerts in the order of their arrival, and the places of those that are due. */
const ORDERS: [string, string, number[]][] = [
  ["by severity, then by arrival", "a b. c d^ e! f! g", [4, 5, 3, 0, 2, 6, 1]],
  ["one of a fingerprint", "a a! b^ a", [2, 0]],
  ["none before an older one of its fingerprint", "b a c a b", [0, 1, 2]],
];

/** Registers the tests of the order. */
export function dueTests({ test, each }: StateTests): void {
  each(ORDERS)("come %s", async ({ state }, _, names, expected) => {
    const rows = await messages(state, names);
    const due = expected.map((at) => rows[at]!);
    expect(await dueIds(state, "message")).toEqual(due);
    expect(await dueIds(state, "message", { limit: 1 })).toEqual(due.slice(0, 1));
    expect(await dueIds(state, "message", { limit: 1, except: due.slice(0, 1) })).toEqual(due.slice(1, 2));
  });

  each(EACH_MOVE)("of a fingerprint and kind, when the one before %s", async ({ state }, move) => {
    const [first, second] = await acceptAll(state, ...alertsOf("a a!"));
    await MOVES[move](state, first!.messageRow);
    const due = await dueIds(state, "message");
    expect(due.includes(second!.messageRow)).toBe(ENDED.includes(move));
    expect(await dueIds(state, "issue")).toEqual([issueRowOf(first!)]);
  });

  each(EACH_MOVE)("of an issue whose message %s, within its grace", async ({ state, setClock }, move) => {
    const accepted = await acceptOne(state, sampleAlert());
    const issue = issueRowOf(accepted);
    await MOVES[move](state, accepted.messageRow);
    const due = async (afterMs: number, issueGraceMs = 2 * SECOND_MS) => {
      await setClock(START_MS + afterMs);
      return await dueIds(state, "issue", { issueGraceMs });
    };
    expect(await due(2 * SECOND_MS - 1)).toEqual(/^waits|way$/.test(move) ? [] : [issue]);
    expect(await due(0, 0)).toEqual([issue]);
    for (const afterMs of [2 * SECOND_MS, -DAY_MS]) expect(await due(afterMs)).toEqual([issue]);
  });

  test("by how often they were tried, for a lane that is half open", async ({ state }) => {
    const [urgent, twice, once, never] = await messages(state, "a! b c d");
    for (const row of [urgent!, twice!, once!]) await tryOnce(state, row, retryAfter(0));
    for (const row of [urgent!, twice!]) await tryOnce(state, row, retryAfter(0), start("t"), 1);
    expect(await dueIds(state, "message", { isProbe: true })).toEqual([never!, once!, urgent!, twice!]);
    expect(await dueIds(state, "message", { isProbe: true, limit: 1, except: [never!] })).toEqual([once!]);
    expect(await dueIds(state, "message")).toEqual([urgent!, twice!, once!, never!]);
  });

  /** A column that was damaged, and what is in it. */
  const DAMAGES = ["alert: half a te", "alert: null", "alert: {}", "content: no text"].map((one) => [one]);
  each(DAMAGES as [string][])(
    "with one that is damaged as an alert without a text, %s",
    async ({ state, store }, damage) => {
      const [spoilt, next, other] = await acceptRows(state, "a", "a", "b");
      const [column, text = ""] = damage.split(": ");
      const spoil = `update {outbox} set ${column} = $2 where id = $1`;
      await store.write((sql) => sql.run(spoil, [spoilt, text]));
      const [due, ...others] = await dueRows(state, "message");
      expect(due).toMatchObject({ id: spoilt, sent: null, alert: { fingerprint: "a" } });
      expect(others.map(({ id }) => id)).toEqual([other]);
      expect(await state.recent(9)).toHaveLength(3);
      await state.finish(spoilt, DELIVERED);
      expect(await dueIds(state, "message")).toEqual([next, other]);
    },
  );
}

/** Registers the tests of what one message may tell. */
export function digestibleTests({ test, each }: StateTests): void {
  const digestible = async (state: State, except: number[] = [], most = 0) =>
    (await state.digestible(except, most)).map(({ id }) => id);
  /** How many wait: the least that are too few for a digest. */
  const expectWaiting = async (state: State, waiting: number) => {
    expect(await digestible(state, [], waiting - 1)).not.toEqual([]);
    expect(await digestible(state, [], waiting)).toEqual([]);
  };

  test("fingerprints in the order of their turn, without what is critical", async ({ state }) => {
    const rows = await messages(state, "p. a c! a h^- m m!");
    expect(await digestible(state)).toEqual([4, 1, 3, 5, 0].map((at) => rows[at]!));
    const [first] = await state.digestible([], 0);
    expect(first).toMatchObject({ kind: "message", alert: { fingerprint: "h" }, sent: null, members: [] });
    await expectWaiting(state, 5);
  });

  const WAITING: Move[] = ["waits", "failed", "is tried again later", "may have arrived", "is on its way"];
  each(WAITING.map((move) => [move]))(
    "two of a fingerprint or none, when one %s",
    async ({ state }, move) => {
      const [first, other, second] = await acceptRows(state, "a", "b", "a");
      await MOVES[move](state, first);
      const isTold = move === "waits" || move === "failed";
      expect((await digestible(state)).toSorted()).toEqual(isTold ? [first, other, second] : [other]);
      expect(await digestible(state, [second])).toEqual([other]);
      await expectWaiting(state, 3);
    },
  );

  test("no more fingerprints than one message tells", async ({ state }) => {
    const names = Array.from({ length: DIGEST_LIMIT }, (_, at) => `f${at}`);
    const rows = await acceptRows(state, ...names, "x", "f0", "x");
    const [x1, f0, x2] = rows.slice(DIGEST_LIMIT);
    const members = (await digestible(state)).toSorted((one, other) => one - other);
    expect(members).toEqual([...rows.slice(0, DIGEST_LIMIT), f0!]);
    await state.begin({ id: members[0]!, attempts: 0 }, start("t", members.slice(1)));
    expect(await digestible(state)).toEqual([x1!, x2!]);
    await expectWaiting(state, 3);
  });
}

/** Registers the tests of how attempts begin. */
export function beginTests({ test, each, hasLease }: StateTests): void {
  const GUARDS = ["row", "member"].flatMap((which) => MOVED.map((move): [string, Move] => [which, move]));
  each(GUARDS)("begins whole or not at all, when its %s %s", async ({ state, reopen }, which, move) => {
    const [row, member, free] = await acceptRows(state, "a", "b", "c");
    await MOVES[move](state, which === "row" ? row : member);
    const queued = await state.listQueued(9);
    const how = { ...start("all", [free, member]), paceAheadMs: MINUTE_MS };
    // A member that failed, and waits alone, may be a member again.
    const begins = move === "waits" || (which === "member" && /^failed|later$/.test(move));
    expect(await state.begin({ id: row, attempts: 0 }, how)).toBe(begins);
    const again = await reopen();
    if (!begins) expect(await again.listQueued(9)).toEqual(queued);
    expect((await again.lanes()).message.paceAheadMs).toBe(begins ? MINUTE_MS : 0);
  });

  test("does not begin for a row that is none, or was begun less often", async ({ state }) => {
    const [id] = await acceptRows(state, "a");
    for (const row of [
      { id: 999, attempts: 0 },
      { id, attempts: 1 },
    ])
      expect(await state.begin(row, start("t"))).toBe(false);
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

  test("is due after a minute when its end was not recorded", async ({ state, setClock, reopen }) => {
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

  test("is due at once when its end was not recorded, of an issue", async ({ state }) => {
    const issue = issueRowOf(await acceptOne(state, sampleAlert()));
    expect(await state.begin({ id: issue, attempts: 0 }, WITHOUT_TEXT)).toBe(true);
    expect(await onlyDue(state, "issue")).toMatchObject({ id: issue, attempts: 1, sent: null });
  });

  test("is due when the clock was set back behind its beginning", async ({ state, setClock }) => {
    const [sending, failed] = await acceptRows(state, "a", "b");
    await MOVES["is on its way"](state, sending);
    await tryOnce(state, failed, retryAfter(HOUR_MS));
    for (const backMs of [1, MINUTE_MS, HOUR_MS, DAY_MS]) {
      await setClock(START_MS - backMs);
      const due = await dueRows(state, "message");
      expect([backMs, due]).toMatchObject([backMs, [{ id: sending }, { id: failed, waitedMs: 0 }]]);
    }
    await tryOnce(state, failed, retryAfter(5 * MINUTE_MS), start("t"), 1);
    expect(await dueIds(state, "message")).toEqual([sending]);
    await setClock(START_MS - DAY_MS + 5 * MINUTE_MS);
    expect(await dueIds(state, "message")).toEqual([sending, failed]);
  });

  test("keeps for how long the rate limit is used up", async ({ state, setClock, reopen }) => {
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

  test("waits for a lane that is paused, over a restart", async ({ state, reopen }) => {
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
  each(ENDS)("a text that is %s is so for all its alerts", async ({ state, reopen }, _, end, expected) => {
    const rows = await acceptRows(state, "a", "b", "b", "a", "b");
    await tryOnce(state, rows[0], end, start("three", rows.slice(1, 3)));
    const again = await reopen();
    expect(await dueIds(again, "message")).toEqual(expected.map((at) => rows[at]!));
    const listed = [...(await again.listQueued(9)), ...(await again.listDead())];
    const members = listed.filter(({ id }) => rows.slice(0, 3).includes(id));
    const code = end.status === "delivered" ? null : end.code;
    expect(members.map((row) => [row.code, row.attempts])).toEqual(
      code === null ? [] : Array(3).fill([code, 1]),
    );
    await again.dropQueued([rows[3], rows[4]]);
    const status = end.status === "retry" ? "queued" : end.status;
    for (const fingerprint of ["a", "b"])
      expect((await again.latest(fingerprint)).message).toMatchObject({ status, code, attempts: 1 });
  });

  test("a text is kept exactly while it may have arrived", async ({ state, setClock, reopen }) => {
    const [row, member] = await acceptRows(state, "a", "b");
    const maybe = (ambiguous: number, triedMs: number) =>
      retryAfter(0, { ambiguous, triedMs, mayHaveArrived: true });
    const free = { id: member, sent: null, members: [] };
    await tryOnce(state, row, retryAfter(0, { triedMs: 10 }), start("early", [member]));
    const early = { id: row, sent: null, members: [], attempts: 1, triedMs: 10, ambiguous: 0 };
    expect(await dueRows(state, "message")).toMatchObject([early, free]);
    await setClock(START_MS + MINUTE_MS);
    await tryOnce(state, row, maybe(0, 20), start("one", [member]), 1);
    const sent = { text: "one", firstBegunAtMs: START_MS + MINUTE_MS };
    expect(await onlyDue(state)).toMatchObject({ sent, members: [member], triedMs: 20, ambiguous: 0 });
    await setClock(START_MS + HOUR_MS);
    const again = await reopen();
    await tryOnce(again, row, maybe(2, 30), start("one", [member]), 2);
    expect(await onlyDue(again)).toMatchObject({ sent, members: [member], triedMs: 30, ambiguous: 2 });
    await tryOnce(again, row, retryAfter(0, { triedMs: 40 }), start("one", [member]), 3);
    expect(await dueRows(again, "message")).toMatchObject([{ ...early, attempts: 4, triedMs: 40 }, free]);
    await tryOnce(again, row, maybe(1, 50), start("two"), 4);
    const later = { text: "two", firstBegunAtMs: START_MS + HOUR_MS };
    expect(await dueRows(again, "message")).toMatchObject([{ id: row, sent: later }, free]);
  });

  each(["message", "issue"].map((kind) => [kind as OutboxKind]))(
    "a delay of an hour lasts an hour: %s",
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

  const ALL: [AttemptEnd][] = [[DELIVERED], [DEAD], [UNKNOWN]];
  each(ALL)("nothing changes what ended: %j", async ({ state, reopen }, end) => {
    const [row] = await acceptRows(state, "a");
    await state.finish(row, end);
    const before = [await state.latest("a"), await state.recoveryNote()];
    for (const late of [DELIVERED, DEAD, UNKNOWN, MAYBE]) await state.finish(row, late);
    const again = await reopen();
    expect([await again.latest("a"), await again.recoveryNote()]).toEqual(before);
    expect(await dueIds(again, "message")).toEqual([]);
    await again.finish(999_999, DELIVERED);
  });
}
