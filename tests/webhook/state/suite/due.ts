/** Which rows are due, in which order, and which of them one message may tell. */
import { expect } from "bun:test";
import { DIGEST_LIMIT, type State } from "../../../../lib/webhook/store/types.ts";
import { sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  acceptOne,
  acceptRows,
  alertsOf,
  DAY_MS,
  dueIds,
  issueRowOf,
  MOVES,
  type Move,
  retryAfter,
  SECOND_MS,
  START_MS,
  start,
  tryOnce,
} from "../../support/state-fixture.ts";
import type { StateTests } from "../../support/state-stores.ts";

const messages = async (state: State, names: string) =>
  (await acceptAll(state, ...alertsOf(names))).map(({ messageRow }) => messageRow);

/** Alerts in the order of their arrival, and the places of those that are due. */
const ORDERS: [string, string, number[]][] = [
  ["by severity, then by arrival", "a b. c d^ e! f! g", [4, 5, 3, 0, 2, 6, 1]],
  ["one of a fingerprint", "a a! b^ a", [2, 0]],
  ["none before an older one of its fingerprint", "b a c a b", [0, 1, 2]],
];

/** What happened to a row, and whether the next one of its fingerprint is due then. */
const NEXT: [Move, boolean][] = [
  ["waits", false],
  ["is on its way", false],
  ["is tried again later", false],
  ["may have arrived", false],
  ["is in another text", false],
  ["is delivered", true],
  ["is dead", true],
  ["is unknown", true],
  ["was dropped", true],
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

  each(NEXT)(
    "behind a row that %s, the next of its fingerprint and kind: %p",
    async ({ state }, move, isDue) => {
      const [first, second] = await acceptAll(state, ...alertsOf("a a!"));
      await MOVES[move](state, first!.messageRow);
      expect((await dueIds(state, "message")).includes(second!.messageRow)).toBe(isDue);
      expect(await dueIds(state, "issue")).toEqual([issueRowOf(first!)]);
    },
  );

  each((Object.keys(MOVES) as Move[]).map((move) => [move] as const))(
    "of an issue whose message %s: within its grace",
    async ({ state, setClock }, move) => {
      const accepted = await acceptOne(state, sampleAlert());
      const issue = issueRowOf(accepted);
      await MOVES[move](state, accepted.messageRow);
      const due = (issueGraceMs: number) => dueIds(state, "issue", { issueGraceMs });
      expect(await due(0)).toEqual([issue]);
      await setClock(START_MS + 2 * SECOND_MS - 1);
      expect(await due(2 * SECOND_MS)).toEqual(move === "waits" ? [] : [issue]);
      for (const ms of [START_MS + 2 * SECOND_MS, START_MS - DAY_MS]) {
        await setClock(ms);
        expect(await due(2 * SECOND_MS)).toEqual([issue]);
      }
    },
  );

  test("come to a lane that is half open by how often they were tried", async ({ state }) => {
    const [urgent, twice, once, never] = await acceptRows(state, "a", "b", "c", "d");
    for (const row of [urgent, twice, once]) await tryOnce(state, row, retryAfter(0));
    for (const row of [urgent, twice]) {
      await state.begin({ id: row, attempts: 1 }, start("t"));
      await state.finish(row, retryAfter(0));
    }
    expect(await dueIds(state, "message", { isProbe: true })).toEqual([never, once, urgent, twice]);
    expect(await dueIds(state, "message", { isProbe: true, limit: 1, except: [never] })).toEqual([once]);
    expect(await dueIds(state, "message")).toEqual([urgent, twice, once, never]);
  });

  /** A column that was damaged, and what is in it. */
  const DAMAGES: [string, string][] = [
    ["alert", "half a te"],
    ["alert", "null"],
    ["alert", "{}"],
    ["content", "no text"],
  ];
  each(DAMAGES)(
    "end when their %s is %j, and keep no other from its turn",
    async ({ state, store }, column, text) => {
      const [spoilt, next, other] = await acceptRows(state, "a", "a", "b");
      const spoil = `update {outbox} set ${column} = $2 where id = $1`;
      await store.write("spoil a row", (sql) => sql.run(spoil, [spoilt, text]));
      expect(await dueIds(state, "message")).toEqual([other]);
      expect(await dueIds(state, "message")).toEqual([next, other]);
      expect(await state.listDead()).toMatchObject([
        { id: spoilt, status: "dead", code: "alert_unreadable" },
      ]);
      expect(await state.recent(9)).toHaveLength(3);
    },
  );
}

/** What happened to the first row of a fingerprint of which two wait, and whether a message may tell both. */
const TOGETHER: [Move, boolean][] = [
  ["waits", true],
  ["failed", true],
  ["is tried again later", false],
  ["may have arrived", false],
  ["is on its way", false],
];

/** Registers the tests of what one message may tell. */
export function digestibleTests({ test, each }: StateTests): void {
  const digestible = async (state: State, except: number[] = []) =>
    (await state.digestible(except)).map(({ id }) => id);

  test("whole fingerprints, in the order of their turn, without one that is critical", async ({ state }) => {
    const rows = await messages(state, "p. a c! a h^- m m!");
    expect(await digestible(state)).toEqual([4, 1, 3, 0].map((at) => rows[at]!));
    const [first] = await state.digestible([]);
    expect(first).toMatchObject({ kind: "message", alert: { fingerprint: "h" }, sent: null, members: [] });
    expect([await state.waitingMessages(99), await state.waitingMessages(4)]).toEqual([5, 4]);
  });

  each(TOGETHER)("both of a fingerprint or none; when the first %s: %p", async ({ state }, move, isTold) => {
    const [first, other, second] = await acceptRows(state, "a", "b", "a");
    await MOVES[move](state, first);
    expect((await digestible(state)).toSorted()).toEqual(isTold ? [first, other, second] : [other]);
    expect(await digestible(state, [second])).toEqual([other]);
    expect(await state.waitingMessages(99)).toBe(3);
  });

  test("no more fingerprints than one message tells", async ({ state }) => {
    const names = Array.from({ length: DIGEST_LIMIT }, (_, at) => `f${at}`);
    const rows = await acceptRows(state, ...names, "x", "f0", "x");
    const [x1, f0, x2] = rows.slice(DIGEST_LIMIT);
    const told = (await digestible(state)).toSorted((one, other) => one - other);
    expect(told).toEqual([...rows.slice(0, DIGEST_LIMIT), f0!]);
    await state.begin({ id: told[0]!, attempts: 0 }, start("t", told.slice(1)));
    expect(await digestible(state)).toEqual([x1!, x2!]);
    expect(await state.waitingMessages(99)).toBe(3);
  });
}
