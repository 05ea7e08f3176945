import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import type { Scope } from "../../../lib/weekly/database/recipients.ts";
import { evidenceOf } from "../../../lib/weekly/report/evidence.ts";
import { WEEK } from "../../support/seed.ts";
import { type EvidenceFixture, evidenceFixture } from "../support/evidence-fixture.ts";

let weekly: EvidenceFixture;
beforeAll(async () => {
  weekly = await evidenceFixture();
});
afterAll(() => weekly.close());

const PREVIOUS = { start: "2026-11-09T03:00:00Z", end: "2026-11-16T03:00:00Z" };
/** Windows that touch, cover or nearly equal the week without being it. */
const OTHER_WINDOWS = [
  PREVIOUS,
  { start: WEEK.end, end: "2026-11-30T03:00:00Z" },
  { start: "2026-11-16T00:00:00Z", end: "2026-11-23T00:00:00Z" },
  { start: WEEK.start, end: "2026-11-23T02:59:59.999999Z" },
  { start: "2026-11-16T03:00:00.000001Z", end: WEEK.end },
  { start: WEEK.start, end: "2026-11-30T03:00:00Z" },
  { start: PREVIOUS.start, end: WEEK.end },
];

async function connect(scope: Scope, network = "instagram"): Promise<string> {
  const id = randomUUID();
  await weekly.db.sql`
    insert into social_connections (id, tenant_id, user_id, network, status)
    values (${id}, ${scope.tenantId}, ${scope.userId}, ${network}, 'active')`;
  return id;
}

type Range = { start: string; end: string };

async function analyse(scope: Scope, connectionId: string, window: Range, reach: number): Promise<void> {
  await weekly.db.sql`
    insert into social_channel_analyses
      (tenant_id, user_id, connection_id, channel, window_start, window_end, coverage_status, metrics)
    select ${scope.tenantId}, ${scope.userId}, c.id, c.network, ${window.start}::text::timestamptz,
           ${window.end}::text::timestamptz, 'complete', jsonb_build_object('reach', ${reach}::integer)
    from social_connections as c where c.id = ${connectionId}`;
}

// The windows go in as text: the driver would cut the microseconds that some of them are about.
async function writeScore(scope: Scope, { start, end }: Range, score: number | string | null): Promise<void> {
  await weekly.db.sql`
    insert into social_account_scores (tenant_id, user_id, window_start, window_end, score)
    values (${scope.tenantId}, ${scope.userId}, ${start}::text::timestamptz, ${end}::text::timestamptz, ${score})`;
}

describe("analyses of the week", () => {
  test("are those of exactly this window", async () => {
    const scope = await weekly.newOwner();
    const connection = await connect(scope);
    for (const window of OTHER_WINDOWS) await analyse(scope, connection, window, 1);
    expect((await weekly.read(scope, [connection])).analyses).toEqual([]);

    await analyse(scope, connection, WEEK, 2);
    const { analyses } = await weekly.read(scope, [connection]);
    expect(analyses.map(({ metrics }) => metrics)).toEqual([{ reach: 2 }]);
  });

  test("are those of the connections that were asked for, tenant and user together", async () => {
    const scope = await weekly.newOwner();
    const colleague = await weekly.newOwner(scope.tenantId);
    const stranger = await weekly.newOwner();
    const [own, failed] = [await connect(scope), await connect(scope)];
    const theirs = await connect(colleague);
    await analyse(scope, own, WEEK, 1);
    await analyse(scope, failed, WEEK, 2);
    await analyse(colleague, theirs, WEEK, 3);
    // Rows that name this connection, but another user or tenant.
    for (const other of [colleague, { ...scope, tenantId: stranger.tenantId }]) {
      const misplaced = await connect(scope);
      await analyse(other, misplaced, WEEK, 4);
      expect((await weekly.read(scope, [misplaced])).analyses).toEqual([]);
    }
    const { analyses } = await weekly.read(scope, [own, theirs]);
    expect(analyses.map(({ connectionId }) => connectionId)).toEqual([own]);
  });

  test("come in the order of their connections, with microseconds", async () => {
    const scope = await weekly.newOwner();
    const ids = [await connect(scope), await connect(scope, "linkedin"), await connect(scope)];
    for (const connection of ids.toSorted().toReversed()) await analyse(scope, connection, WEEK, 1);
    await weekly.db.sql`
      update social_channel_analyses set updated_at = '2026-11-23T10:00:00.123456Z' where user_id = ${scope.userId}`;
    const { analyses } = await weekly.read(scope, ids);
    expect(analyses.map(({ connectionId }) => connectionId)).toEqual(ids.toSorted());
    expect(analyses[0]!.updatedAt).toBe("2026-11-23T10:00:00.123456Z");
  });

  test.each([
    ["1969-12-31T23:59:59.999999Z", null],
    ["1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000Z"],
    ["9999-12-31T00:00:00Z", "9999-12-31T00:00:00.000000Z"],
    ["9999-12-31T00:00:00.000001Z", null],
  ])("have the time %s as %p", async (written, read) => {
    const scope = await weekly.newOwner();
    const connection = await connect(scope);
    await analyse(scope, connection, WEEK, 1);
    await weekly.db.sql`
      update social_channel_analyses set updated_at = ${written}::text::timestamptz where user_id = ${scope.userId}`;
    const { analyses } = await weekly.read(scope, [connection]);
    expect(analyses.map(({ updatedAt }) => updatedAt)).toEqual([read]);
  });
});

describe("the score of the week", () => {
  const scoreOf = async (scope: Scope) => evidenceOf(await weekly.read(scope)).score;

  test.each([
    [0, 0],
    [100, 100],
    ["71.3", 71.3],
    ["0.01", 0.01],
    ["100.01", null],
    ["-0.01", null],
    ["NaN", null],
    [null, null],
  ])("%p is %p", async (written, read) => {
    const scope = await weekly.newOwner();
    await writeScore(scope, WEEK, written);
    await writeScore(scope, PREVIOUS, written);
    expect(await scoreOf(scope)).toEqual({ value: read, previous: read });
  });

  test("is of exactly this window, the previous one of exactly the week before", async () => {
    const scope = await weekly.newOwner();
    for (const window of OTHER_WINDOWS.slice(1)) await writeScore(scope, window, 55);
    const longBefore = "2026-11-02T03:00:00Z";
    await writeScore(scope, { start: longBefore, end: PREVIOUS.start }, 44);
    await writeScore(scope, { start: longBefore, end: PREVIOUS.end }, 45);
    expect(await scoreOf(scope)).toEqual({ value: null, previous: null });

    await writeScore(scope, PREVIOUS, 33);
    expect(await scoreOf(scope)).toEqual({ value: null, previous: 33 });
    await writeScore(scope, WEEK, 22);
    expect(await scoreOf(scope)).toEqual({ value: 22, previous: 33 });
  });

  test("is nobody else's", async () => {
    const scope = await weekly.newOwner();
    const colleague = await weekly.newOwner(scope.tenantId);
    const stranger = await weekly.newOwner();
    for (const window of [WEEK, PREVIOUS]) {
      await writeScore(colleague, window, 90);
      await writeScore({ ...scope, tenantId: stranger.tenantId }, window, 91);
    }
    expect(await weekly.read(scope)).toMatchObject({ score: null, previousScore: null });
  });

  test("of the week before is found across a change of the clocks", async () => {
    const scope = await weekly.newOwner();
    // The clocks of the zone went forward on 4 November 2018: the week before is an hour shorter.
    const week = { start: "2018-11-05T02:00:00Z", end: "2018-11-12T02:00:00Z" };
    await writeScore(scope, { start: "2018-10-29T03:00:00Z", end: week.start }, 61);
    expect(await weekly.store.readEvidence(scope, week, [])).toMatchObject({ previousScore: 61 });
  });
});
