/** How much a store looks at for one call of the service while a hundred thousand rows wait. */
import { describe, expect, test } from "bun:test";
import type { OutboxKind } from "../../../lib/webhook/store/model.ts";
import type { State } from "../../../lib/webhook/store/outbox.ts";
import { repeat, type ShareOf, STEP, withFullDatabase, withFullFile } from "../support/many-rows.ts";
import {
  acceptAll,
  acceptRows,
  alertsOf,
  DELIVERED,
  dueIds,
  MINUTE_MS,
  MOVES,
  retryAfter,
  START_MS,
  start,
  tryOnce,
} from "../support/state-fixture.ts";
import { describeStores } from "../support/state-stores.ts";

/** What one call may look at, of all that there is: 5,000 of 25,000 issues, and some. */
const SHARE = 0.3;

/** What is different in each repetition, "i". */
const SHAPES: [string, Record<string, string>][] = [
  ["of many fingerprints", { fingerprint: "'f' || i", issue_id: "issue_id || i" }],
  ["of one fingerprint", { issue_id: "issue_id || i" }],
  ["when none is due", { fingerprint: "'f' || i", due_at: `${START_MS + MINUTE_MS}` }],
];

const due = (kind: OutboxKind) => (state: State) => dueIds(state, kind, { limit: 8, issueGraceMs: 2_000 });

/** What the service calls every second, for each post and for each message. */
const CALLS: Record<string, (state: State) => Promise<unknown>> = {
  "due(message)": due("message"),
  "due(issue)": due("issue"),
  "due(comment)": due("comment"),
  probe: (state) => dueIds(state, "message", { limit: 1, isProbe: true }),
  digestible: (state) => state.digestible([], 50),
  escalations: (state) => state.escalations(MINUTE_MS),
  deliveredBetween: (state) => state.deliveredBetween(MINUTE_MS, 0),
  heldReferences: (state) => state.heldReferences("message", ["a", "b"]),
  alertRecords: (state) => state.alertRecords(["f1", "f500"]),
  recent: (state) => state.recent(200),
  accept: (state) => acceptAll(state, ...alertsOf("f a- b!")),
  attempts: async (state) => {
    const [row, other, member] = await acceptRows(state, "x", "y", "z");
    await tryOnce(state, row, retryAfter(0));
    await tryOnce(state, other, DELIVERED, start("t", [member]));
    await MOVES["is dead"](state, row);
  },
  dropQueued: (state) => state.dropQueued([STEP * 77 + 1]),
};

async function expectBounded(shareOf: ShareOf, except = ""): Promise<void> {
  for (const [name, call] of Object.entries(CALLS)) {
    const share = name === except ? 0 : await shareOf(call);
    expect([name, share, share < SHARE]).toEqual([name, share, true]);
  }
}

describe.each(SHAPES)("with a hundred thousand rows %s", (_, changes) => {
  test("a file finds what it needs by an index", () => withFullFile(changes, expectBounded), 300_000);

  test("PostgreSQL finds what it needs by an index, whether its statistics know of it or not", async () => {
    await withFullDatabase(changes, async (shareOf, sql) => {
      // The status page may be slow until then.
      await expectBounded(shareOf, "recent");
      await sql`analyze`;
      await expectBounded(shareOf);
    });
  }, 300_000);
});

describeStores(({ test }) => {
  test("a row is found behind 4,999 that may not go, and waits behind more", async ({ state, store }) => {
    const [first] = await acceptRows(state, "f");
    await repeat(store, 4_999, {});
    await tryOnce(state, first, retryAfter(MINUTE_MS));
    const [other] = await acceptRows(state, "other");
    expect(await dueIds(state, "message")).toEqual([]);
    await state.dropQueued([first + STEP]);
    expect(await dueIds(state, "message")).toEqual([other]);
  });
});
