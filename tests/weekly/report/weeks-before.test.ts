/** What a stored report says of the weeks before and of the tenant's name: what earlier reports say, and nothing else. */
import { beforeAll, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { sharedPostgres } from "../../support/postgres.ts";
import { newLogin } from "../../support/roles.ts";
import { type SeededOwner, seedOwner, WEEK } from "../../support/seed.ts";
import { type PastReport, pastPayload, weeksBefore, writePastReport } from "../support/past-report.ts";
import { type Reported, type ReportedOwner, reportsOf, writeScore } from "../support/reported-owners.ts";
import { weeklyFixture } from "../support/weekly-fixture.ts";

type Figures = Record<string, unknown>;

/** What is expected: figures by channel, scores of the seven weeks before, the week of the report that is compared. */
type Expected = { previous?: Figures; scores?: unknown[]; reportOf?: number | null; partial?: string[] };

const NO_FIGURES = { email: null, instagram: null, linkedin: null, blog: null, tiktok: null };
const NO_SCORES: (number | null)[] = Array(7).fill(null);
const MONDAYS = [
  ...["2026-09-28", "2026-10-05", "2026-10-12", "2026-10-19"],
  ...["2026-10-26", "2026-11-02", "2026-11-09", "2026-11-16"],
];

const lastWeek = (payload: unknown): ReportedOwner => ({ past: { 1: { payload } } });
const REACHED = { sends: 3, openRate: 0.5, reached: { delivered: 3, opened: null, clicked: 0 } };

/** Last week's report with these figures of Instagram, which are of this connection. */
const shownBy = (sources: (owner: SeededOwner) => unknown): ReportedOwner => ({
  networks: ["instagram"],
  past: (owner) => {
    const shows = (rowId: string | null, metrics: Figures) => ({
      status: "available",
      metrics,
      evidence: [{ rowId }],
    });
    const channels = { email: shows(null, { sends: 2 }), instagram: shows("a1", { followers: 900 }) };
    return { 1: { payload: { channels, provenance: { sources: sources(owner) } } } };
  },
});
const source = (analysisId: string, connectionId?: string) => ({ analysisId, connectionId });
const own = ({ connections }: SeededOwner) => connections[0]!.id;

const shown = (coverageStatus: unknown) => ({ status: "available", coverageStatus, metrics: {} });

async function reportsOfOthers(
  sql: Parameters<typeof writePastReport>[0],
  owner: SeededOwner,
): Promise<void> {
  const colleague = await seedOwner(sql, { tenantId: owner.tenantId, role: "member" });
  const stranger = await seedOwner(sql, { role: "member" });
  const week = weeksBefore(WEEK, 1);
  await writePastReport(sql, colleague, week);
  await writePastReport(sql, { tenantId: stranger.tenantId, userId: owner.userId }, week);
  for (const odd of [
    { start: "2026-11-09T00:00:00Z", end: "2026-11-16T00:00:00Z" },
    { start: week.start, end: WEEK.end },
    { start: "2026-11-09T03:00:00.000001Z", end: week.end },
  ])
    await writePastReport(sql, owner, odd);
}

const CASES: Record<string, ReportedOwner & Expected> = {
  "has seven empty weeks without any report": { reportOf: null },
  "has the scores of stored reports, and a gap where one is missing, failed, pruned or without a score": {
    past: {
      9: { payload: pastPayload(99) },
      8: { payload: pastPayload(98) },
      7: { payload: pastPayload(0) },
      6: { payload: pastPayload(61.25) },
      5: { pruned: true },
      4: { payload: pastPayload(null) },
      3: { status: "failed" },
      1: { payload: pastPayload(100) },
    },
    scores: [0, 61.25, null, null, null, null, 100],
    reportOf: 1,
  },
  "has nothing of another user, tenant or window": {
    also: reportsOfOthers,
    reportOf: null,
  },
  "has nothing of another version": { past: { 1: { version: 2 } }, reportOf: null },
  "compares with no report of two weeks ago": {
    past: { 2: { payload: pastPayload(30, { instagram: { followers: 1 } }) } },
    scores: NO_SCORES.with(5, 30),
    reportOf: null,
  },
  "compares with what was reached by e-mails, and with absence inside a channel": {
    ...lastWeek(pastPayload(40, { email: REACHED, linkedin: { followers: 7, reach: null } })),
    previous: { email: REACHED, linkedin: { followers: 7, reach: null } },
    scores: NO_SCORES.with(6, 40),
    reportOf: 1,
  },
  "has no figures of a channel that was unavailable": {
    ...lastWeek({ channels: { instagram: { status: "unavailable", metrics: { reach: 1 } } } }),
    reportOf: 1,
  },
  "names the channels whose data was partial, in the e-mail's order": {
    ...lastWeek({
      channels: {
        tiktok: shown("partial"),
        email: shown("complete"),
        instagram: shown("partial"),
        linkedin: { ...shown("partial"), status: "unavailable" },
        blog: shown(["partial"]),
        mail: shown("partial"),
      },
    }),
    previous: { email: {}, instagram: {}, blog: {}, tiktok: {} },
    partial: ["instagram", "tiktok"],
  },
  "compares a network with the same connection": {
    ...shownBy((owner) => [source("a0", randomUUID()), "none", source("a1", own(owner))]),
    previous: { email: { sends: 2 }, instagram: { followers: 900 } },
  },
  "compares no network with another connection": {
    ...shownBy((owner) => [source("a0", own(owner)), source("a1", randomUUID())]),
    previous: { email: { sends: 2 } },
  },
  "compares no network with a connection that is not known": {
    ...shownBy((owner) => [source("a0", own(owner)), source("a1")]),
    previous: { email: { sends: 2 } },
  },
  "compares no network where no source is known": {
    ...shownBy(() => ({ analysisId: "a1" })),
    previous: { email: { sends: 2 } },
  },
  "keeps the figures of a network that this week shows nothing of": {
    ...lastWeek(pastPayload(null, { instagram: { followers: 900 } })),
    previous: { instagram: { followers: 900 } },
  },
  ...Object.fromEntries(
    (
      [
        ["pruned", { pruned: true }],
        ["failed", { status: "failed" }],
        ["a list", { payload: [] }],
        ["a text", { payload: "report" }],
        ["null", { payload: null }],
        ["empty", { payload: {} }],
        ["one with a list of channels", { payload: { channels: [{ status: "available", metrics: {} }] } }],
        ["one with a text for its channels", { payload: { channels: "email" } }],
      ] satisfies [string, PastReport][]
    ).map(([what, report]) => [
      `compares with no report that is ${what}`,
      { past: { 1: report }, reportOf: null },
    ]),
  ),
  ...Object.fromEntries(
    [
      ...["available", 1, null, ["available"], { status: { available: true }, metrics: { reach: 1 } }],
      ...[null, "12", [1, 2], { reach: "12" }, { reach: true }, { reach: { organic: 1 } }].map((metrics) => ({
        ...{ status: "available", metrics },
      })),
    ].map((email) => [
      `leaves out a channel that cannot be read: ${JSON.stringify(email)}`,
      {
        ...lastWeek({
          accountScore: "none",
          channels: { email, linkedin: { status: "available", metrics: { reach: 5 } } },
        }),
        ...{ previous: { linkedin: { reach: 5 } }, reportOf: 1 },
      },
    ]),
  ),
  ...Object.fromEntries(
    ["73", true, {}, [], -0.01, 100.01].map((score) => [
      `has no score that is ${JSON.stringify(score)}`,
      { ...lastWeek({ accountScore: { score }, channels: {} }), scores: NO_SCORES },
    ]),
  ),
};

/** Names of tenants, and what a report keeps of them: neither addresses nor long numbers. */
const NAMES: [string, string | null][] = [
  ["Padaria São João & Filhos", "Padaria São João & Filhos"],
  ["  Farmácia\t24\n Horas ", "Farmácia 24 Horas"],
  ["Studio 1999 2024", "Studio 1999 2024"],
  ['O\'Brien <Ltda> "Norte"', 'O\'Brien <Ltda> "Norte"'],
  ["Fulana de Tal 12345678900", "Fulana de Tal"],
  ["Fulana de Tal 123.456.789-00", "Fulana de Tal"],
  ["12.345.678/0001-90 Fulana ME", "Fulana ME"],
  ["Pizzaria +55 (11) 98765-4321", "Pizzaria"],
  ["Pizzaria (11) 3456-7890 Centro", "Pizzaria Centro"],
  ["Loja fulana@client.example", "Loja"],
  ["Loja (fulana@client.example)", "Loja"],
  ["Pizzaria 11 98765–4321", "Pizzaria"],
  ["fulana@client.example", null],
  ["11 98765-4321", null],
  ["", null],
  [" \n", null],
  ["🍞".repeat(100_000), "🍞".repeat(200)],
];

let reports: Record<string, Reported>;
beforeAll(async () => {
  reports = await reportsOf({
    ...CASES,
    ...Object.fromEntries(NAMES.map(([tenantName], i) => [`name ${i}`, { tenantName }])),
  });
});

describe("a report", () => {
  test.each(Object.entries(CASES))("%s", (name, { previous, scores = NO_SCORES, reportOf, partial }) => {
    const { payload, past } = reports[name]!;
    const figures = Object.entries(payload.channels).map(([channel, each]) => [channel, each.previous]);
    expect(Object.fromEntries(figures)).toEqual({ ...NO_FIGURES, ...previous });
    const history = [...scores, null].map((score, i) => ({ week: MONDAYS[i], score }));
    expect<unknown>(payload.provenance.scoreHistory).toEqual(history);
    if (partial !== undefined) expect<unknown>(payload.provenance.previousPartialChannels).toEqual(partial);
    if (reportOf !== undefined)
      expect(payload.provenance.previousReportId).toBe(reportOf === null ? null : past[reportOf]!);
  });

  test.each(NAMES.map(([name, kept], i) => [name.slice(0, 40), kept, i] as const))(
    "keeps of the tenant's name %p %p",
    (_name, kept, i) => {
      expect(reports[`name ${i}`]!.payload.provenance.tenantName).toBe(kept);
    },
  );
});

test("no name is read where the owner of the functions may not read it, or there is no such column", async () => {
  const db = await (await sharedPostgres()).createDatabase();
  try {
    const { tenantId } = await seedOwner(db.sql, { tenantName: "Padaria" });
    const nameAfter = async (statement: string) => {
      await db.sql.unsafe(statement);
      return (await db.sql`select weekly_performance_tenant_name(${tenantId}) as name`)[0]!.name;
    };
    expect(await nameAfter("alter table tenants rename column name to title")).toBeNull();
    expect(await nameAfter("alter table tenants rename column title to name")).toBe("Padaria");
    const owner = `owner_${randomUUID().replaceAll("-", "")}`;
    const refused = `
      create role ${owner};
      grant select (id, archived_at) on tenants to ${owner};
      grant create on schema public to ${owner};
      alter function weekly_performance_tenant_name(uuid) owner to ${owner}`;
    expect(await nameAfter(refused)).toBeNull();
    expect(await nameAfter(`grant select (name) on tenants to ${owner}`)).toBe("Padaria");
  } finally {
    await db.drop();
  }
});

test("weeks before are calendar weeks, across both changes of the clocks", async () => {
  // Forward on 4 November 2018, back on 18 February: these weeks had 167 and 169 hours.
  for (const [clock, week, before] of [
    [
      "2018-11-19T11:00:00Z",
      { start: "2018-11-12T02:00:00Z", end: "2018-11-19T02:00:00Z" },
      ["2018-10-29", "2018-11-05"],
    ],
    [
      "2018-03-05T11:00:00Z",
      { start: "2018-02-26T03:00:00Z", end: "2018-03-05T03:00:00Z" },
      ["2018-02-12", "2018-02-19"],
    ],
  ] as const) {
    await using weekly = await weeklyFixture({ clock });
    const { sql } = weekly.db;
    const owner = await seedOwner(sql, { networks: [], sends: [] });
    await sql`update users set created_at = '2018-01-01Z'`;
    await writePastReport(sql, owner, weeksBefore(week, 1), { payload: pastPayload(2) });
    await writePastReport(sql, owner, weeksBefore(week, 2), { payload: pastPayload(1) });
    await writeScore(sql, owner, weeksBefore(week, 1), 61);
    await weekly.run();
    const [row] =
      await sql`select payload from weekly_performance_reports where window_start = ${week.start}`;
    const { provenance, accountScore } = row!.payload;
    expect(provenance.scoreHistory.slice(-3, -1)).toEqual(
      before.map((monday, i) => ({ week: monday, score: i + 1 })),
    );
    expect(accountScore.previousScore).toBe(61);
  }
});

test("a login that is a member of service_role reads both, past the row security of the application", async () => {
  await using weekly = await weeklyFixture();
  const { sql } = weekly.db;
  const owner = await seedOwner(sql, { tenantName: "Padaria", networks: [] });
  await writePastReport(sql, owner, weeksBefore(WEEK, 1), { payload: pastPayload(40) });
  await sql`alter table tenants enable row level security`;
  const login = await newLogin(sql, "grant service_role to");
  await weekly.run({}, { databaseUrl: (await sharedPostgres()).url(weekly.db.name, login) });
  const [row] = await sql`select payload from weekly_performance_reports where window_start = ${WEEK.start}`;
  expect(row!.payload.provenance).toMatchObject({ tenantName: "Padaria" });
  expect(row!.payload.provenance.scoreHistory.at(-2).score).toBe(40);
});
