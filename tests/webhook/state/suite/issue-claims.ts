/** What every store must do with claims on issues that were made, or are asked for, without a row. */
import { expect, test } from "bun:test";
import { ISSUE_TTL_MS, type OutboxKind } from "../../../../lib/webhook/state/contract.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import { acceptAll, issueRowOf, START_MS, type StateFixture } from "../../support/state-fixture.ts";

const URL_1 = "https://tracker.example/issue/1";
const ODD = "a'\"\u0000\\ ç \ud83d\udea8";

const TRIED = { issue: () => START_MS - 60_000, message: () => undefined };

/** Registers these tests. */
export function issueClaimTests(fixture: () => StateFixture): void {
  test("tells the claim in force on a fingerprint's issue, with its link once there is one", async () => {
    const { state, setClock } = fixture();
    expect(await state.issueClaim(ODD)).toBeNull();
    const [accepted] = await acceptAll(state, sampleAlert({ fingerprint: ODD }));
    expect(await state.issueClaim(ODD)).toEqual({ claimedAtMs: START_MS, url: null });
    await state.settle(issueRowOf(accepted!), { status: "delivered", reference: "OPS-1", url: URL_1 });
    expect(await state.issueClaim(ODD)).toEqual({ claimedAtMs: START_MS, url: URL_1 });
    await setClock(START_MS + ISSUE_TTL_MS);
    expect(await state.issueClaim(ODD)).toBeNull();
  });

  test("remembers issues that were made without it, from when they were made on", async () => {
    const { state, setClock } = fixture();
    await setClock(START_MS + 60_000);
    await state.rememberIssues([
      { fingerprint: ODD, claimedAtMs: START_MS, url: URL_1 },
      { fingerprint: "other", claimedAtMs: START_MS, url: null },
    ]);
    const [accepted] = await acceptAll(state, sampleAlert({ fingerprint: ODD }));
    expect(accepted?.issue).toEqual({ status: "duplicate", claimedAtMs: START_MS, url: URL_1 });
    await setClock(START_MS + ISSUE_TTL_MS);
    expect((await acceptAll(state, sampleAlert({ fingerprint: ODD })))[0]?.issue.status).toBe("first");
  });

  test("keeps a claim in force, and remembers no issue that is too old", async () => {
    const { state } = fixture();
    const [accepted] = await acceptAll(state, sampleAlert({ fingerprint: "held" }));
    await state.rememberIssues([
      { fingerprint: "held", claimedAtMs: START_MS - 1, url: URL_1 },
      { fingerprint: "old", claimedAtMs: START_MS - ISSUE_TTL_MS, url: URL_1 },
      { fingerprint: "ahead", claimedAtMs: START_MS + ISSUE_TTL_MS, url: URL_1 },
    ]);
    expect(await state.issueClaim("held")).toEqual({ claimedAtMs: START_MS, url: null });
    expect(await state.issueClaim("old")).toBeNull();
    expect(await state.issueClaim("ahead")).toEqual({ claimedAtMs: START_MS + ISSUE_TTL_MS, url: URL_1 });
    await state.settle(issueRowOf(accepted!), { status: "delivered", reference: "OPS-1", url: null });
  });

  test("a claim of a clock that was ahead ends no later than one that is made now", async () => {
    const { state, setClock } = fixture();
    await state.rememberIssues([{ fingerprint: "a", claimedAtMs: START_MS + 60_000, url: URL_1 }]);
    await setClock(START_MS + ISSUE_TTL_MS);
    expect(await state.issueClaim("a")).toBeNull();
  });

  test("an issue that was tried without it is tried on under the same time, and claimed from now on", async () => {
    const { state, setClock } = fixture();
    const alert = sampleAlert({ fingerprint: ODD });
    const [outcome] = await state.accept([[alert, alert, resolvedAlert({ fingerprint: ODD })]], TRIED);
    const issue = { status: "first", row: expect.any(Number), claimedAtMs: START_MS - 60_000 };
    const duplicate = { status: "duplicate", claimedAtMs: START_MS - 60_000, url: null };
    expect(outcome).toMatchObject({ accepted: [{ issue }, { issue: duplicate }, {}] });
    const due = async (kind: OutboxKind) =>
      (await state.due(kind, { limit: 9, except: [], issueGraceMs: 0 })).map((row) => row.claimedAtMs);
    expect([await due("message"), await due("issue")]).toEqual([[null], [START_MS - 60_000]]);
    await setClock(START_MS + ISSUE_TTL_MS - 1);
    expect(await state.issueClaim(ODD)).toEqual({ claimedAtMs: START_MS - 60_000, url: null });
    await setClock(START_MS + ISSUE_TTL_MS);
    expect(await state.issueClaim(ODD)).toBeNull();
  });

  test("an issue that has a claim keeps its time, whatever was tried without it", async () => {
    const { state } = fixture();
    await acceptAll(state, sampleAlert());
    const { fingerprint } = sampleAlert();
    await state.accept([[sampleAlert()]], TRIED);
    expect(await state.issueClaim(fingerprint)).toEqual({ claimedAtMs: START_MS, url: null });
  });
}
