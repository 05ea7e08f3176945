import { isWeekDone, openInWeek } from "../../ledger/week-verdict.ts";
import { wrapText } from "../../text/wrap.ts";
import { localTime } from "../../time/local-time.ts";
import type { DeliveryCounts, Failure, WeeklySummary } from "../context/summary.ts";
import { hintFor } from "./failure-hints.ts";

const FAILURE_CODES_SHOWN = 12;
const IDS_SHOWN = 3;
/** Hints are wrapped to the width of a terminal; a line with ids can be copied whole. */
const WIDTH = 80;

const VERDICTS: Record<WeeklySummary["status"], string> = {
  success: "The weekly run succeeded",
  failed: "The weekly run FAILED",
  refused: "The weekly run was refused: nothing was written or sent",
  not_ready: "NOT READY: nothing was written or sent",
  ready: "Ready: a real run would send every report",
};

/** A run's result for a person at a terminal: the same facts as the JSON summary, failures grouped by code. */
export function renderSummary(summary: WeeklySummary): string {
  const { window, durationMs, error, status } = summary;
  const week = window === null ? "" : `, week of ${window.week}`;
  const lines = [`${VERDICTS[status]}${week} (${(durationMs / 1000).toFixed(1)} s)`];
  if (error) lines.push("", `${error.code}: ${error.message}`, ...hintLines(error.hint));
  const hasBegun = window !== null && status !== "refused" && (status !== "not_ready" || summary.dryRun);
  if (hasBegun) lines.push("", ...counterLines(summary));
  if (summary.failures.length > 0) lines.push("", ...failureLines(summary));
  if (summary.unproved.length > 0) lines.push("", ...unprovedLines(summary.unproved));
  const { whatsapp, email } = summary.week ?? summary;
  const inDoubt = whatsapp.unknown + email.unknown;
  if (inDoubt > 0) lines.push("", inDoubtLine(inDoubt));
  return `${lines.join("\n")}\n`;
}

function hintLines(hint: string | undefined): string[] {
  return hint === undefined ? [] : wrapText(`  -> ${hint}`, WIDTH, "     ");
}

function counterLines(summary: WeeklySummary): string[] {
  const { dryRun, reports, social, editorials, heartbeat } = summary;
  const owners = `${reports.scopes} ${reports.scopes === 1 ? "owner" : "owners"}`;
  const readiness = (counts: DeliveryCounts) => {
    const ready = reports.scopes - counts.failed - counts.skipped;
    return counted({ "would be sent": ready, "would fail": counts.failed, skipped: counts.skipped });
  };
  if (dryRun) {
    return [
      row("Owners", owners),
      row("WhatsApp", readiness(summary.whatsapp)),
      row("E-mail", readiness(summary.email)),
      row(
        "Editorials",
        editorials.status === "failed" ? `would fail: ${editorials.code}` : dryEditorials(summary),
      ),
    ];
  }
  const { completed, reused, busy, failed, ineligible } = reports;
  const model = `${editorials.calls} calls, ${editorials.llmCalls} model calls, ${editorials.tenants} tenants`;
  const editorialText = editorials.calls > 0 ? `${editorials.status}: ${model}` : editorials.status;
  return [
    row("Reports", `${owners}: ${counted({ completed, reused, busy, failed, ineligible })}`),
    row("Analyses", counted({ calls: social.calls, failed: social.failed })),
    row("WhatsApp", counted(summary.whatsapp)),
    row("E-mail", counted(summary.email)),
    row("Editorials", editorials.code ? `${editorialText} (${editorials.code})` : editorialText),
    row("Heartbeat", heartbeat),
    ...announcedLines(summary),
    ...weekLines(summary),
  ];
}

/** What is still open in the week, whichever run left it; nothing when the week is done. */
function weekLines({ week }: WeeklySummary): string[] {
  if (week === null || isWeekDone(week)) return [];
  const { reports, whatsapp, email } = openInWeek(week);
  const parts = Object.entries({ reports, WhatsApp: whatsapp, "e-mail": email })
    .filter(([, counts]) => Object.keys(counts).length > 0)
    .map(([name, counts]) => `${name} ${counted(counts)}`);
  return [row("Week open", parts.join("; "))];
}

/** A line only when something was announced, or should have been. */
function announcedLines({ announced }: WeeklySummary): string[] {
  if (announced === "off" || announced === "none") return [];
  return [row("Announced", announced === "failed" ? "FAILED: nobody may have been told" : announced)];
}

function dryEditorials({ editorials }: WeeklySummary): string {
  return editorials.status === "disabled" ? "disabled" : "secret and budget in place";
}

const UNPROVED: Readonly<Record<string, string>> = {
  trigger_secret_unproved: "that the application takes TRIGGER_SECRET",
  editorial_secret_unproved: "that the editorial route takes SOCIAL_EDITORIALS_CRON_SECRET",
  whatsapp_numbers_unproved: "that every owner's number is on WhatsApp",
  email_sender_unproved: "that the e-mail provider sends for the sender's domain",
};

function unprovedLines(codes: string[]): string[] {
  return [
    "Only a real run can prove:",
    ...codes.map((code) => `  ${code}: ${UNPROVED[code] ?? "not known to this version"}`),
  ];
}

function inDoubtLine(count: number): string {
  const messages = count === 1 ? "1 message may have been sent" : `${count} messages may have been sent`;
  return `${messages}, so opsctl leaves it to you: opsctl deliveries look-up --all`;
}

function row(label: string, text: string): string {
  return `  ${label.padEnd(11)}${text}`;
}

function counted(counts: Record<string, number>): string {
  const parts = Object.entries(counts).filter(([, count]) => count > 0);
  return parts.length === 0 ? "none" : parts.map(([name, count]) => `${count} ${name}`).join(", ");
}

function failureLines(summary: WeeklySummary): string[] {
  const { failures, failuresTruncated, retryableUntil, dryRun } = summary;
  const groups = Map.groupBy(failures, nameOf);
  const lines = [failuresTruncated ? `What failed (the first ${failures.length}):` : "What failed:"];
  for (const [name, group] of [...groups].slice(0, FAILURE_CODES_SHOWN)) {
    lines.push(`  ${name}${group.length > 1 ? ` (${group.length})` : ""}`);
    const hint = hintFor(group[0]!);
    if (hint) lines.push(...wrapText(`    -> ${hint}`, WIDTH, "       "));
    for (const failure of group.slice(0, IDS_SHOWN)) {
      const ids = idsOf(failure);
      if (ids) lines.push(`       ${ids}`);
    }
    if (group.length > IDS_SHOWN)
      lines.push(`       and ${group.length - IDS_SHOWN} more; --json names them`);
  }
  if (groups.size > FAILURE_CODES_SHOWN) lines.push(`  and ${groups.size - FAILURE_CODES_SHOWN} more codes`);
  const { reports, whatsapp, email } = summary.week ?? summary;
  if (retryableUntil && !dryRun && reports.failed + whatsapp.failed + email.failed > 0)
    lines.push(
      "",
      `What failed can be tried again until ${localTime(retryableUntil)} (São Paulo): opsctl weekly`,
    );
  return lines;
}

function nameOf({ step, code, cause }: Failure): string {
  return cause === undefined ? `${step}: ${code}` : `${step}: ${code}, ${cause}`;
}

function idsOf({ tenantId, deliveryId, providerMessageId }: Failure): string {
  const named = { tenant: tenantId, delivery: deliveryId, "provider id": providerMessageId };
  return Object.entries(named)
    .filter(([, id]) => id !== undefined)
    .map(([name, id]) => `${name} ${id}`)
    .join("  ");
}
