import { expect, test } from "bun:test";
import { KEEP_DELIVERED_MS } from "../../../../lib/webhook/state/contract.ts";
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

/** The suite's tests of due rows and of what is recorded of them. */
export function deliveryTests(fixture: () => StateFixture): void {
  turnTests(fixture);
  graceTests(fixture);
  settleTests(fixture);
}

function turnTests(fixture: () => StateFixture): void {
  test("one row of a fingerprint has its turn at a time, the oldest", async () => {
    const { state } = fixture();
    const accepted = await acceptAll(
      state,
      ...["a", "a", "b", "a"].map((fingerprint) => resolvedAlert({ fingerprint })),
    );
    const [a1, a2, b1, a3] = accepted.map(({ messageRow }) => messageRow) as [number, number, number, number];
    expect(await dueIds(state, "message")).toEqual([a1, b1]);
    expect(await dueIds(state, "message", { except: [a1] })).toEqual([b1]);
    expect(await dueIds(state, "message", { limit: 1 })).toEqual([a1]);
    await state.settle(a1, retryAfter(SECOND_MS));
    expect(await dueIds(state, "message")).toEqual([b1]);
    await state.settle(a1, DELIVERED);
    expect(await dueIds(state, "message")).toEqual([a2, b1]);
    await state.settle(a2, { status: "dead", code: "refused" });
    expect(await dueIds(state, "message")).toEqual([b1, a3]);
  });

  test("critical alerts come first, then high ones, then warnings, then the rest, each in order of arrival", async () => {
    const { state } = fixture();
    const severities = ["warning", "critical", null, "high", "CRITICAL", "info", "Warning", " High "];
    const accepted = await acceptAll(
      state,
      ...severities.map((severity, index) => sampleAlert({ severity, fingerprint: `f${index}` })),
    );
    const inOrder = [1, 4, 3, 7, 0, 6, 2, 5].map((index) => accepted[index]!);
    expect(await dueIds(state, "message")).toEqual(inOrder.map(({ messageRow }) => messageRow));
    expect(await dueIds(state, "issue")).toEqual(inOrder.map(issueRowOf));
    expect(await dueIds(state, "message", { limit: 3 })).toHaveLength(3);
  });

  test("a row that failed waits its time, to the millisecond, and counts its attempts and how long it waits", async () => {
    const { state, setClock } = fixture();
    const [{ messageRow } = { messageRow: 0 }] = await acceptAll(state, resolvedAlert());
    await state.settle(messageRow, retryAfter(5 * SECOND_MS));
    await setClock(START_MS + 5 * SECOND_MS - 1);
    expect(await dueIds(state, "message")).toEqual([]);
    await setClock(START_MS + 5 * SECOND_MS);
    const [row] = await state.due("message", { limit: 1, except: [], issueGraceMs: 0 });
    expect(row).toMatchObject({ id: messageRow, attempts: 1, waitedMs: 5 * SECOND_MS });
    expect(await state.latest("f1")).toEqual({
      message: { status: "queued", attempts: 1, code: "timeout", reference: null, url: null },
    });
  });

  test.each([6, 10, 59])(
    "a clock set back by %p minutes holds a row that failed for no longer than five",
    async (minutes) => {
      const { state, setClock } = fixture();
      const [accepted] = await acceptAll(state, resolvedAlert());
      await state.settle(accepted!.messageRow, retryAfter(SECOND_MS));
      const backMs = START_MS - minutes * MINUTE_MS;
      await setClock(backMs);
      expect(await dueIds(state, "message")).toHaveLength(1);
      await state.settle(accepted!.messageRow, retryAfter(5 * MINUTE_MS));
      expect(await dueIds(state, "message")).toEqual([]);
      await setClock(backMs + 5 * MINUTE_MS);
      expect(await dueIds(state, "message")).toHaveLength(1);
    },
  );

  test("a clock set back by a day holds no row for a day, and makes no age negative", async () => {
    const { state, setClock } = fixture();
    const [accepted] = await acceptAll(state, sampleAlert());
    await state.settle(accepted!.messageRow, retryAfter(MINUTE_MS));
    await setClock(START_MS - DAY_MS);
    const [row] = await state.due("message", { limit: 1, except: [], issueGraceMs: 0 });
    expect(row).toMatchObject({ id: accepted!.messageRow, waitedMs: 0 });
    expect((await state.stats()).message.oldestQueuedAgeMs).toBe(0);
    expect(await dueIds(state, "issue", { issueGraceMs: 2 * SECOND_MS })).toEqual([issueRowOf(accepted!)]);
  });
}

function graceTests(fixture: () => StateFixture): void {
  const GRACE = { issueGraceMs: 2 * SECOND_MS };

  test("an issue waits for its own message's first attempt, however that ends", async () => {
    const { state } = fixture();
    const accepted = await acceptAll(
      state,
      ...["sent", "failing", "dead", "waiting"].map((fingerprint) => sampleAlert({ fingerprint })),
    );
    expect(await dueIds(state, "issue", GRACE)).toEqual([]);
    const [sent, failing, dead] = accepted.map(({ messageRow }) => messageRow) as [number, number, number];
    await state.settle(sent, DELIVERED);
    await state.settle(failing, retryAfter(MINUTE_MS));
    await state.settle(dead, { status: "dead", code: "refused" });
    expect(await dueIds(state, "issue", GRACE)).toEqual(accepted.slice(0, 3).map(issueRowOf));
  });

  test("an issue waits for its message no longer than the grace, and not at all without one", async () => {
    const { state, setClock } = fixture();
    const [accepted] = await acceptAll(state, sampleAlert());
    const row = issueRowOf(accepted!);
    expect(await dueIds(state, "issue", { issueGraceMs: 0 })).toEqual([row]);
    await setClock(START_MS + 2 * SECOND_MS - 1);
    expect(await dueIds(state, "issue", GRACE)).toEqual([]);
    await setClock(START_MS + 2 * SECOND_MS);
    expect(await dueIds(state, "issue", GRACE)).toEqual([row]);
    const [due] = await state.due("issue", { limit: 1, except: [], ...GRACE });
    expect(due).toMatchObject({ kind: "issue", claimedAtMs: START_MS, alert: accepted!.alert });
  });
}

function settleTests(fixture: () => StateFixture): void {
  test("a delivered row keeps its reference and link, and is left alone from then on", async () => {
    const { state } = fixture();
    const [accepted] = await acceptAll(state, sampleAlert());
    const row = issueRowOf(accepted!);
    const url = "https://tracker.example/issue/1";
    await state.settle(row, { status: "delivered", reference: "OPS-1", url });
    for (const late of [
      DELIVERED,
      { status: "dead", code: "late" },
      retryAfter(0, { code: "late" }),
    ] as const)
      await state.settle(row, late);
    expect((await state.latest("f1")).issue).toEqual({
      status: "delivered",
      attempts: 1,
      code: null,
      reference: "OPS-1",
      url,
    });
    expect(await dueIds(state, "issue")).toEqual([]);
    expect((await acceptAll(state, sampleAlert()))[0]?.issue).toMatchObject({ status: "duplicate", url });
    await state.settle(999_999, DELIVERED);
  });

  test("latest() tells what became of the newest rows of a fingerprint", async () => {
    const { state } = fixture();
    expect(await state.latest("f1")).toEqual({});
    const [first] = await acceptAll(state, sampleAlert());
    await state.settle(first!.messageRow, { status: "delivered", reference: "m1", url: null });
    await acceptAll(state, resolvedAlert(), sampleAlert({ fingerprint: "other" }));
    const queued = { status: "queued", attempts: 0, code: null, reference: null, url: null } as const;
    expect(await state.latest("f1")).toEqual({ message: queued, issue: queued });
  });

  test("begunWithin() counts the attempts that began lately, of one kind, and none ahead of the clock", async () => {
    const { state, setClock } = fixture();
    const [first, second] = await acceptAll(state, sampleAlert(), resolvedAlert({ fingerprint: "f2" }));
    await state.begin(first!.messageRow, { text: "1" });
    await state.begin(issueRowOf(first!), { text: "" });
    await setClock(START_MS + 10 * SECOND_MS);
    await state.begin(second!.messageRow, { text: "2" });
    await state.settle(second!.messageRow, retryAfter(0));
    await state.begin(second!.messageRow, null);
    await state.settle(second!.messageRow, DELIVERED);
    expect(await state.begunWithin("message", 20 * SECOND_MS)).toBe(3);
    expect(await state.begunWithin("message", 10 * SECOND_MS)).toBe(2);
    expect(await state.begunWithin("issue", 20 * SECOND_MS)).toBe(1);
    await state.prune();
    const other = await fixture().another();
    expect(await other.begunWithin("message", 3_600 * SECOND_MS)).toBe(3);
    await setClock(START_MS);
    expect(await other.begunWithin("message", 20 * SECOND_MS)).toBe(1);
  });

  test("stats() counts what waits and what was given up", async () => {
    const { state, setClock } = fixture();
    const [first, second] = await acceptAll(state, sampleAlert(), sampleAlert({ fingerprint: "f2" }));
    const bytes = Buffer.byteLength(JSON.stringify(sampleAlert()));
    expect((await state.stats()).queuedBytes).toBe(4 * bytes);
    await state.settle(first!.messageRow, DELIVERED);
    await state.settle(issueRowOf(second!), { status: "dead", code: "refused" });
    await setClock(START_MS + SECOND_MS);
    await acceptAll(state, resolvedAlert());
    const { reserveBytes: reserve } = await state.stats();
    expect(await state.stats()).toEqual({
      message: { queued: 2, dead: 0, inDoubt: 0, oldestQueuedAgeMs: SECOND_MS },
      issue: { queued: 1, dead: 1, inDoubt: 0, oldestQueuedAgeMs: SECOND_MS },
      comment: { queued: 0, dead: 0, inDoubt: 0, oldestQueuedAgeMs: null },
      oldestCriticalAgeMs: null,
      reserveBytes: reserve,
      queuedBytes: 2 * bytes + Buffer.byteLength(JSON.stringify(resolvedAlert())),
    });
  });

  test("prune() removes delivered rows that have had their time, and nothing that waits or is dead", async () => {
    const { state, setClock } = fixture();
    const fingerprints = ["delivered", "queued", "dead", "later"];
    const rows = (
      await acceptAll(state, ...fingerprints.map((fingerprint) => resolvedAlert({ fingerprint })))
    ).map(({ messageRow }) => messageRow) as [number, number, number, number];
    await state.settle(rows[0], DELIVERED);
    await state.settle(rows[2], { status: "dead", code: "refused" });
    await setClock(START_MS + 1);
    await state.settle(rows[3], DELIVERED);
    const left = async () => {
      await state.prune();
      const latest = await Promise.all(fingerprints.map((fingerprint) => state.latest(fingerprint)));
      return fingerprints.filter((_, index) => latest[index]?.message !== undefined);
    };
    expect(await left()).toEqual(fingerprints);
    await setClock(START_MS + KEEP_DELIVERED_MS);
    expect(await left()).toEqual(["queued", "dead", "later"]);
  });
}
