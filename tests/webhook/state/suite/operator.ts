/** What operators see and change: what waits, what is dead, and which channels are paused. */
import { expect, test } from "bun:test";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  acceptOne,
  acceptRows,
  DAY_MS,
  DEAD,
  DELIVERED,
  dueIds,
  issueRowOf,
  MINUTE_MS,
  retryAfter,
  SECOND_MS,
  START_MS,
  type StateFixture,
} from "../../support/state-fixture.ts";

/** Registers these tests. */
export function operatorTests(fixture: () => StateFixture): void {
  listTests(fixture);
  dropTests(fixture);
  holdTests(fixture);
}

function listTests(fixture: () => StateFixture): void {
  const acceptedAt = new Date(START_MS).toISOString();

  test("listQueued() shows what waits in the order in which it would go out, without the alert's text", async () => {
    const { state } = fixture();
    const critical = { severity: "critical", fingerprint: "f2" };
    const alerts = [sampleAlert({ severity: null, name: null }), resolvedAlert(critical)];
    const [plain, urgent] = await acceptAll(state, ...alerts);
    await state.begin(plain!.messageRow, { text: "t" });
    await state.settle(plain!.messageRow, retryAfter(MINUTE_MS));
    const common = { kind: "message", digest: null, squad: "infra", acceptedAt } as const;
    expect(await state.listQueued(9)).toEqual([
      {
        ...{ ...common, ...critical, id: urgent!.messageRow, alertname: "VPS Load Average Alto" },
        ...{ attempts: 0, code: null, nextAttemptAt: null },
      },
      {
        ...{ ...common, id: plain!.messageRow, alertname: null, fingerprint: "f1", severity: null },
        ...{ attempts: 1, code: "timeout", nextAttemptAt: new Date(START_MS + MINUTE_MS).toISOString() },
      },
      expect.objectContaining({ id: issueRowOf(plain!), kind: "issue" }),
    ]);
    expect(await state.listQueued(2)).toHaveLength(2);
  });

  test("listDead() names what is dead and why, without the alert's text", async () => {
    const { state, setClock } = fixture();
    const { messageRow } = await acceptOne(state, resolvedAlert({ name: null }));
    await state.settle(messageRow, retryAfter(0));
    await setClock(START_MS + DAY_MS);
    await state.settle(messageRow, DEAD);
    expect(await state.listDead()).toEqual([
      {
        ...{ id: messageRow, kind: "message", status: "dead", digest: null, alertname: null },
        ...{ fingerprint: "f1", squad: "infra", attempts: 2, code: "refused" },
        ...{ acceptedAt, diedAt: new Date(START_MS + DAY_MS).toISOString() },
      },
    ]);
  });

  test.each(["half a te", "null", "{}"])(
    "a row whose alert is %s is dead, and holds neither the next one of its fingerprint nor the others",
    async (text) => {
      const { state, spoil } = fixture();
      const [spoilt, next, other] = await acceptRows(state, "a", "a", "b");
      await spoil(spoilt, text);
      expect(await dueIds(state, "message")).toEqual([other]);
      expect(await dueIds(state, "message")).toEqual([next, other]);
      expect(await state.listDead()).toMatchObject([{ id: spoilt, code: "alert_unreadable" }]);
    },
  );
}

function dropTests(fixture: () => StateFixture): void {
  test("dropQueued() removes the rows that were named, or all, and lets the next one of a fingerprint go", async () => {
    const { state } = fixture();
    const [a1, a2, b, dead] = await acceptRows(state, "a", "a", "b", "c");
    await state.settle(dead, DEAD);
    expect(await state.dropQueued([])).toBe(0);
    expect(await state.dropQueued([a1, dead, 999_999])).toBe(1);
    expect(await dueIds(state, "message")).toEqual([a2, b]);
    await state.settle(a1, DELIVERED);
    expect((await state.stats()).message).toMatchObject({ queued: 2, dead: 1 });
    expect(await state.dropQueued(null)).toBe(2);
    expect(await dueIds(state, "message")).toEqual([]);
    expect((await state.stats()).queuedBytes).toBe(0);
    expect(await state.listDead()).toHaveLength(1);
  });

  test("dropDead() removes the dead rows that were named, or all, and nothing else", async () => {
    const { state } = fixture();
    const [first, second, third, waits, delivered] = await acceptRows(state, "a", "b", "c", "d", "e");
    for (const row of [first, second, third]) await state.settle(row, DEAD);
    await state.settle(delivered, DELIVERED);
    expect(await state.dropDead([])).toBe(0);
    expect(await state.dropDead([first, waits, delivered, 999_999])).toBe(1);
    expect(await state.dropQueued([delivered])).toBe(0);
    expect((await state.listDead()).map(({ id }) => id)).toEqual([second, third]);
    expect(await state.dropDead(null)).toBe(2);
    expect(await state.listDead()).toEqual([]);
    expect(await dueIds(state, "message")).toEqual([waits]);
    expect((await state.latest("e")).message).toMatchObject({ status: "delivered" });
  });
}

function holdTests(fixture: () => StateFixture): void {
  test("holds() remembers why each channel holds and since when, over a restart, until it does not", async () => {
    const { state, setClock, reopen } = fixture();
    expect(await state.holds()).toEqual({ message: null, issue: null, comment: null });
    await state.hold("message", "gateway_unauthorized");
    await setClock(START_MS + SECOND_MS);
    await state.hold("message", "gateway_unauthorized");
    await state.hold("issue", "tracker_unauthorized");
    const again = await reopen();
    expect(await again.holds()).toEqual({
      message: { code: "gateway_unauthorized", sinceMs: START_MS },
      issue: { code: "tracker_unauthorized", sinceMs: START_MS + SECOND_MS },
      comment: null,
    });
    await again.hold("message", "sem_instancia_gateway");
    await again.hold("issue", null);
    await again.hold("comment", null);
    expect(await again.holds()).toEqual({
      message: { code: "sem_instancia_gateway", sinceMs: START_MS + SECOND_MS },
      issue: null,
      comment: null,
    });
  });
}
