/** What the one statement of step 5 reads of the weeks before, and of the tenant. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openDatabase } from "../../../lib/platform/database/pool.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { readEvidence } from "../../../lib/weekly/database/evidence.ts";
import type { Scope } from "../../../lib/weekly/database/recipients.ts";
import { sharedPostgres } from "../../support/postgres.ts";
import { newLogin } from "../../support/roles.ts";
import { WEEK } from "../../support/seed.ts";
import { type EvidenceFixture, evidenceFixture } from "../support/evidence-fixture.ts";
import { type PastReport, pastPayload, weeksBefore, writePastReport } from "../support/past-report.ts";

let weekly: EvidenceFixture;
beforeAll(async () => {
  weekly = await evidenceFixture();
});
afterAll(() => weekly.close());

const MONDAYS = [
  ...["2026-09-28", "2026-10-05", "2026-10-12", "2026-10-19"],
  ...["2026-10-26", "2026-11-02", "2026-11-09"],
];
const NOTHING = { scores: MONDAYS.map((week) => ({ week, score: null })), previous: null };

const historyOf = async (scope: Scope) => (await weekly.read(scope)).history;
const write = (scope: Scope, weeks: number, report?: PastReport) =>
  writePastReport(weekly.db.sql, scope, weeksBefore(WEEK, weeks), report);
const scoresOf = async (scope: Scope) => (await historyOf(scope)).scores.map(({ score }) => score);

describe("the scores of the weeks before", () => {
  test("are seven, oldest first, each null without a report", async () => {
    expect(await historyOf(await weekly.newOwner())).toEqual(NOTHING);
  });

  test("are those of the stored reports, with a gap where one is missing, failed, pruned or without a score", async () => {
    const scope = await weekly.newOwner();
    await write(scope, 9, { payload: pastPayload(99) });
    await write(scope, 8, { payload: pastPayload(98) });
    await write(scope, 7, { payload: pastPayload(0) });
    await write(scope, 6, { payload: pastPayload(61.25) });
    await write(scope, 5, { pruned: true });
    await write(scope, 4, { payload: pastPayload(null) });
    await write(scope, 3, { status: "failed" });
    await write(scope, 1, { payload: pastPayload(100) });
    expect((await historyOf(scope)).scores).toEqual(
      [0, 61.25, null, null, null, null, 100].map((score, i) => ({ week: MONDAYS[i]!, score })),
    );
  });

  test("are not those of another user, tenant, payload version or window", async () => {
    const scope = await weekly.newOwner();
    const colleague = await weekly.newOwner(scope.tenantId);
    const stranger = await weekly.newOwner();
    await write(colleague, 1);
    await write({ tenantId: stranger.tenantId, userId: scope.userId }, 1);
    await write(scope, 1, { version: 2 });
    const { start, end } = weeksBefore(WEEK, 1);
    for (const odd of [
      { start: "2026-11-09T00:00:00Z", end: "2026-11-16T00:00:00Z" },
      { start, end: WEEK.end },
      { start: "2026-11-09T03:00:00.000001Z", end },
    ])
      await writePastReport(weekly.db.sql, scope, odd);
    await write(scope, 0);
    await write(scope, -1);
    expect(await historyOf(scope)).toEqual(NOTHING);
  });

  test("are found across both changes of the clocks, as calendar weeks", async () => {
    const scope = await weekly.newOwner();
    const week = { start: "2018-11-12T02:00:00Z", end: "2018-11-19T02:00:00Z" };
    // Forward on 4 November 2018: the week before the last has 167 hours.
    const before = { start: "2018-11-05T02:00:00Z", end: week.start };
    const shorter = { start: "2018-10-29T03:00:00Z", end: before.start };
    const summer = { start: "2018-02-19T03:00:00Z", end: "2018-02-26T03:00:00Z" };
    const longer = { start: "2018-02-12T02:00:00Z", end: summer.start };
    const scores = async (of: typeof week) =>
      (await weekly.store.readEvidence(scope, of, [])).history.scores.slice(-2);
    for (const [window, score] of [
      [before, 2],
      [shorter, 1],
      [summer, 4],
      [longer, 3],
    ] as const)
      await writePastReport(weekly.db.sql, scope, window, { payload: pastPayload(score) });
    expect(await scores(week)).toEqual([
      { week: "2018-10-29", score: 1 },
      { week: "2018-11-05", score: 2 },
    ]);
    expect(await scores({ start: summer.end, end: "2018-03-05T03:00:00Z" })).toEqual([
      { week: "2018-02-12", score: 3 },
      { week: "2018-02-19", score: 4 },
    ]);
  });
});

describe("the report of the week before", () => {
  test("gives its id and the metrics of its available channels, and nothing else of it", async () => {
    const scope = await weekly.newOwner();
    const email = { sends: 3, openRate: 0.5, reached: { delivered: 3, opened: null, clicked: 0 } };
    const reportId = await write(scope, 1, {
      payload: {
        ...pastPayload(40, { email, linkedin: { followers: 7, reach: null } }),
        channels: {
          email: { status: "available", metrics: email, insights: [{ code: "x", text: "not read" }] },
          linkedin: { status: "available", metrics: { followers: 7, reach: null } },
          instagram: { status: "unavailable", metrics: null },
        },
        evidence: "not read",
      },
    });
    await write(scope, 2, { payload: pastPayload(30, { instagram: { followers: 1 } }) });
    const { previous } = await historyOf(scope);
    const metrics = { email, linkedin: { followers: 7, reach: null } };
    expect(previous).toEqual({ reportId, metrics, partial: [], connections: {} });
  });

  test("with no channel available has no metrics, and is named all the same", async () => {
    const scope = await weekly.newOwner();
    const reportId = await write(scope, 1);
    expect((await historyOf(scope)).previous).toEqual({
      ...{ reportId, metrics: {} },
      ...{ partial: [], connections: {} },
    });
  });

  test("names its available channels whose data was partial", async () => {
    const scope = await weekly.newOwner();
    const shown = (coverageStatus: unknown) => ({ status: "available", coverageStatus, metrics: {} });
    const channels = {
      email: shown("complete"),
      instagram: shown("partial"),
      linkedin: { ...shown("partial"), status: "unavailable" },
      blog: shown(["partial"]),
      tiktok: shown("partial"),
    };
    await write(scope, 1, { payload: { channels } });
    expect((await historyOf(scope)).previous?.partial.toSorted()).toEqual(["instagram", "tiktok"]);
  });

  test("gives the connection whose analysis each channel shows, not that of another analysis", async () => {
    const scope = await weekly.newOwner();
    const shows = (rowId: unknown) => ({ status: "available", metrics: {}, evidence: [{ rowId }] });
    const source = (analysisId: string, connectionId?: string) => ({ analysisId, connectionId });
    const sources = [source("a1", "c1"), source("a2", "c2"), "none", { connectionId: "c3" }, source("a4")];
    const channels = {
      email: shows(null),
      instagram: shows("a2"),
      linkedin: shows("a3"),
      blog: shows("a4"),
      tiktok: 1,
    };
    await write(scope, 1, { payload: { channels, provenance: { sources } } });
    expect((await historyOf(scope)).previous?.connections).toEqual({ instagram: "c2", blog: null });
  });

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["a text", "c1"],
    ["null", null],
    ["an object", { analysisId: "a1", connectionId: "c1" }],
  ])("gives no connection where its sources are %s", async (_what, sources) => {
    const scope = await weekly.newOwner();
    const instagram = { status: "available", metrics: { reach: 1 }, evidence: [{ rowId: "a1" }] };
    const reportId = await write(scope, 1, { payload: { channels: { instagram }, provenance: { sources } } });
    const { previous } = await historyOf(scope);
    expect(previous).toEqual({
      ...{ reportId, metrics: { instagram: { reach: 1 } } },
      ...{ partial: [], connections: {} },
    });
  });

  test("is not the one of two weeks ago", async () => {
    const scope = await weekly.newOwner();
    await write(scope, 2, { payload: pastPayload(30, { instagram: { followers: 1 } }) });
    expect((await historyOf(scope)).previous).toBeNull();
  });

  test.each<[string, PastReport]>([
    ["pruned", { pruned: true }],
    ["failed", { status: "failed" }],
    ["of another version", { version: 2 }],
    ["a list", { payload: [] }],
    ["a text", { payload: "report" }],
    ["null", { payload: null }],
    ["empty", { payload: {} }],
    ["with a list of channels", { payload: { channels: [{ status: "available", metrics: {} }] } }],
    ["with channels that are a text", { payload: { channels: "email" } }],
  ])("is none when it is %s", async (_what, report) => {
    const scope = await weekly.newOwner();
    await write(scope, 1, report);
    expect(await historyOf(scope)).toEqual(NOTHING);
  });

  test.each<[string, unknown]>([
    ["a text", "available"],
    ["a number", 1],
    ["null", null],
    ["a list", ["available"]],
    ["another status", { status: { available: true }, metrics: { reach: 1 } }],
  ])("leaves out a channel that is %s", async (_what, email) => {
    const scope = await weekly.newOwner();
    const linkedin = { status: "available", metrics: { reach: 5 } };
    await write(scope, 1, { payload: { accountScore: "none", channels: { email, linkedin } } });
    expect((await historyOf(scope)).previous?.metrics).toEqual({ linkedin: { reach: 5 } });
    expect(await scoresOf(scope)).toEqual(MONDAYS.map(() => null));
  });
});

describe("the name of the tenant", () => {
  const nameOf = async (scope: Scope) => (await weekly.read(scope)).tenantName;
  const rename = (scope: Scope, name: string) =>
    weekly.db.sql`update tenants set name = ${name} where id = ${scope.tenantId}`;

  test("is the one that the application has now", async () => {
    const scope = await weekly.newOwner();
    const stranger = await weekly.newOwner();
    await rename(scope, "Padaria São João & Filhos");
    expect(await nameOf(scope)).toBe("Padaria São João & Filhos");
    expect(await nameOf(stranger)).toBe("Tenant");
  });

  test("is at most 200 characters of it, none of them broken", async () => {
    const scope = await weekly.newOwner();
    await rename(scope, "🍞".repeat(100_000));
    expect(await nameOf(scope)).toBe("🍞".repeat(200));
  });

  test("is none where the owner of the functions may not read it, or there is no such column", async () => {
    const other = await evidenceFixture();
    try {
      const scope = await other.newOwner();
      await other.db.sql`alter table tenants rename column name to title`;
      expect((await other.read(scope)).tenantName).toBeNull();
      await other.db.sql`alter table tenants rename column title to name`;
      expect((await other.read(scope)).tenantName).toBe("Tenant");
      const owner = `owner_${crypto.randomUUID().replaceAll("-", "")}`;
      await other.db.sql.unsafe(`
        create role ${owner};
        grant select (id, archived_at) on tenants to ${owner};
        grant create on schema public to ${owner};
        alter function weekly_performance_tenant_name(uuid) owner to ${owner}`);
      expect((await other.read(scope)).tenantName).toBeNull();
      await other.db.sql.unsafe(`grant select (name) on tenants to ${owner}`);
      expect((await other.read(scope)).tenantName).toBe("Tenant");
    } finally {
      await other.close();
    }
  });
});

test("a login that is a member of service_role reads both, past the row security that the application may have", async () => {
  const { db } = weekly;
  const scope = await weekly.newOwner();
  const reportId = await write(scope, 1, { payload: pastPayload(40, { linkedin: { reach: 1 } }) });
  const login = await newLogin(db.sql, "grant service_role to");
  const url = (await sharedPostgres()).url(db.name, login);
  const database = await openDatabase(new Secret(url), { max: 1, applicationName: "opsctl-test" });
  await db.sql`alter table tenants enable row level security`;
  try {
    const { tenantName, history } = await readEvidence(database.sql, scope, WEEK, []);
    expect(tenantName).toBe("Tenant");
    expect(history.previous).toEqual({
      ...{ reportId, metrics: { linkedin: { reach: 1 } } },
      ...{ partial: [], connections: {} },
    });
    expect(history.scores.at(-1)!.score).toBe(40);
  } finally {
    await db.sql`alter table tenants disable row level security`;
    await database.close();
  }
});
