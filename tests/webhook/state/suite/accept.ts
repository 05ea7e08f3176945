/** What the state does when it accepts alerts, within its limits. */
import { expect, test } from "bun:test";
import { ISSUE_TTL_MS } from "../../../../lib/webhook/state/contract.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  DAY_MS,
  DELIVERED,
  dueIds,
  issueRowOf,
  MINUTE_MS,
  type OpenStateFixture,
  retryAfter,
  START_MS,
  type StateFixture,
} from "../../support/state-fixture.ts";

/** Registers the tests of rows and messages. */
export function acceptTests(fixture: () => StateFixture): void {
  test("keeps each alert as it came, whatever its texts and labels are called", async () => {
    const { state } = fixture();
    const labels: Record<string, string> = JSON.parse(
      '{"__proto__":"p","constructor":"c","toString":"t","a\\u0000b":"nul"}',
    );
    const alert = sampleAlert({ labels, description: 'ação 🚨 "\\ \u0000 \u2028 \ud800', name: "x'; drop" });
    const [accepted] = await acceptAll(state, alert);
    expect(accepted?.alert).toEqual(alert);
    const [row] = await state.due("message", { limit: 1, except: [], issueGraceMs: 0 });
    expect(JSON.stringify(row?.alert)).toBe(JSON.stringify(alert));
    expect(row).toMatchObject({
      kind: "message",
      attempts: 0,
      waitedMs: 0,
      claimedAtMs: null,
      issueUrl: null,
    });
    expect(row?.id).toBe(accepted?.messageRow as number);
  });

  test("answers each request that waited, in order", async () => {
    const { state } = fixture();
    const outcomes = await state.accept([
      [sampleAlert({ fingerprint: "a" }), sampleAlert({ fingerprint: "b" })],
      [],
      [resolvedAlert({ fingerprint: "c" })],
    ]);
    const fingerprints = outcomes.map((outcome) =>
      "accepted" in outcome ? outcome.accepted.map(({ alert }) => alert.fingerprint) : outcome.refused,
    );
    expect(fingerprints).toEqual([["a", "b"], [], ["c"]]);
    expect(await dueIds(state, "message")).toHaveLength(3);
    expect(await dueIds(state, "issue")).toHaveLength(2);
  });

  test("is on disk when it is answered", async () => {
    const [accepted] = await acceptAll(fixture().state, sampleAlert());
    const state = await fixture().reopen();
    expect(await dueIds(state, "message")).toEqual([accepted?.messageRow as number]);
    expect((await acceptAll(state, sampleAlert()))[0]?.issue.status).toBe("duplicate");
  });
}

/** Registers the tests of issues: one in 30 minutes. */
export function issueTests(fixture: () => StateFixture): void {
  test("claims one issue for a fingerprint, within a request, a batch and over time", async () => {
    const { state, setClock } = fixture();
    const twice = await acceptAll(state, sampleAlert(), sampleAlert());
    expect(twice.map(({ issue }) => issue.status)).toEqual(["first", "duplicate"]);
    expect(twice[1]?.issue).toEqual({ status: "duplicate", claimedAtMs: START_MS, url: null });
    await setClock(START_MS + ISSUE_TTL_MS - 1);
    const [last] = await acceptAll(state, sampleAlert());
    expect(last?.issue).toEqual({ status: "duplicate", claimedAtMs: START_MS, url: null });
    await setClock(START_MS + ISSUE_TTL_MS);
    const [next] = await acceptAll(state, sampleAlert());
    expect(next?.issue).toMatchObject({ status: "first", claimedAtMs: START_MS + ISSUE_TTL_MS });
  });

  test("a resolved alert claims nothing and frees nothing", async () => {
    const { state } = fixture();
    expect((await acceptAll(state, resolvedAlert()))[0]?.issue).toEqual({ status: "not_firing" });
    const outcomes = [sampleAlert(), resolvedAlert(), sampleAlert()];
    const accepted = await acceptAll(state, ...outcomes);
    expect(accepted.map(({ issue }) => issue.status)).toEqual(["first", "not_firing", "duplicate"]);
  });

  test("a clock set back by a day suppresses an issue for no longer than its time", async () => {
    const { state, setClock } = fixture();
    await acceptAll(state, sampleAlert());
    await setClock(START_MS - DAY_MS);
    expect((await acceptAll(state, sampleAlert()))[0]?.issue.status).toBe("duplicate");
    await setClock(START_MS - DAY_MS + ISSUE_TTL_MS);
    expect((await acceptAll(state, sampleAlert()))[0]?.issue.status).toBe("first");
  });

  test("tells duplicates and waiting messages the link, once there is one, for as long as the claim holds", async () => {
    const { state, setClock } = fixture();
    const [accepted] = await acceptAll(state, sampleAlert());
    const url = "https://tracker.example/issue/1";
    await state.settle(issueRowOf(accepted!), { status: "delivered", reference: "OPS-1", url });
    const link = async () =>
      (await state.due("message", { limit: 1, except: [], issueGraceMs: 0 }))[0]?.issueUrl;
    expect(await link()).toBe(url);
    const [duplicate] = await acceptAll(state, sampleAlert());
    expect(duplicate?.issue).toEqual({ status: "duplicate", claimedAtMs: START_MS, url });
    await setClock(START_MS + ISSUE_TTL_MS);
    expect(await link()).toBeNull();
    const [next] = await acceptAll(state, sampleAlert());
    await state.settle(issueRowOf(next!), DELIVERED);
    expect((await acceptAll(state, sampleAlert()))[0]?.issue).toMatchObject({ url: null });
  });

  test("an issue that is dead gives its claim back, one that is tried again does not", async () => {
    const { state } = fixture();
    const [accepted] = await acceptAll(state, sampleAlert());
    const row = issueRowOf(accepted!);
    await state.settle(row, retryAfter(0));
    expect((await acceptAll(state, sampleAlert()))[0]?.issue.status).toBe("duplicate");
    await state.settle(row, { status: "dead", code: "refused" });
    expect((await acceptAll(state, sampleAlert()))[0]?.issue.status).toBe("first");
  });

  test("a late death of an old issue leaves the claim of the next one alone", async () => {
    const { state, setClock } = fixture();
    const [old] = await acceptAll(state, sampleAlert());
    await setClock(START_MS + ISSUE_TTL_MS);
    await acceptAll(state, sampleAlert());
    await state.settle(issueRowOf(old!), { status: "dead", code: "refused" });
    expect((await acceptAll(state, sampleAlert()))[0]?.issue.status).toBe("duplicate");
  });
}

/** Registers the tests of the limits of rows and bytes. */
export function limitTests(open: OpenStateFixture): void {
  test("refuses beyond its rows, until some are delivered; each request whole", async () => {
    const fixture = await open({ limits: { rows: 4, bytes: 1_000_000 } });
    try {
      const { state, setClock } = fixture;
      const three = ["a", "b", "c"].map((fingerprint) => resolvedAlert({ fingerprint }));
      const two = ["d", "e"].map((fingerprint) => resolvedAlert({ fingerprint }));
      const outcomes = await state.accept([three, two, [resolvedAlert({ fingerprint: "f" })]]);
      expect(outcomes.map((outcome) => ("refused" in outcome ? outcome.refused : "kept"))).toEqual([
        "kept",
        "outbox_full",
        "kept",
      ]);
      expect(await state.accept([[resolvedAlert()]])).toEqual([{ refused: "outbox_full" }]);
      expect((await state.stats()).message.queued).toBe(4);
      for (const id of await dueIds(state, "message")) await state.settle(id, DELIVERED);
      await setClock(START_MS + MINUTE_MS);
      expect(await acceptAll(state, resolvedAlert())).toHaveLength(1);
    } finally {
      await fixture.close();
    }
  });

  test("refuses beyond its bytes, and knows within seconds what another process left or took", async () => {
    const size = JSON.stringify(resolvedAlert()).length;
    const fixture = await open({ limits: { rows: 100, bytes: Math.floor(2.5 * size) } });
    try {
      const { state, setClock } = fixture;
      const other = await fixture.another();
      await acceptAll(other, resolvedAlert(), resolvedAlert());
      await setClock(START_MS + MINUTE_MS);
      expect(await state.accept([[resolvedAlert()]])).toEqual([{ refused: "outbox_full" }]);
      const [id] = await dueIds(other, "message");
      await other.settle(id as number, { status: "dead", code: "refused" });
      await setClock(START_MS + 2 * MINUTE_MS);
      expect(await acceptAll(state, resolvedAlert())).toHaveLength(1);
    } finally {
      await fixture.close();
    }
  });
}
