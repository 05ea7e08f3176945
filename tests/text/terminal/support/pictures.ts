/** What people see of each table and screen, drawn by the renderers from made up data, some of it hostile. */
import { renderPlan, renderApplied as renderRules } from "../../../../lib/alert-rules/render.ts";
import type { Delivery } from "../../../../lib/deliveries/delivery.ts";
import type { LookUp } from "../../../../lib/deliveries/look-up/look-up.ts";
import { renderLookUps } from "../../../../lib/deliveries/look-up/render.ts";
import { nextSteps, stepText } from "../../../../lib/deliveries/next-steps.ts";
import { renderDelivery, renderDeliveryList } from "../../../../lib/deliveries/render.ts";
import type { RuleDocument } from "../../../../lib/providers/grafana/document.ts";
import type { ListedOwner } from "../../../../lib/reports/list.ts";
import { renderOwnerList } from "../../../../lib/reports/render-list.ts";
import { renderShown } from "../../../../lib/reports/render-show.ts";
import { renderStatus } from "../../../../lib/reports/render-status.ts";
import { timelineOf } from "../../../../lib/reports/timeline.ts";
import type { Screen } from "../../../../lib/text/terminal/screen.ts";
import { renderDead } from "../../../../lib/webhook/render-rows.ts";
import type { DeadRow } from "../../../../lib/webhook/store/operator.ts";
import { HOST_PICTURES } from "./host-pictures.ts";
import { IDS } from "./ids.ts";

const [ID, TENANT, USER, REPORT, OTHER] = IDS as [string, string, string, string, string];
const WEEK = {
  ...{ week: "2026-11-16", lastDate: "2026-11-22" },
  ...{ start: "2026-11-16T03:00:00Z", end: "2026-11-23T03:00:00Z" },
};
const RETRY_UNTIL = "2026-11-24T03:00:00Z";
/** What a tenant may call itself, and what an alert may be called. */
const HOSTILE = `Ｗ株式会社 \u001b[31mred\u001b]0;title\u0007 \u202eevil\r\n👩‍🌾 ${"x".repeat(10_000)}`;

/** Each picture by its name. */
export const PICTURES: Record<string, (screen: Screen) => string> = {
  ...HOST_PICTURES,
  "reports-list": (screen) => renderOwnerList({ ...WEEK, owners: OWNERS, more: true, next: USER }, screen),
  "reports-status": (screen) => renderStatus(STATUS, { status: "found", run: LAST_RUN }, screen),
  "reports-show": (screen) => renderShown([SHOWN], screen),
  "deliveries-list": (screen) =>
    renderDeliveryList({ deliveries: DELIVERIES, more: true, next: OTHER }, screen),
  "deliveries-show": (screen) =>
    renderDelivery(
      {
        delivery: DELIVERIES[0]!,
        reconciliations: RECONCILIATIONS,
        next: nextSteps(DELIVERIES[0]!).map(stepText),
      },
      screen,
    ),
  "deliveries-look-up": (screen) => renderLookUps(LOOK_UPS, screen),
  "webhook-dead-list": (screen) => renderDead(DEAD, screen),
  "alert-rules-plan": (screen) => renderPlan(RULES, [WARNING], screen),
  "alert-rules-apply": (screen) => renderRules(APPLIED, [WARNING], screen),
};

const owner: ListedOwner = {
  ...{ tenantId: TENANT, tenantName: "Padaria do Zé e filhos", userId: USER, eligible: true },
  ...{ reportId: REPORT, report: "completed", reportCode: null, prunedAt: null, withoutData: [] },
  whatsapp: { state: "sent", code: null, deliveryId: ID },
  email: { state: "sent", code: null, deliveryId: OTHER },
};
const OWNERS: ListedOwner[] = [
  owner,
  {
    ...owner,
    ...{ tenantId: OTHER, tenantName: "مخبز السعادة", eligible: false },
    whatsapp: { state: "unknown", code: "gateway_timeout", deliveryId: ID },
    email: { state: "failed", code: "recipient_email_missing", deliveryId: OTHER },
    withoutData: [{ channel: "instagram", reason: "social_credentials_expired" }],
  },
  { ...owner, tenantName: HOSTILE, withoutData: [{ channel: "linkedin", reason: HOSTILE.slice(0, 200) }] },
  {
    ...owner,
    ...{
      tenantName: null,
      reportId: null,
      report: "missing",
      whatsapp: null,
      email: null,
      withoutData: null,
    },
  },
];

const STATUS = {
  ...WEEK,
  retryableUntil: RETRY_UNTIL,
  clean: false,
  hasRun: true,
  contentRemoved: 0,
  changedAt: "2026-11-23T11:14:39Z",
  counts: {
    owners: 10_000,
    reports: { completed: 9_800, failed: 170, running: 0, missing: 30 },
    whatsapp: { sent: 9_000, unknown: 12, failed: 700, partial: 3, missing: 85, running: 0 },
    email: { sent: 9_795, unknown: 5, failed: 0, partial: 0, missing: 0, running: 0 },
    social: { connected: 12_000, failed: 33, owners: 30 },
    noLongerEligible: { reports: 1, whatsapp: 2, email: 0 },
    before: null,
  },
  open: [
    { step: "reports" as const, state: "missing" as const, code: null, count: 30, next: "opsctl weekly" },
    {
      ...{
        step: "whatsapp" as const,
        state: "unknown" as const,
        code: "lease_expired_after_dispatch",
        count: 12,
      },
      next: "opsctl deliveries look-up --all",
    },
    {
      ...{ step: "email" as const, state: "failed" as const, code: "recipient_email_missing", count: 5 },
      next: "opsctl reports list --week 2026-11-16 --state failed --channel email",
    },
  ],
} as Parameters<typeof renderStatus>[0];
const LAST_RUN = {
  ...{ status: "failed" as const, runId: "r", host: "vps-1.example.com", code: "sem_instancia_gateway" },
  ...{
    begunAt: "2026-11-23T11:00:02Z",
    finishedAt: "2026-11-23T11:14:40Z",
    waiting: null,
    beside: null,
    heartbeat: null,
  },
};

const RECONCILIATIONS = [
  {
    ...{
      state: "failed" as const,
      providerMessageId: null,
      reason: "Not in the provider's log of that hour",
    },
    ...{ actor: "ana", sessionUser: "opsctl_operator", at: "2026-11-23T12:00:00Z" },
  },
];
const DETAILS = {
  report: {
    ...{ id: REPORT, state: "completed" as const, code: null, schemaVersion: 1, attempts: 2 },
    ...{ claimedAt: "2026-11-23T11:00:05Z", changedAt: "2026-11-23T11:00:40Z", leaseExpiresAt: null },
    ...{ completedAt: "2026-11-23T11:00:40Z", prunedAt: null, coverage: "partial" as const, score: 71 },
    ...{ fingerprint: "9".repeat(64), version: "1.4.0" },
    withoutData: [{ channel: "instagram", reason: "social_credentials_expired" }],
  },
  deliveries: [
    {
      ...{
        id: ID,
        channel: "whatsapp" as const,
        state: "unknown" as const,
        code: "gateway_timeout",
        attempts: 1,
      },
      ...{ claimedAt: "2026-11-23T11:00:41Z", leaseExpiresAt: null, dispatchedAt: "2026-11-23T11:00:42Z" },
      ...{ settledAt: "2026-11-23T11:01:12Z", maskedHint: "***4321", senderTenantId: TENANT },
      ...{ providerMessageId: null, reconciliations: RECONCILIATIONS },
    },
  ],
};
const SHOWN = {
  ...{ week: WEEK.week, lastDate: WEEK.lastDate, tenantId: TENANT, userId: USER, eligible: true },
  ...{ tenantName: "Padaria do Zé e filhos", details: DETAILS, timeline: timelineOf(DETAILS) },
  next: [`opsctl deliveries look-up ${ID}`, "opsctl weekly"],
};

const delivery: Delivery = {
  ...{ id: ID, week: WEEK.week, tenantId: TENANT, userId: USER, reportId: REPORT, channel: "whatsapp" },
  ...{ state: "unknown", code: "gateway_timeout", attempts: 1, maskedHint: "***4321" },
  ...{ senderTenantId: TENANT, providerMessageId: null, leaseExpiresAt: null },
  ...{ dispatchedAt: "2026-11-23T11:00:42Z", settledAt: "2026-11-23T11:01:12Z", retryableUntil: null },
};
const DELIVERIES: Delivery[] = [
  delivery,
  {
    ...delivery,
    ...{ id: OTHER, channel: "email", state: "failed", code: "lease_expired_before_dispatch" },
    ...{ maskedHint: null, retryableUntil: RETRY_UNTIL },
  },
  { ...delivery, id: USER, state: "sent", code: null },
];

const lookUp: LookUp = {
  ...{ id: ID, channel: "whatsapp", week: WEEK.week, tenantId: TENANT, status: "found", code: null },
  ...{ providerMessageId: "3EB0A2915FE79939010BFB", sentAt: "2026-11-23T11:00:03Z", providerStatus: "READ" },
  ...{ state: "unknown", settled: false, remark: null },
};
const NOTHING_FOUND = { providerMessageId: null, sentAt: null, providerStatus: null };
const LOOK_UPS: LookUp[] = [
  lookUp,
  { ...lookUp, ...NOTHING_FOUND, id: OTHER, channel: "email", status: "not_found", code: "email_not_found" },
  { ...lookUp, ...NOTHING_FOUND, id: USER, status: "could_not_be_asked", code: "gateway_unauthorized" },
];

const DEAD: DeadRow[] = [
  {
    ...{ id: 17, kind: "message", status: "dead", digest: null, alertname: "MemoryPressureHigh" },
    ...{ fingerprint: "a".repeat(64), squad: "infra", attempts: 96, code: "gateway_http_502" },
    ...{ acceptedAt: "2026-11-22T08:00:00.000Z", diedAt: "2026-11-23T08:00:00.123Z" },
  },
  {
    ...{ id: 1_204, kind: "issue", status: "unknown", digest: null, alertname: HOSTILE },
    ...{ fingerprint: "b".repeat(64), squad: "plataforma e dados", attempts: 3, code: "linear_timeout" },
    ...{ acceptedAt: "2026-11-22T08:00:00.000Z", diedAt: "2026-11-22T09:12:00.000Z" },
  },
];
const WARNING =
  "the group opsctl-host is evaluated every 300 s in Grafana; the rules are made for 60 s, so that they" +
  " fire late. Change it there: the API for rules cannot.";
const rule = {
  ...{ uid: "opsctl-memory-high", title: "Memory pressure is high", group: "opsctl-host" },
  ...{ changes: [], conflictsWith: null, document: {} as RuleDocument },
};
const RULES = [
  { ...rule, action: "none" as const },
  {
    ...rule,
    action: "update" as const,
    changes: [
      { path: "for", from: "5m", to: "10m" },
      { path: "annotations.summary", from: "Memory", to: HOSTILE.slice(0, 300) },
    ],
  },
  { ...rule, action: "conflict" as const, conflictsWith: "someone-elses-rule" },
];
const APPLIED = [
  { ...rule, result: "updated" as const, code: null, message: null },
  {
    ...rule,
    ...{ result: "failed" as const, code: "MONITORING_HTTP_400" },
    message: "invalid alert rule: the query of the condition is not valid, look at the data source",
  },
] as Parameters<typeof renderRules>[0];
