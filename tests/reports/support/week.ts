/** A week of the ledger, owner by owner, in any state that there is. */
import { afterAll, beforeAll, describe } from "bun:test";
import { type Claim, Ledger, type Owner } from "../../sql/support/ledger.ts";
import { sharedPostgres, type TestDatabase } from "../../support/postgres.ts";
import { MONDAY } from "../../support/seed.ts";

/** How a delivery of a completed report stands; `left_…` are those whose run ended without a word. */
export const DELIVERIES = [
  "missing",
  "sent",
  "partial",
  "failed",
  "unknown",
  "running",
  "left_before_dispatch",
  "left_after_dispatch",
] as const;

/** One of these. */
export type DeliveryKind = (typeof DELIVERIES)[number];

/** How a report stands. */
export const REPORTS = ["missing", "running", "left", "failed", "completed"] as const;

/** One owner of a week; deliveries only of a completed report. */
export type OwnerKind = {
  report: (typeof REPORTS)[number];
  whatsapp?: DeliveryKind;
  email?: DeliveryKind;
  isEligible?: boolean;
  /** Came when the week could no longer be reported. */
  isLate?: boolean;
};

/** An owner as made, with the ids of what there is. */
export type MadeOwner = Owner & {
  reportId: string | null;
  whatsappId: string | null;
  emailId: string | null;
};

/** Registers tests on one migrated database whose clock starts on a Monday. */
export function describeWeek(name: string, define: (ledger: Ledger) => void, major?: number): void {
  describe(name, () => {
    let database: TestDatabase;
    const ledger = new Ledger(() => database, major);
    beforeAll(async () => {
      database = await (await sharedPostgres(major)).createDatabase();
      await ledger.setClock(MONDAY);
    });
    afterAll(async () => {
      await database.drop();
    });
    define(ledger);
  });
}

/** Removes every owner, so that the next test has a week of its own. */
export async function emptyWeek(ledger: Ledger): Promise<void> {
  await ledger.sql`delete from timeline_entries`;
  await ledger.sql`delete from credit_wallets`;
  await ledger.sql`delete from users`;
  await ledger.sql`delete from tenants`;
  await ledger.setClock(MONDAY);
}

/** Makes owners of these kinds; afterwards the clock stands at 08:25 of the Monday. */
export async function makeOwners(ledger: Ledger, kinds: readonly OwnerKind[]): Promise<MadeOwner[]> {
  const owners: MadeOwner[] = [];
  for (const _ of kinds) {
    const owner = await ledger.newOwner();
    // Whatever the day on which the test runs.
    await ledger.sql`update users set created_at = '2026-11-01' where id = ${owner.userId}`;
    owners.push({ ...owner, reportId: null, whatsappId: null, emailId: null });
  }
  const each = async (work: (owner: MadeOwner, kind: OwnerKind) => Promise<void>) => {
    for (const [at, kind] of kinds.entries()) await work(owners[at]!, kind);
  };
  await each((owner, kind) => makeReport(ledger, owner, kind, true));
  await ledger.moveClock("25 minutes");
  await each((owner, kind) => makeReport(ledger, owner, kind, false));
  await each((owner, kind) => leaveOut(ledger, owner, kind));
  return owners;
}

/** The report and its deliveries; what a run left behind comes first, and its lease expires afterwards. */
async function makeReport(ledger: Ledger, owner: MadeOwner, kind: OwnerKind, isLeft: boolean): Promise<void> {
  const kinds = [kind.whatsapp ?? "missing", kind.email ?? "missing"] as const;
  if (kind.report === "missing") return;
  if (kind.report === "completed") {
    owner.reportId ??= await ledger.completedReport(owner);
    const [whatsapp, email] = kinds;
    if (whatsapp.startsWith("left") === isLeft)
      owner.whatsappId = await makeDelivery(ledger, owner.reportId, "whatsapp", whatsapp);
    if (email.startsWith("left") === isLeft)
      owner.emailId = await makeDelivery(ledger, owner.reportId, "email", email);
    return;
  }
  if ((kind.report === "left") !== isLeft) return;
  const claim = await ledger.claimReport(owner);
  owner.reportId = claim.id;
  if (kind.report === "failed") await ledger.failReport(claim, "report_evidence_failed");
}

async function makeDelivery(
  ledger: Ledger,
  reportId: string,
  channel: "whatsapp" | "email",
  kind: DeliveryKind,
): Promise<string | null> {
  if (kind === "missing") return null;
  const claim = await ledger.claimDelivery(reportId, channel);
  if (kind === "running" || kind === "left_before_dispatch") return claim.id;
  if (kind === "failed") {
    await ledger.settle(
      claim,
      "failed",
      null,
      `recipient_${channel === "email" ? "email" : "phone"}_missing`,
    );
    return claim.id;
  }
  await ledger.dispatch(claim, channel === "whatsapp" ? "4321" : "f***@example.com");
  await settleAs(ledger, claim, kind);
  return claim.id;
}

async function settleAs(ledger: Ledger, claim: Claim, kind: DeliveryKind): Promise<void> {
  if (kind === "unknown") await ledger.settle(claim, "unknown", null, "gateway_timeout");
  if (kind !== "sent" && kind !== "partial") return;
  await ledger.settle(claim, "sent", `provider-${claim.id}`);
  if (kind === "partial")
    await withoutGuards(ledger, async (tx) => {
      await tx`update weekly_performance_deliveries set error_code = 'timeline_entry_failed' where id = ${claim.id}`;
    });
}

async function leaveOut(ledger: Ledger, owner: MadeOwner, { isEligible, isLate }: OwnerKind): Promise<void> {
  if (isEligible === false)
    await ledger.sql`update credit_wallets set status = 'closed' where tenant_id = ${owner.tenantId}`;
  if (isLate)
    await ledger.sql`update users set created_at = '2026-11-24T03:00:00Z' where id = ${owner.userId}`;
}

/** Changes rows as no caller may. */
export async function withoutGuards(
  { sql }: Ledger,
  change: (tx: import("postgres").ISql) => Promise<void>,
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await change(tx);
  });
}
