/** What goes out by the fallback channel, and what the next message says of it. */
import { expect } from "bun:test";
import type { State } from "../../../../lib/webhook/store/types.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  acceptOne,
  acceptRows,
  alertsOf,
  CREATED,
  DEAD,
  DELIVERED,
  HOUR_MS,
  ISSUE_URL,
  issueRowOf,
  MAYBE,
  MINUTE_MS,
  MOVES,
  type Move,
  NO_NOTE,
  retryAfter,
  START_MS,
  start,
  tryOnce,
  UNKNOWN,
} from "../../support/state-fixture.ts";
import type { StateTests } from "../../support/state-stores.ts";

const CRITICAL = { severity: " CRITICAL" };
const OF_ALARM = { severity: "info", labels: { via: "other" } };

/** Alerts, what happened to their message, and after how many minutes it is escalated; null: never. */
const ESCALATED: [object, Move | "was e-mailed", number | null][] = [
  [CRITICAL, "waits", 3],
  [OF_ALARM, "waits", 3],
  [{ severity: "high" }, "waits", null],
  [CRITICAL, "may have arrived", 3],
  [OF_ALARM, "is in another text", 3],
  [CRITICAL, "is unknown", 0],
  [CRITICAL, "is dead", null],
  [CRITICAL, "is delivered", null],
  [CRITICAL, "was dropped", null],
  [CRITICAL, "was e-mailed", null],
];

/** Registers the tests of the fallback channel. */
export function fallbackTests({ test, each }: StateTests): void {
  each(ESCALATED)(
    "gets a message of %j that %s after minutes: %p",
    async ({ state, setClock }, changes, move, minutes) => {
      const { messageRow: row, alert } = await acceptOne(state, resolvedAlert(changes));
      if (move === "was e-mailed") await state.recordEmailed([row]);
      else await MOVES[move](state, row);
      const status = move === "is unknown" ? "unknown" : "queued";
      const escalation = { row, alert, status, acceptedAtMs: START_MS, issueUrl: null } as const;
      for (const waited of [0, 2, 3]) {
        await setClock(START_MS + waited * MINUTE_MS);
        const expected = minutes !== null && waited >= minutes ? [escalation] : [];
        expect(await state.escalations(3 * MINUTE_MS)).toEqual(expected);
      }
    },
  );

  test("gets what was accepted before the clock was set back, with the link of its issue", async ({
    state,
    setClock,
  }) => {
    const before = await acceptOne(state, sampleAlert(CRITICAL));
    await state.finish(issueRowOf(before), CREATED);
    await setClock(START_MS - HOUR_MS);
    await acceptOne(state, sampleAlert({ ...CRITICAL, fingerprint: "later" }));
    const found = await state.escalations(3 * MINUTE_MS);
    expect(found).toMatchObject([{ row: before.messageRow, issueUrl: ISSUE_URL }]);
  });

  test("has one e-mail on its way, until its rows are recorded, also over a restart", async ({
    state,
    reopen,
  }) => {
    const [row] = await acceptRows(state, "a");
    expect(await state.pendingEmail()).toBeNull();
    for (const email of ["one", "two"]) await state.keepEmail(email);
    const again = await reopen();
    expect(await again.pendingEmail()).toBe("two");
    await again.recordEmailed([row]);
    expect(await again.pendingEmail()).toBeNull();
    for (const email of ["three", null]) await again.keepEmail(email);
    expect(await again.pendingEmail()).toBeNull();
  });
}

/** What happens to the row that carried a note of two, while a third alert is e-mailed; and what is left to say. */
const CARRIED: [string, number, (state: State, row: number) => Promise<unknown>][] = [
  ["is delivered", 1, (state, row) => state.finish(row, DELIVERED)],
  ["may have arrived", 3, (state, row) => state.finish(row, MAYBE)],
  ["is found by a look-up", 1, (state, row) => endIn(state, row, MAYBE, DELIVERED)],
  ["is delivered with another note", 2, (state, row) => endIn(state, row, retryAfter(0), null, DELIVERED)],
  ["failed", 3, (state, row) => state.finish(row, retryAfter(0))],
  ["is unknown", 3, (state, row) => state.finish(row, UNKNOWN)],
  ["was dropped", 3, (state, row) => state.dropQueued([row])],
];

/** Ends a row in several steps; null begins it again, with a note of one. */
async function endIn(state: State, row: number, ...ends: (Parameters<State["finish"]>[1] | null)[]) {
  for (const end of ends)
    if (end !== null) await state.finish(row, end);
    else await state.begin({ id: row, attempts: 1 }, start("t", [], { emailed: 1, undelivered: 0 }));
}

/** Registers the tests of the recovery note. */
export function noteTests({ test, each }: StateTests): void {
  test("counts each message that was e-mailed or is dead once, and nothing else", async ({
    state,
    reopen,
  }) => {
    const accepted = await acceptAll(state, ...alertsOf("a b c d e"));
    const [a, b, c, d, e] = accepted.map(({ messageRow }) => messageRow);
    const [issue, other] = accepted.map(issueRowOf);
    expect(await state.recoveryNote()).toEqual(NO_NOTE);
    for (const rows of [[a!, b!], [b!, issue!, 999_999], []]) await state.recordEmailed(rows);
    expect(await state.recoveryNote()).toEqual({ emailed: 2, undelivered: 0 });
    await state.finish(other!, DEAD);
    await tryOnce(state, c!, DEAD, start("two", [d!]));
    await state.finish(e!, UNKNOWN);
    await state.finish(a!, DELIVERED);
    await state.dropDead([c!]);
    expect(await (await reopen()).recoveryNote()).toEqual({ emailed: 2, undelivered: 2 });
  });

  each(CARRIED)(
    "when its row %s, %d are left to say; the next one says them",
    async ({ state, another }, _, left, end) => {
      const [carrier, next, ...others] = await acceptRows(state, "carrier", "a", "b", "c");
      await state.recordEmailed([next, others[0]]);
      await state.begin({ id: carrier, attempts: 0 }, start("t", [], await state.recoveryNote()));
      await state.recordEmailed([others[1]]);
      // A row that another process began is ended by this one, after a restart.
      await end(left === 2 ? state : await another(), carrier);
      expect(await state.recoveryNote()).toEqual({ emailed: left, undelivered: 0 });
      await tryOnce(state, next, DELIVERED, start("t", [], await state.recoveryNote()));
      expect(await (await another()).recoveryNote()).toEqual(NO_NOTE);
    },
  );

  test("is never less than nothing, when two rows carry it", async ({ state }) => {
    const [first, second, third] = await acceptRows(state, "a", "b", "c");
    await state.recordEmailed([third]);
    await state.finish(third, DEAD);
    const note = await state.recoveryNote();
    expect(note).toEqual({ emailed: 1, undelivered: 1 });
    for (const row of [first, second]) await state.begin({ id: row, attempts: 0 }, start("t", [], note));
    for (const row of [first, second]) await state.finish(row, DELIVERED);
    expect(await state.recoveryNote()).toEqual(NO_NOTE);
    await state.recordEmailed([first]);
    expect(await state.recoveryNote()).toEqual({ emailed: 1, undelivered: 0 });
  });
}
