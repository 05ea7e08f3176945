import { describe, expect, test } from "bun:test";
import type postgres from "postgres";
import type { Payload } from "../../../lib/weekly/payload.ts";
import type { AnalysisBody } from "../../standins/application.ts";
import { WEEK } from "../../support/seed.ts";
import { type StoredReport, storedReport } from "../support/stored-report.ts";
import { weeklyFixture } from "../support/weekly-fixture.ts";

const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const OWNER = { tenantId: id(1), userId: id(2) };
const CONNECTIONS = [
  { id: id(13), network: "linkedin" },
  { id: id(12), network: "instagram" },
  { id: id(11), network: "instagram" },
];
const EVENTS = ["email.delivered", "email.opened", "email.clicked"];

/** How one database differs from another with the same facts. */
type Variant = {
  clock: string;
  reversed: boolean;
  hostZone: string;
  settings: Record<string, string>;
  metrics: string;
};

const PLAIN: Variant = {
  clock: "2026-11-23T11:00:00Z",
  reversed: false,
  hostZone: "UTC",
  settings: {},
  metrics: '{"reach": 5400, "saves": null, "rate": 0.0425}',
};

async function seed(sql: postgres.Sql, { reversed }: Variant): Promise<void> {
  const inOrder = <T>(items: T[]) => (reversed ? items.toReversed() : items);
  await sql`insert into tenants (id, name) values (${OWNER.tenantId}, 'Tenant')`;
  await sql`
    insert into users (id, tenant_id, role, phone, email)
    values (${OWNER.userId}, ${OWNER.tenantId}, 'owner', '+55 11 98765-4321', 'owner@client.example')`;
  await sql`insert into credit_wallets (tenant_id, status) values (${OWNER.tenantId}, 'active')`;
  for (const connection of inOrder(CONNECTIONS)) {
    await sql`
      insert into social_connections (id, tenant_id, user_id, network, status, created_at)
      values (${connection.id}, ${OWNER.tenantId}, ${OWNER.userId}, ${connection.network}, 'active', '2026-01-01Z')`;
  }
  for (const n of inOrder([0, 1, 2, 3, 4])) {
    await sql`
      insert into resend_email_sends (tenant_id, user_id, provider_email_id, sent_at)
      values (${OWNER.tenantId}, ${OWNER.userId}, ${`em_${n}`}, '2026-11-18T12:00:00Z')`;
    for (const [index, type] of inOrder([...EVENTS.slice(0, n).entries()])) {
      await sql`
        insert into resend_email_events (tenant_id, provider_email_id, type, occurred_at)
        values (${OWNER.tenantId}, ${`em_${n}`}, ${type}, ${`2026-11-18T12:0${index + 1}:00Z`})`;
    }
  }
}

function analyse(sql: postgres.Sql, variant: Variant) {
  return async (body: AnalysisBody) => {
    for (const [start, score] of [
      [WEEK.start, "71.3"],
      ["2026-11-09T03:00:00Z", "70.1"],
    ] as const) {
      await sql`
        insert into social_account_scores (tenant_id, user_id, window_start, window_end, score)
        values (${body.tenantId}, ${body.userId}, ${start},
                ${start === WEEK.start ? WEEK.end : WEEK.start}, ${score})
        on conflict do nothing`;
    }
    await sql`
      insert into social_channel_analyses
        (tenant_id, user_id, connection_id, channel, window_start, window_end, coverage_status, metrics, insights,
         evidence, triggers, updated_at)
      select c.tenant_id, c.user_id, c.id, c.network, ${body.windowStart}, ${body.windowEnd}, 'complete',
             ${variant.metrics}::text::jsonb, '[{"code": "reach", "text": "Alcance €😀é"}]', '[{"posts": 7}]',
             '["weekly"]', '2026-11-23T10:59:00.123456Z'
      from social_connections as c where c.id = ${body.connectionId}`;
  };
}

/** The report that one database gives; ids that the database made up are blanked. */
async function reportOf(change: Partial<Variant> = {}): Promise<StoredReport & { comparable: Payload }> {
  const variant = { ...PLAIN, ...change };
  await using weekly = await weeklyFixture({ clock: variant.clock });
  const { db } = weekly;
  await seed(db.sql, variant);
  weekly.onAnalyze = analyse(db.sql, variant);
  for (const [name, value] of Object.entries(variant.settings))
    await db.sql.unsafe(`alter database ${db.name} set ${name} = '${value}'`);
  const hostZone = process.env.TZ!;
  process.env.TZ = variant.hostZone;
  try {
    expect(await weekly.run()).toMatchObject({ status: "success", reports: { completed: 1 } });
  } finally {
    process.env.TZ = hostZone;
  }
  const report = await storedReport(db.sql, OWNER);
  const made = new Set(["analysisId", "rowId", "sourceId"]);
  const comparable = JSON.parse(JSON.stringify(report.payload), (key, value) =>
    key === "generatedAt" || (made.has(key) && value !== null) ? "made" : value,
  );
  return { ...report, comparable };
}

let first: ReturnType<typeof reportOf> | undefined;
/** The report that all others are compared with, made once. */
function plainReport(): ReturnType<typeof reportOf> {
  first ??= reportOf();
  return first;
}

describe("the same facts in another database", () => {
  test.each<[string, Partial<Variant>]>([
    ["again", {}],
    ["at another hour", { clock: "2026-11-24T02:59:59Z" }],
    [
      "written in another order",
      { reversed: true, metrics: '{"rate": 0.04250, "reach": 5.4e3, "saves": null}' },
    ],
    [
      "under another zone and style of the session",
      {
        settings: {
          timezone: "Pacific/Kiritimati",
          datestyle: "German, DMY",
          intervalstyle: "sql_standard",
          extra_float_digits: "-15",
        },
      },
    ],
    ["on a host of another zone", { hostZone: "America/Los_Angeles" }],
    [
      "with all of that",
      {
        clock: "2026-11-23T03:00:00Z",
        reversed: true,
        hostZone: "Asia/Kolkata",
        settings: { timezone: "Asia/Kathmandu", datestyle: "SQL, MDY" },
      },
    ],
  ])("give the same report: %s", async (_what, change) => {
    const [plain, other] = [await plainReport(), await reportOf(change)];
    expect(other.evidence).toBe(plain.evidence);
    expect(other.fingerprint).toBe(plain.fingerprint);
    expect(JSON.stringify(other.comparable)).toBe(JSON.stringify(plain.comparable));
  });

  test.each<[string, string]>([
    ["one figure more", '{"reach": 5401, "saves": null, "rate": 0.0425}'],
    ["zero in the place of nothing", '{"reach": 5400, "saves": 0, "rate": 0.0425}'],
    ["a figure that is gone", '{"reach": 5400, "rate": 0.0425}'],
    ["another name", '{"Reach": 5400, "saves": null, "rate": 0.0425}'],
    ["the last decimal", '{"reach": 5400, "saves": null, "rate": 0.04250000000000001}'],
  ])("give another fingerprint with %s", async (_what, metrics) => {
    const [plain, other] = [await plainReport(), await reportOf({ metrics })];
    expect(other.fingerprint).not.toBe(plain.fingerprint);
  });
});

test("generatedAt is the database's clock, in UTC", async () => {
  const { payload } = await reportOf({ clock: "2026-11-24T02:59:59Z", settings: { timezone: "Asia/Tokyo" } });
  expect(payload.generatedAt).toBe("2026-11-24T02:59:59.000000Z");
  expect([payload.windowStart, payload.windowEnd]).toEqual([WEEK.start, WEEK.end]);
});
