import type { Reconciliation } from "../ledger/reconciliation.ts";
import { localTime } from "../time/local-time.ts";
import type { ReportDetails, StoredDelivery, StoredReport } from "./details.ts";

/** One thing that happened, in words; times inside the text are those of the report's zone. */
export type TimelineEntry = { at: string; about: "report" | "whatsapp" | "email"; text: string };

/**
 * What happened to a report, from its claim to the providers' ids and what people decided, oldest first.
 *
 * Behaviour: the ledger keeps the first claim and the last attempt of a row; what lay between them is a number.
 */
export function timelineOf({ report, deliveries }: ReportDetails): TimelineEntry[] {
  const entries = [...reportEntries(report), ...deliveries.flatMap(deliveryEntries)];
  // Instants are whole seconds: within one, the order of the steps is that of the list.
  return entries.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

function reportEntries(report: StoredReport): TimelineEntry[] {
  const { claimedAt, completedAt, prunedAt } = report;
  const entry = (at: string, text: string): TimelineEntry => ({ at, about: "report", text });
  return [
    entry(claimedAt, claimText(report.attempts)),
    completedAt === null ? openReport(report) : entry(completedAt, completedText(report)),
    ...(prunedAt === null ? [] : [entry(prunedAt, "content removed; state and fingerprint stay")]),
  ];
}

/** A report that is not completed: at work, failed, or left behind. */
function openReport({ state, code, changedAt, leaseExpiresAt }: StoredReport): TimelineEntry {
  const about = "report";
  if (leaseExpiresAt === null) return { at: changedAt, about, text: `failed: ${code ?? "no code"}` };
  if (state === "running")
    return { at: changedAt, about, text: `a run works on it, until ${localTime(leaseExpiresAt)} at most` };
  return { at: leaseExpiresAt, about, text: "failed: the run that worked on it ended without a word" };
}

function completedText({ coverage, score, version, withoutData, fingerprint }: StoredReport): string {
  const missing = withoutData?.map(({ channel, reason }) => `${channel} (${reason})`) ?? [];
  return [
    `completed: coverage ${coverage}`,
    ...(withoutData === null ? [] : [score === null ? "no score" : `score ${score}`]),
    ...(missing.length === 0 ? [] : [`without data of ${missing.join(" and ")}`]),
    ...(version === null ? [] : [`by opsctl ${version}`]),
    `fingerprint ${fingerprint?.slice(0, 12)}…`,
  ].join(", ");
}

function deliveryEntries(delivery: StoredDelivery): TimelineEntry[] {
  const { channel, claimedAt, dispatchedAt, attempts } = delivery;
  const entry = (at: string, text: string): TimelineEntry => ({ at, about: channel, text });
  return [
    entry(claimedAt, claimText(attempts)),
    ...(dispatchedAt === null ? [] : [entry(dispatchedAt, dispatchText(delivery))]),
    ...delivery.reconciliations.map((each) => entry(each.at, reconciledText(each))),
    ...endEntry(delivery),
  ];
}

function dispatchText({ maskedHint, senderTenantId }: StoredDelivery): string {
  const to = maskedHint === null ? "" : ` for ${maskedHint}`;
  return `given to the provider${to}${senderTenantId === null ? "" : `, by sender tenant ${senderTenantId}`}`;
}

function reconciledText({ state, actor, sessionUser, reason, providerMessageId }: Reconciliation): string {
  const login = sessionUser === null ? "" : ` (login ${sessionUser})`;
  const id = providerMessageId === null ? "" : `, provider id ${providerMessageId}`;
  return `reconciled as ${state} by ${actor}${login}: ${reason}${id}`;
}

/** How the last attempt ended, or that it has not; nothing where a reconciliation has already said it. */
function endEntry(delivery: StoredDelivery): TimelineEntry[] {
  const { channel: about, state, code, settledAt, leaseExpiresAt, providerMessageId } = delivery;
  if (settledAt === null) return leaseExpiresAt === null ? [] : [openDelivery(delivery, leaseExpiresAt)];
  const isReconciled = delivery.reconciliations.at(-1)?.at === settledAt;
  const at = settledAt;
  if (state === "partial")
    return [
      { at, about, text: `sent, provider id ${providerMessageId}; the timeline lacks its entry (${code})` },
    ];
  if (isReconciled) return [];
  if (state === "sent") return [{ at, about, text: `sent, provider id ${providerMessageId}` }];
  return [{ at, about, text: `${state === "unknown" ? "in doubt (unknown)" : state}: ${code ?? "no code"}` }];
}

function openDelivery({ channel: about, state }: StoredDelivery, leaseExpiresAt: string): TimelineEntry {
  const at = leaseExpiresAt;
  if (state === "running")
    return {
      at,
      about,
      text: "at the latest then the run that holds it has sent it, or is counted as ended",
    };
  const what = state === "unknown" ? "in doubt (unknown)" : "failed before it was sent";
  return { at, about, text: `${what}: the run that held it ended without a word` };
}

function claimText(attempts: number): string {
  return attempts === 1 ? "claimed by a run" : `claimed for the first time; ${attempts} attempts in all`;
}
