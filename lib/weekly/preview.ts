import type postgres from "postgres";
import * as v from "valibot";
import { readOnly } from "../ledger/read-only.ts";
import { type ReportWeek, readReportWeek } from "../ledger/report-week.ts";
import { readOwnersOfTenant, type WeekOwner } from "../ledger/week-owners.ts";
import { OpsError } from "../platform/errors.ts";
import { listConnections } from "./database/connections.ts";
import { readEvidence } from "./database/evidence.ts";
import { readStoredPayload } from "./database/stored-payload.ts";
import { type RenderedEmail, renderEmail } from "./email/render.ts";
import { type Payload, payloadSchema } from "./payload.ts";
import { buildPayload } from "./report/build-payload.ts";
import { evidenceOf } from "./report/evidence.ts";
import { fingerprint } from "./report/fingerprint.ts";
import { renderWhatsappText } from "./texts/whatsapp-text.ts";

/** Both messages of one owner, as a run sends them. */
export type Preview = Pick<WeekOwner, "tenantId" | "tenantName" | "userId" | "reportId"> & {
  week: string;
  /** `stored` is what was or will be sent; `draft` is what a run would make of the database as it is now. */
  source: "stored" | "draft";
  /** The opsctl that made the report. */
  version: string;
  email: RenderedEmail;
  /** Null when its fixed parts do not fit (`message_too_long`). */
  whatsapp: string | null;
};

/** Whose messages, and what enters them besides the report. */
export type PreviewRequest = {
  tenantId: string;
  /** The first local date of the week; the last closed week when left out. */
  week: string | undefined;
  appBaseUrl: string;
  unsubscribe: string | null;
  version: string;
};

/**
 * The messages of a tenant's owners: of the stored report where there is one, else of a draft.
 *
 * Behaviour: reads only, in a transaction that can change nothing, and calls no peer. The bytes are those of a run with
 *            the same `appBaseUrl`, `unsubscribe` and version of opsctl. A draft takes the analyses that are there
 *            already, as if the application had just been asked for all of them.
 * Errors:    TENANT_NOT_ELIGIBLE, REPORT_PRUNED, REPORT_UNREADABLE, WEEK_NOT_CLOSED.
 */
export async function previewReports(sql: postgres.Sql, request: PreviewRequest): Promise<Preview[]> {
  return await readOnly(sql, async (tx) => {
    const week = await readReportWeek(tx, request.week);
    const owners = await readOwnersOfTenant(tx, week, request.tenantId);
    const shown = owners.filter(({ isEligible, reportState }) => isEligible || reportState === "completed");
    if (shown.length === 0) throw notEligible(request.tenantId, week.week);
    const previews: Preview[] = [];
    for (const owner of shown) previews.push(await previewOf(tx, owner, week, request));
    return previews;
  });
}

async function previewOf(
  sql: postgres.ISql,
  owner: WeekOwner,
  week: ReportWeek,
  { appBaseUrl, unsubscribe, version }: PreviewRequest,
): Promise<Preview> {
  const { tenantId, tenantName, userId, reportId, reportState } = owner;
  const isStored = reportState === "completed" && reportId !== null;
  const payload = isStored
    ? await storedPayload(sql, reportId)
    : await draftPayload(sql, owner, week, version);
  return {
    tenantId,
    tenantName,
    userId,
    reportId,
    week: week.week,
    source: isStored ? "stored" : "draft",
    version: payload.provenance.worker.version,
    email: renderEmail(payload, { appBaseUrl, unsubscribe }),
    whatsapp: renderWhatsappText(payload, { appBaseUrl }),
  };
}

async function storedPayload(sql: postgres.ISql, reportId: string): Promise<Payload> {
  const { payload, prunedAt } = await readStoredPayload(sql, reportId);
  if (prunedAt !== null) throw pruned(reportId, prunedAt);
  const parsed = v.safeParse(payloadSchema, payload);
  if (!parsed.success) throw unreadable(reportId);
  return parsed.output;
}

async function draftPayload(
  sql: postgres.ISql,
  scope: WeekOwner,
  week: ReportWeek,
  version: string,
): Promise<Payload> {
  const window = { start: week.start, end: week.end };
  const connections = await listConnections(sql, scope);
  const rows = await readEvidence(
    // Inside a transaction; the query needs nothing else.
    sql as postgres.Sql,
    scope,
    window,
    connections.map(({ id }) => id),
  );
  const evidence = evidenceOf(rows);
  return buildPayload({
    scope,
    window,
    generatedAt: rows.readAt,
    connections: connections.map((connection) => ({ ...connection, code: null })),
    rows,
    evidence,
    fingerprint: fingerprint(evidence).sha256,
    version,
  });
}

function notEligible(tenantId: string, week: string): OpsError {
  return new OpsError({
    code: "TENANT_NOT_ELIGIBLE",
    message: `Cannot preview tenant ${tenantId} in the week of ${week}: it has no report, and no owner who gets one`,
    hint: "A tenant needs an owner, must not be archived, and its wallet must be active or in grace",
  });
}

function pruned(reportId: string, prunedAt: string): OpsError {
  return new OpsError({
    code: "REPORT_PRUNED",
    message: `Cannot preview report ${reportId}: its content was removed on ${prunedAt}`,
    hint: `What is kept of it: opsctl reports show ${reportId}`,
  });
}

function unreadable(reportId: string): OpsError {
  return new OpsError({
    code: "REPORT_UNREADABLE",
    message: `Cannot preview report ${reportId}: its payload is not one that this version of opsctl knows`,
    hint: "A report of a newer opsctl is previewed with that version",
  });
}
