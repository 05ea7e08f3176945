import { expect, test } from "bun:test";
import { ISSUE_TTL_MS } from "../../../../lib/webhook/state/contract.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  DAY_MS,
  dueIds,
  issueRowOf,
  MINUTE_MS,
  retryAfter,
  START_MS,
  type StateFixture,
} from "../../support/state-fixture.ts";

const DEAD = { status: "dead", code: "number_refused" } as const;

/** The suite's tests of rows that were given up. */
export function deadTests(fixture: () => StateFixture): void {
  listTests(fixture);
  revivalTests(fixture);
  issueRevivalTests(fixture);
}

function listTests(fixture: () => StateFixture): void {
  test.each(["half a te", "null", "{}"])(
    "gives up a row whose alert is %s, and delivers the next one and the others",
    async (text) => {
      const { state, spoil } = fixture();
      const alerts = [resolvedAlert(), resolvedAlert(), resolvedAlert({ fingerprint: "f2" })];
      const rows = (await acceptAll(state, ...alerts)).map(({ messageRow }) => messageRow);
      await spoil(rows[0]!, text);
      expect(await dueIds(state, "message")).toEqual([rows[2]!]);
      expect(await dueIds(state, "message")).toEqual([rows[1]!, rows[2]!]);
      expect(await state.listDead()).toMatchObject([{ id: rows[0], code: "alert_unreadable" }]);
    },
  );

  test("listDead() names what was given up and why, without the alert's text", async () => {
    const { state, setClock } = fixture();
    const [accepted] = await acceptAll(state, resolvedAlert({ name: null }));
    await state.settle(accepted!.messageRow, retryAfter(0));
    await setClock(START_MS + DAY_MS);
    await state.settle(accepted!.messageRow, DEAD);
    expect(await state.listDead()).toEqual([
      {
        id: accepted!.messageRow,
        kind: "message",
        status: "dead",
        digest: null,
        alertname: null,
        fingerprint: "f1",
        squad: "infra",
        attempts: 2,
        code: "number_refused",
        acceptedAt: new Date(START_MS).toISOString(),
        diedAt: new Date(START_MS + DAY_MS).toISOString(),
      },
    ]);
  });

  test("dropDead() removes the dead rows that were named, or all, and nothing else", async () => {
    const { state } = fixture();
    const rows = (
      await acceptAll(state, ...["a", "b", "c", "d"].map((fingerprint) => resolvedAlert({ fingerprint })))
    ).map(({ messageRow }) => messageRow) as [number, number, number, number];
    for (const row of rows.slice(0, 3)) await state.settle(row, DEAD);
    expect(await state.dropDead([])).toBe(0);
    expect(await state.dropDead([rows[0], rows[3], 999_999])).toBe(1);
    expect((await state.listDead()).map(({ id }) => id)).toEqual([rows[1], rows[2]]);
    expect(await state.dropDead(null)).toBe(2);
    expect(await state.listDead()).toEqual([]);
    expect(await dueIds(state, "message")).toEqual([rows[3]]);
  });
}

function revivalTests(fixture: () => StateFixture): void {
  test("retryDead() makes a row due at once, with its alert, its attempts and the time that it waits anew", async () => {
    const { state, setClock } = fixture();
    const [accepted] = await acceptAll(state, resolvedAlert());
    const row = accepted!.messageRow;
    await state.settle(row, retryAfter(MINUTE_MS));
    await setClock(START_MS + DAY_MS);
    await state.settle(row, DEAD);
    expect(await dueIds(state, "message")).toEqual([]);
    await setClock(START_MS + 2 * DAY_MS);
    expect(await state.retryDead([row])).toBe(1);
    expect(await state.retryDead([row])).toBe(0);
    const [due] = await state.due("message", { limit: 1, except: [], issueGraceMs: 0 });
    expect(due).toMatchObject({
      id: row,
      attempts: 0,
      waitedMs: 2 * DAY_MS,
      triedMs: 0,
      alert: resolvedAlert(),
    });
    expect(await state.listDead()).toEqual([]);
    expect((await state.stats()).message).toEqual({ queued: 1, dead: 0, inDoubt: 0, oldestQueuedAgeMs: 0 });
  });

  test("retryDead() revives those that were named, or all; the revived are the oldest of their fingerprint", async () => {
    const { state } = fixture();
    const rows = (await acceptAll(state, resolvedAlert(), resolvedAlert(), resolvedAlert())).map(
      ({ messageRow }) => messageRow,
    ) as [number, number, number];
    await state.settle(rows[0], DEAD);
    await state.settle(rows[1], DEAD);
    expect(await dueIds(state, "message")).toEqual([rows[2]]);
    expect(await state.retryDead([])).toBe(0);
    expect(await state.retryDead([rows[1], rows[2]])).toBe(1);
    expect(await dueIds(state, "message")).toEqual([rows[1]]);
    expect(await state.retryDead(null)).toBe(1);
    expect(await dueIds(state, "message")).toEqual([rows[0]]);
  });
}

function issueRevivalTests(fixture: () => StateFixture): void {
  test("a revived issue has its claim again, and the claim time that its id is made of", async () => {
    const { state, setClock } = fixture();
    const [accepted] = await acceptAll(state, sampleAlert());
    await state.settle(issueRowOf(accepted!), DEAD);
    const revivedMs = START_MS + MINUTE_MS;
    await setClock(revivedMs);
    expect(await state.retryDead(null)).toBe(1);
    const [due] = await state.due("issue", { limit: 1, except: [], issueGraceMs: 0 });
    expect(due?.claimedAtMs).toBe(START_MS);
    expect((await acceptAll(state, sampleAlert()))[0]?.issue).toMatchObject({ claimedAtMs: START_MS });
    await setClock(revivedMs + ISSUE_TTL_MS - 1);
    expect((await acceptAll(state, sampleAlert()))[0]?.issue.status).toBe("duplicate");
    await setClock(revivedMs + ISSUE_TTL_MS);
    expect((await acceptAll(state, sampleAlert()))[0]?.issue.status).toBe("first");
  });

  test("an issue stays dead while its fingerprint has another one", async () => {
    const { state, setClock } = fixture();
    for (const minute of [0, 1, 2]) {
      await setClock(START_MS + minute * MINUTE_MS);
      const [accepted] = await acceptAll(state, sampleAlert());
      await state.settle(issueRowOf(accepted!), DEAD);
    }
    expect(await state.retryDead(null)).toBe(1);
    expect(await state.listDead()).toHaveLength(2);
    expect(await dueIds(state, "issue")).toHaveLength(1);
    expect(await state.retryDead(null)).toBe(0);
  });
}
