/** Which rows are due, and what is recorded of them. */
import { expect, test } from "bun:test";
import { KEEP_DELIVERED_MS, KEEP_ENDED_MS } from "../../../../lib/webhook/state/contract.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  acceptOne,
  acceptRows,
  CREATED,
  DAY_MS,
  DEAD,
  DELIVERED,
  deliveredAs,
  dueIds,
  ISSUE_URL,
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
export function deliveryTests(fixture: () => StateFixture): void {
  clockTests(fixture);
  settleTests(fixture);
  keepTests(fixture);
}

function clockTests(fixture: () => StateFixture): void {
  test.each([6, 10, 59])(
    "a clock set back by %p minutes holds a row that failed for no longer than five",
    async (minutes) => {
      const { state, setClock } = fixture();
      const [row] = await acceptRows(state, "f1");
      await state.settle(row, retryAfter(SECOND_MS));
      const backMs = START_MS - minutes * MINUTE_MS;
      await setClock(backMs);
      expect(await dueIds(state, "message")).toHaveLength(1);
      await state.settle(row, retryAfter(5 * MINUTE_MS));
      expect(await dueIds(state, "message")).toEqual([]);
      await setClock(backMs + 5 * MINUTE_MS);
      expect(await dueIds(state, "message")).toHaveLength(1);
    },
  );

  test("a clock set back by a day holds no row for a day, and makes no age negative", async () => {
    const { state, setClock } = fixture();
    const accepted = await acceptOne(state, sampleAlert());
    await state.settle(accepted.messageRow, retryAfter(MINUTE_MS));
    await setClock(START_MS - DAY_MS);
    expect(await onlyDue(state)).toMatchObject({ id: accepted.messageRow, waitedMs: 0 });
    expect((await state.stats()).message.oldestQueuedAgeMs).toBe(0);
    expect(await dueIds(state, "issue", { issueGraceMs: 2 * SECOND_MS })).toEqual([issueRowOf(accepted)]);
  });
}

function settleTests(fixture: () => StateFixture): void {
  test("a delivered row keeps its reference and link, and nothing changes it from then on", async () => {
    const { state } = fixture();
    const row = issueRowOf(await acceptOne(state, sampleAlert()));
    await state.settle(row, CREATED);
    for (const late of [DELIVERED, DEAD, UNKNOWN, retryAfter(0)]) await state.settle(row, late);
    const delivered = { status: "delivered", attempts: 1, code: null, reference: "OPS-1", url: ISSUE_URL };
    expect((await state.latest("f1")).issue).toMatchObject(delivered);
    expect(await dueIds(state, "issue")).toEqual([]);
    await state.settle(999_999, DELIVERED);
  });

  test("stats() counts what waits and what is dead, with its bytes and its age", async () => {
    const { state, setClock } = fixture();
    const [first, second] = await acceptAll(state, sampleAlert(), sampleAlert({ fingerprint: "f2" }));
    const bytes = Buffer.byteLength(JSON.stringify(sampleAlert()));
    expect((await state.stats()).queuedBytes).toBe(4 * bytes);
    await state.settle(first!.messageRow, DELIVERED);
    await state.settle(issueRowOf(second!), DEAD);
    await setClock(START_MS + SECOND_MS);
    const end = resolvedAlert({ fingerprint: "f3" });
    await acceptOne(state, end);
    const { reserveBytes } = await state.stats();
    expect(await state.stats()).toEqual({
      message: { queued: 2, dead: 0, inDoubt: 0, oldestQueuedAgeMs: SECOND_MS },
      issue: { queued: 1, dead: 1, inDoubt: 0, oldestQueuedAgeMs: SECOND_MS },
      comment: { queued: 0, dead: 0, inDoubt: 0, oldestQueuedAgeMs: null },
      oldestCriticalAgeMs: null,
      reserveBytes,
      queuedBytes: 2 * bytes + Buffer.byteLength(JSON.stringify(end)),
    });
  });

  test("stats() says how long the oldest critical message waits, however young a warning is", async () => {
    const { state, setClock } = fixture();
    const critical = { severity: "Critical", fingerprint: "critical" };
    const oldest = await acceptOne(state, resolvedAlert(critical));
    await setClock(START_MS + SECOND_MS);
    await acceptAll(state, resolvedAlert(critical), resolvedAlert());
    expect((await state.stats()).oldestCriticalAgeMs).toBe(SECOND_MS);
    await state.settle(oldest.messageRow, DELIVERED);
    expect((await state.stats()).oldestCriticalAgeMs).toBe(0);
    await state.dropQueued(null);
    expect((await state.stats()).oldestCriticalAgeMs).toBeNull();
  });
}

function keepTests(fixture: () => StateFixture): void {
  const KEPT = [
    ["30 days when it was delivered", DELIVERED, KEEP_DELIVERED_MS],
    ["90 days when it is dead", DEAD, KEEP_ENDED_MS],
    ["90 days when it is unknown", UNKNOWN, KEEP_ENDED_MS],
  ] as const;
  test.each(KEPT)(
    "a row is kept for %s, to the millisecond, and one that waits for ever",
    async (_, end, keptMs) => {
      const { state, setClock } = fixture();
      const [first, , later] = await acceptRows(state, "first", "waits", "later");
      await state.settle(first, end);
      await setClock(START_MS + 1);
      await state.settle(later, end);
      const left = async (atMs: number) => {
        await setClock(atMs);
        await state.prune();
        return (await state.recent(9)).map(({ row }) => row - first);
      };
      expect(await left(START_MS + keptMs - 1)).toEqual([2, 1, 0]);
      expect(await left(START_MS + keptMs)).toEqual([2, 1]);
      expect(await left(START_MS + keptMs + 1)).toEqual([1]);
      expect((await state.stats()).message).toMatchObject({ queued: 1, dead: 0, inDoubt: 0 });
    },
  );

  test("heldReferences() knows the ids of delivered rows, each of its kind, however long and odd", async () => {
    const { state } = fixture();
    const references = ["WA-1", "nul\u0000 \ud800", "x".repeat(9_000), `${"x".repeat(8_999)}y`];
    const alerts = references.map((_, at) => sampleAlert({ fingerprint: `f${at}` }));
    const accepted = await acceptAll(state, ...alerts, resolvedAlert({ fingerprint: "without" }));
    for (const [at, reference] of references.entries())
      await state.settle(accepted[at]!.messageRow, deliveredAs(reference));
    await state.settle(accepted.at(-1)!.messageRow, DELIVERED);
    await state.settle(issueRowOf(accepted[0]!), CREATED);
    const asked = [...references, "OPS-1", "WA-1", "", "other", "x".repeat(8_999)];
    const held = async (kind: "message" | "issue" | "comment") =>
      [...(await state.heldReferences(kind, asked))].sort();
    expect(await held("message")).toEqual(references.toSorted());
    expect(await held("issue")).toEqual(["OPS-1"]);
    expect(await held("comment")).toEqual([]);
    expect((await state.heldReferences("message", [])).size).toBe(0);
  });
}
