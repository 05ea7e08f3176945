import { expect, test } from "bun:test";
import { KEEP_ENDED_MS } from "../../../../lib/webhook/state/contract.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  DELIVERED,
  dueIds,
  issueRowOf,
  MINUTE_MS,
  type OpenStateFixture,
  retryAfter,
  SECOND_MS,
  START_MS,
  type StateFixture,
} from "../../support/state-fixture.ts";

/** The suite's tests of the queue that operators see, of holds, and of how long ended rows are kept. */
export function queueTests(fixture: () => StateFixture): void {
  listTests(fixture);
  dropTests(fixture);
  holdTests(fixture);
  keepTests(fixture);
}

function listTests(fixture: () => StateFixture): void {
  test("listQueued() shows what waits in the order in which it would go out, without the alert's text", async () => {
    const { state } = fixture();
    const accepted = await acceptAll(
      state,
      sampleAlert({ severity: null, name: null }),
      resolvedAlert({ severity: "critical", fingerprint: "f2" }),
    );
    const [plain, critical] = accepted.map(({ messageRow }) => messageRow) as [number, number];
    await state.begin(plain, { text: "t" });
    await state.settle(plain, retryAfter(MINUTE_MS));
    const issue = issueRowOf(accepted[0]!);
    const [first, second, third] = await state.listQueued(9);
    const acceptedAt = new Date(START_MS).toISOString();
    expect(first).toEqual({
      ...{ id: critical, kind: "message", digest: null, alertname: "VPS Load Average Alto" },
      ...{ fingerprint: "f2", squad: "infra", severity: "critical", attempts: 0, code: null },
      ...{ acceptedAt, nextAttemptAt: null },
    });
    expect(second).toEqual({
      ...{ id: plain, kind: "message", digest: null, alertname: null, fingerprint: "f1", squad: "infra" },
      ...{ severity: null, attempts: 1, code: "timeout", acceptedAt },
      nextAttemptAt: new Date(START_MS + MINUTE_MS).toISOString(),
    });
    expect(third).toMatchObject({ id: issue, kind: "issue" });
    expect((await state.listQueued(2)).map(({ id }) => id)).toEqual([critical, plain]);
  });
}

function dropTests(fixture: () => StateFixture): void {
  test("dropQueued() removes the rows that were named, or all, and lets the next one of a fingerprint go", async () => {
    const { state } = fixture();
    const rows = (
      await acceptAll(state, ...["a", "a", "b", "c"].map((fingerprint) => resolvedAlert({ fingerprint })))
    ).map(({ messageRow }) => messageRow) as [number, number, number, number];
    await state.settle(rows[3], { status: "dead", code: "refused" });
    expect(await state.dropQueued([])).toBe(0);
    expect(await state.dropQueued([rows[0], rows[3], 999_999])).toBe(1);
    expect(await dueIds(state, "message")).toEqual([rows[1], rows[2]]);
    await state.settle(rows[0], DELIVERED);
    expect((await state.stats()).message).toMatchObject({ queued: 2, dead: 1 });
    expect(await state.dropQueued(null)).toBe(2);
    expect(await dueIds(state, "message")).toEqual([]);
    expect((await state.stats()).queuedBytes).toBe(0);
    expect(await state.listDead()).toHaveLength(1);
  });

  test("a dropped issue gives its claim back", async () => {
    const { state } = fixture();
    const [accepted] = await acceptAll(state, sampleAlert());
    expect(await state.dropQueued([issueRowOf(accepted!)])).toBe(1);
    expect(await dueIds(state, "issue")).toEqual([]);
    expect((await acceptAll(state, sampleAlert()))[0]?.issue.status).toBe("first");
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

function keepTests(fixture: () => StateFixture): void {
  test("prune() removes what was given up or is in doubt when it has had its time, and nothing that waits", async () => {
    const { state, setClock } = fixture();
    const fingerprints = ["dead", "in doubt", "queued", "later"];
    const rows = (
      await acceptAll(state, ...fingerprints.map((fingerprint) => resolvedAlert({ fingerprint })))
    ).map(({ messageRow }) => messageRow) as [number, number, number, number];
    await state.settle(rows[0], { status: "dead", code: "refused" });
    await state.settle(rows[1], { status: "in_doubt", code: "gateway_timeout" });
    await setClock(START_MS + 1);
    await state.settle(rows[3], { status: "dead", code: "refused" });
    await setClock(START_MS + KEEP_ENDED_MS - 1);
    await state.prune();
    expect((await state.listDead()).map(({ id }) => id)).toEqual([rows[0], rows[1], rows[3]]);
    await setClock(START_MS + KEEP_ENDED_MS);
    await state.prune();
    expect((await state.listDead()).map(({ id }) => id)).toEqual([rows[3]]);
    expect(await state.stats()).toMatchObject({ message: { queued: 1, dead: 1, inDoubt: 0 } });
  });

  test("stats() tells how long the oldest critical message waits, however young a warning is", async () => {
    const { state, setClock } = fixture();
    const critical = { severity: "Critical", fingerprint: "critical" };
    const [accepted] = await acceptAll(state, resolvedAlert(critical));
    await setClock(START_MS + SECOND_MS);
    await acceptAll(state, resolvedAlert(critical), resolvedAlert());
    expect((await state.stats()).oldestCriticalAgeMs).toBe(SECOND_MS);
    await state.settle(accepted!.messageRow, DELIVERED);
    expect((await state.stats()).oldestCriticalAgeMs).toBe(0);
    await state.dropQueued(null);
    expect((await state.stats()).oldestCriticalAgeMs).toBeNull();
  });
}

/** The suite's test of what is kept for critical alerts. */
export function criticalShareTests(open: OpenStateFixture): void {
  test("the last tenth of the rows and of the bytes is for requests with a critical alert", async () => {
    const critical = { severity: " CRITICAL", fingerprint: "critical" };
    const size = Buffer.byteLength(JSON.stringify(resolvedAlert(critical)));
    for (const limits of [
      { rows: 10, bytes: 1_000 * size },
      { rows: 1_000, bytes: 10 * size },
    ]) {
      const fixture = await open({ limits });
      try {
        const { state } = fixture;
        const nine = Array.from({ length: 9 }, () => resolvedAlert({ ...critical, severity: "warning9" }));
        expect(await state.accept([nine, [resolvedAlert()], [resolvedAlert(critical)]])).toMatchObject([
          { accepted: nine.map(() => ({})) },
          { refused: "outbox_full" },
          { accepted: [{}] },
        ]);
        expect(await state.accept([[resolvedAlert(critical)]])).toEqual([{ refused: "outbox_full" }]);
      } finally {
        await fixture.close();
      }
    }
  });
}
