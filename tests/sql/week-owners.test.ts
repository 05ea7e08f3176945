import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  DELIVERIES,
  describeWeek,
  emptyWeek,
  makeOwners,
  type OwnerKind,
  REPORTS,
} from "../reports/support/week.ts";
import { assertInDatabase } from "../support/property.ts";
import { WEEK } from "../support/seed.ts";
import { type Ledger, MAJORS } from "./support/ledger.ts";

type Row = {
  tenant_id: string;
  user_id: string;
  tenant_name: string;
  eligible: boolean;
  report_id: string | null;
  report_state: string;
  whatsapp_state: string | null;
  email_state: string | null;
};

async function ownersOf({ sql }: Ledger, tenantId: string | null = null): Promise<Row[]> {
  return await sql<Row[]>`
    select * from public.weekly_performance_week_owners(
      ${WEEK.start}::text::timestamptz, ${WEEK.end}::text::timestamptz, ${tenantId}::uuid)
    order by tenant_id, user_id`;
}

async function countsOf({ sql }: Ledger) {
  const [row] = await sql`
    select public.weekly_performance_week(${WEEK.start}::text::timestamptz, ${WEEK.end}::text::timestamptz) as week`;
  return row!.week;
}

const delivery = fc.constantFrom(...DELIVERIES);
const kind: fc.Arbitrary<OwnerKind> = fc.record({
  report: fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(...REPORTS) },
    { weight: 2, arbitrary: fc.constant("completed" as const) },
  ),
  whatsapp: delivery,
  // Only WhatsApp has a timeline entry, so only it can lack one.
  email: delivery.filter((one) => one !== "partial"),
  isEligible: fc.oneof(
    { weight: 3, arbitrary: fc.constant(true) },
    { weight: 1, arbitrary: fc.constant(false) },
  ),
  isLate: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});

/** The counts of `weekly_performance_week`, made from the owners one by one. */
function countedAgain(rows: Row[]) {
  const count = (isOne: (row: Row) => boolean) => rows.filter(isOne).length;
  const deliveries = (name: "whatsapp_state" | "email_state") => ({
    sent: count((row) => row[name] === "sent"),
    partial: count((row) => row[name] === "partial"),
    unknown: count((row) => row[name] === "unknown"),
    running: count((row) => row[name] === "running"),
    failed: count((row) => row.eligible && row[name] === "failed"),
    missing: count((row) => row.eligible && row[name] === "missing"),
  });
  const left = (name: "whatsapp_state" | "email_state") =>
    count((row) => !row.eligible && ["failed", "missing"].includes(row[name] ?? ""));
  return {
    owners: count((row) => row.eligible),
    reports: {
      completed: count((row) => row.report_state === "completed"),
      running: count((row) => row.report_state === "running"),
      failed: count((row) => row.eligible && row.report_state === "failed"),
      missing: count((row) => row.report_state === "missing"),
    },
    whatsapp: deliveries("whatsapp_state"),
    email: deliveries("email_state"),
    noLongerEligible: {
      reports: count((row) => !row.eligible && row.report_state === "failed"),
      whatsapp: left("whatsapp_state"),
      email: left("email_state"),
    },
  };
}

for (const major of MAJORS) {
  describeWeek(
    `weekly_performance_week_owners() on PostgreSQL ${major ?? "18"}`,
    (ledger) => {
      test("lists exactly the owners that weekly_performance_week counts, in the same states", async () => {
        await assertInDatabase(
          fc.asyncProperty(fc.array(kind, { minLength: 1, maxLength: 8 }), async (kinds) => {
            await emptyWeek(ledger);
            await makeOwners(ledger, kinds);
            const { social: _, before: __, ...counts } = await countsOf(ledger);
            expect(countedAgain(await ownersOf(ledger))).toEqual(counts);
          }),
          { numRuns: 25 },
        );
      });

      test("knows every state by its name", async () => {
        await emptyWeek(ledger);
        const made = await makeOwners(ledger, [
          { report: "missing" },
          { report: "running" },
          { report: "left" },
          { report: "failed" },
          { report: "completed", whatsapp: "sent", email: "unknown" },
          { report: "completed", whatsapp: "partial", email: "failed" },
          { report: "completed", whatsapp: "left_after_dispatch", email: "left_before_dispatch" },
          { report: "completed", whatsapp: "running", email: "missing" },
          { report: "missing", isLate: true },
          { report: "missing", isEligible: false },
        ]);
        const rows = new Map((await ownersOf(ledger)).map((row) => [row.user_id, row]));
        const states = made.map(({ userId }) => {
          const row = rows.get(userId);
          return row === undefined
            ? null
            : [row.report_state, row.whatsapp_state, row.email_state]
                .filter((state) => state !== null)
                .join(" ");
        });
        expect(states).toEqual([
          "missing",
          "running",
          "failed",
          "failed",
          "completed sent unknown",
          "completed partial failed",
          "completed unknown failed",
          "completed running missing",
          null,
          null,
        ]);
        expect([...rows.values()].every(({ tenant_name }) => tenant_name === "Tenant")).toBe(true);
      });

      test("has an owner once who has reports of two versions: the one that has gone farthest", async () => {
        await emptyWeek(ledger);
        const [sent, made] = await makeOwners(ledger, [
          { report: "completed", whatsapp: "sent", email: "missing" },
          { report: "completed" },
        ]);
        const newer = await ledger.sql<{ id: string; user_id: string }[]>`
          insert into weekly_performance_reports
            (tenant_id, user_id, window_start, window_end, schema_version, status, claim_token, lease_expires_at,
             fingerprint, evidence, payload, coverage_status, completed_at)
          select tenant_id, user_id, window_start, window_end, 2, status, claim_token, lease_expires_at,
                 fingerprint, evidence, payload, coverage_status, completed_at
          from weekly_performance_reports returning id, user_id`;
        const newerOf = (userId: string) => newer.find((row) => row.user_id === userId)!.id;
        const rows = await ownersOf(ledger);
        expect(rows.map(({ user_id, report_id }) => [user_id, report_id]).toSorted()).toEqual(
          [
            [sent!.userId, sent!.reportId],
            [made!.userId, newerOf(made!.userId)],
          ].toSorted(),
        );
        const { social: _, before: __, ...counts } = await countsOf(ledger);
        expect(countedAgain(rows)).toEqual(counts);
      });

      test("owners of one tenant are that tenant's alone", async () => {
        await emptyWeek(ledger);
        const [one] = await makeOwners(ledger, [
          { report: "completed", whatsapp: "sent", email: "sent" },
          { report: "completed", whatsapp: "sent", email: "sent" },
        ]);
        expect(await ownersOf(ledger, one!.tenantId)).toMatchObject([{ user_id: one!.userId }]);
        expect(await ownersOf(ledger, crypto.randomUUID())).toEqual([]);
      });
    },
    major,
  );
}
