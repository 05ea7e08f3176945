/** The claims on issues: one in 30 minutes for a fingerprint, whoever made it. */
import { expect, test } from "bun:test";
import { ISSUE_TTL_MS, type State } from "../../../../lib/webhook/state/contract.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptOne,
  CREATED,
  DAY_MS,
  DEAD,
  DELIVERED,
  dueIds,
  dueRows,
  ISSUE_URL,
  issueRowOf,
  MINUTE_MS,
  onlyDue,
  retryAfter,
  START_MS,
  type StateFixture,
  UNKNOWN,
} from "../../support/state-fixture.ts";

const ODD = "a'\"\u0000\\ ç \ud83d\udea8";

/** An issue that was tried for a minute before the state kept its alert. */
const TRIED = { issue: () => START_MS - MINUTE_MS, message: () => undefined };

/** What accepting the alert once more says of its issue. */
async function statusOfNext(state: State, alert = sampleAlert()): Promise<string> {
  return (await acceptOne(state, alert)).issue.status;
}

/** Registers these tests. */
export function issueTests(fixture: () => StateFixture): void {
  claimTests(fixture);
  endTests(fixture);
  madeWithoutTests(fixture);
}

function claimTests(fixture: () => StateFixture): void {
  test("is suppressed by a clock that was set back by a day for no longer than 30 minutes", async () => {
    const { state, setClock } = fixture();
    await acceptOne(state, sampleAlert());
    await setClock(START_MS - DAY_MS);
    expect(await statusOfNext(state)).toBe("duplicate");
    await setClock(START_MS - DAY_MS + ISSUE_TTL_MS);
    expect(await statusOfNext(state)).toBe("first");
  });

  test("gives its link to duplicates and waiting messages, for as long as the claim holds", async () => {
    const { state, setClock } = fixture();
    const first = await acceptOne(state, sampleAlert({ fingerprint: ODD }));
    expect(await state.issueClaim(ODD)).toEqual({ claimedAtMs: START_MS, url: null });
    await state.settle(issueRowOf(first), CREATED);
    expect((await onlyDue(state)).issueUrl).toBe(ISSUE_URL);
    expect(await state.issueClaim(ODD)).toEqual({ claimedAtMs: START_MS, url: ISSUE_URL });
    const duplicate = await acceptOne(state, sampleAlert({ fingerprint: ODD }));
    expect(duplicate.issue).toEqual({ status: "duplicate", claimedAtMs: START_MS, url: ISSUE_URL });
    await setClock(START_MS + ISSUE_TTL_MS);
    expect((await onlyDue(state)).issueUrl).toBeNull();
    expect(await state.issueClaim(ODD)).toBeNull();
    const next = await acceptOne(state, sampleAlert({ fingerprint: ODD }));
    await state.settle(issueRowOf(next), DELIVERED);
    expect((await acceptOne(state, sampleAlert({ fingerprint: ODD }))).issue).toMatchObject({ url: null });
  });
}

function endTests(fixture: () => StateFixture): void {
  const ENDS = [
    ["is tried again keeps", retryAfter(0), "duplicate"],
    ["is unknown keeps", UNKNOWN, "duplicate"],
    ["is dead gives back", DEAD, "first"],
  ] as const;
  test.each(ENDS)("an issue that %s its claim", async (_, end, next) => {
    const { state } = fixture();
    await state.settle(issueRowOf(await acceptOne(state, sampleAlert())), end);
    expect(await statusOfNext(state)).toBe(next);
  });

  test("an issue that is dropped while it waits gives its claim back", async () => {
    const { state } = fixture();
    const issue = issueRowOf(await acceptOne(state, sampleAlert()));
    expect(await state.dropQueued([issue])).toBe(1);
    expect(await dueIds(state, "issue")).toEqual([]);
    expect(await statusOfNext(state)).toBe("first");
  });

  test("an issue that dies late leaves the claim of the next one alone", async () => {
    const { state, setClock } = fixture();
    const old = issueRowOf(await acceptOne(state, sampleAlert()));
    await setClock(START_MS + ISSUE_TTL_MS);
    await acceptOne(state, sampleAlert());
    await state.settle(old, DEAD);
    expect(await statusOfNext(state)).toBe("duplicate");
  });

  test("an issue that is revived has its claim again, and the time of its claim, of which its id is made", async () => {
    const { state, setClock } = fixture();
    await state.settle(issueRowOf(await acceptOne(state, sampleAlert())), DEAD);
    const revivedMs = START_MS + MINUTE_MS;
    await setClock(revivedMs);
    expect(await state.retryDead(null)).toBe(1);
    expect((await onlyDue(state, "issue")).claimedAtMs).toBe(START_MS);
    expect((await acceptOne(state, sampleAlert())).issue).toMatchObject({ claimedAtMs: START_MS });
    await setClock(revivedMs + ISSUE_TTL_MS - 1);
    expect(await statusOfNext(state)).toBe("duplicate");
    await setClock(revivedMs + ISSUE_TTL_MS);
    expect(await statusOfNext(state)).toBe("first");
  });

  test("stays dead while its fingerprint has another one", async () => {
    const { state, setClock } = fixture();
    for (const minute of [0, 1, 2]) {
      await setClock(START_MS + minute * MINUTE_MS);
      await state.settle(issueRowOf(await acceptOne(state, sampleAlert())), DEAD);
    }
    expect(await state.retryDead(null)).toBe(1);
    expect(await state.listDead()).toHaveLength(2);
    expect(await dueIds(state, "issue")).toHaveLength(1);
    expect(await state.retryDead(null)).toBe(0);
  });
}

function madeWithoutTests(fixture: () => StateFixture): void {
  test("an issue that was made without the state is remembered from when it was made on", async () => {
    const { state, setClock } = fixture();
    await setClock(START_MS + MINUTE_MS);
    await state.rememberIssues([
      { fingerprint: ODD, claimedAtMs: START_MS, url: ISSUE_URL },
      { fingerprint: "other", claimedAtMs: START_MS, url: null },
    ]);
    const { issue } = await acceptOne(state, sampleAlert({ fingerprint: ODD }));
    expect(issue).toEqual({ status: "duplicate", claimedAtMs: START_MS, url: ISSUE_URL });
    await setClock(START_MS + ISSUE_TTL_MS);
    expect(await statusOfNext(state, sampleAlert({ fingerprint: ODD }))).toBe("first");
  });

  test("an issue that was made without the state changes no claim in force, and is forgotten when it is too old", async () => {
    const { state, setClock } = fixture();
    await acceptOne(state, sampleAlert({ fingerprint: "held" }));
    const ages = { held: 1, old: ISSUE_TTL_MS, ahead: -ISSUE_TTL_MS, soon: -MINUTE_MS };
    await state.rememberIssues(
      Object.entries(ages).map(([fingerprint, ageMs]) => ({
        ...{ fingerprint, claimedAtMs: START_MS - ageMs, url: ISSUE_URL },
      })),
    );
    expect(await state.issueClaim("held")).toEqual({ claimedAtMs: START_MS, url: null });
    expect(await state.issueClaim("old")).toBeNull();
    expect(await state.issueClaim("ahead")).toEqual({ claimedAtMs: START_MS + ISSUE_TTL_MS, url: ISSUE_URL });
    // A claim of a clock that was ahead ends no later than one that is made now.
    await setClock(START_MS + ISSUE_TTL_MS);
    expect(await state.issueClaim("soon")).toBeNull();
  });

  test("an issue that was tried without the state is tried on under the same time, and claimed from now on", async () => {
    const { state, setClock } = fixture();
    const alert = sampleAlert({ fingerprint: ODD });
    const [outcome] = await state.accept([[alert, alert, resolvedAlert({ fingerprint: ODD })]], TRIED);
    const claimedAtMs = START_MS - MINUTE_MS;
    const issue = { status: "first", claimedAtMs };
    const duplicate = { status: "duplicate", claimedAtMs, url: null };
    expect(outcome).toMatchObject({ accepted: [{ issue }, { issue: duplicate }, {}] });
    expect((await dueRows(state, "message")).map((row) => row.claimedAtMs)).toEqual([null]);
    expect((await onlyDue(state, "issue")).claimedAtMs).toBe(claimedAtMs);
    await setClock(START_MS + ISSUE_TTL_MS - 1);
    expect(await state.issueClaim(ODD)).toEqual({ claimedAtMs, url: null });
    await setClock(START_MS + ISSUE_TTL_MS);
    expect(await state.issueClaim(ODD)).toBeNull();
  });

  test("an issue that has a claim keeps its time, whatever was tried without the state", async () => {
    const { state } = fixture();
    const { alert } = await acceptOne(state, sampleAlert());
    await state.accept([[alert]], TRIED);
    expect(await state.issueClaim(alert.fingerprint)).toEqual({ claimedAtMs: START_MS, url: null });
  });
}
