import { ownersBeforeText, ownersDropped } from "../../ledger/owners-dropped.ts";
import { weekSteps } from "../../ledger/week-steps.ts";
import { isWeekDone, openInWeek } from "../../ledger/week-verdict.ts";
import { displayWidth } from "../../text/display-width.ts";
import { hangingLines, proseLines, unbroken } from "../../text/terminal/prose.ts";
import { paint, type Screen, type Tone } from "../../text/terminal/screen.ts";
import { localTime } from "../../time/local-time.ts";
import type { DeliveryCounts, Failure, WeeklySummary } from "../context/summary.ts";
import { hintFor } from "./failure-hints.ts";

const FAILURE_CODES_SHOWN = 12;
const IDS_SHOWN = 3;
const ID_INDENT = "         ";
/** The width of a hint that goes to a file or a pipe. */
const UNLIMITED_WIDTH = 80;

const VERDICTS: Record<WeeklySummary["status"], string> = {
  success: "The weekly run succeeded",
  failed: "The weekly run FAILED",
  refused: "The weekly run was refused: nothing was written or sent",
  not_ready: "NOT READY: nothing was written or sent",
  ready: "Ready: a real run would send every report",
};

const TONES: Record<WeeklySummary["status"], Tone> = {
  ...{ success: "good", ready: "good", refused: "warning" },
  ...{ failed: "bad", not_ready: "bad" },
};

/**
 * A run's result for people: the same facts as the JSON summary, failures grouped by code.
 *
 * Behaviour: lines are broken between words at the screen's width; an id or a command never is.
 */
export function renderSummary(summary: WeeklySummary, screen: Screen): string {
  const { window, error, status } = summary;
  const lines = verdictLines(summary, screen);
  if (error) lines.push("", ...errorLines(error, screen));
  const hasBegun = window !== null && status !== "refused" && (status !== "not_ready" || summary.dryRun);
  if (hasBegun)
    lines.push("", ...counters(summary).flatMap(([name, text]) => hangingLines(headOf(name), text, screen)));
  if (summary.failures.length > 0) lines.push("", ...failureLines(summary, screen));
  if (summary.unproved.length > 0) lines.push("", ...unprovedLines(summary.unproved, screen));
  const { whatsapp, email } = summary.week ?? summary;
  const inDoubt = whatsapp.unknown + email.unknown;
  if (inDoubt > 0) lines.push("", ...proseLines(inDoubtLine(inDoubt), screen));
  return `${lines.join("\n")}\n`;
}

function verdictLines({ window, durationMs, status }: WeeklySummary, screen: Screen): string[] {
  const week = window === null ? "" : `, week of ${window.week}`;
  const line = `${VERDICTS[status]}${week} (${(durationMs / 1000).toFixed(1)} s)`;
  const [first = "", ...more] = proseLines(line, screen, { indent: "  " });
  return [paint(TONES[status], first, screen), ...more];
}

/** The message of an error may be several lines, such as one for each setting. */
function errorLines({ code, message, hint }: NonNullable<WeeklySummary["error"]>, screen: Screen): string[] {
  const lines = `${code}: ${message}`.split("\n");
  return [
    ...lines.flatMap((line) => proseLines(line, screen, { indent: `${/^ */.exec(line)![0]}  ` })),
    ...(hint === undefined ? [] : hintLines("  -> ", hint, screen)),
  ];
}

function hintLines(head: string, hint: string, { width, clean }: Screen): string[] {
  return proseLines(
    head + hint,
    { width: width ?? UNLIMITED_WIDTH, clean },
    { indent: " ".repeat(head.length) },
  );
}

type Row = readonly [name: string, text: string];

function counters(summary: WeeklySummary): Row[] {
  const { dryRun, reports, social, editorials, heartbeat } = summary;
  const owners = ofKind(reports.scopes, "owner");
  const readiness = (counts: DeliveryCounts) => {
    const ready = reports.scopes - counts.failed - counts.skipped;
    return counted({ "would be sent": ready, "would fail": counts.failed, skipped: counts.skipped });
  };
  if (dryRun) {
    return [
      ["Owners", owners],
      ["WhatsApp", readiness(summary.whatsapp)],
      ["E-mail", readiness(summary.email)],
      [
        "Editorials",
        editorials.status === "failed" ? `would fail: ${editorials.code}` : dryEditorials(summary),
      ],
    ];
  }
  const { completed, reused, busy, failed, ineligible } = reports;
  const { calls, llmCalls, tenants } = editorials;
  const model = `${ofKind(calls, "call")}, ${ofKind(llmCalls, "model call")}, ${ofKind(tenants, "tenant")}`;
  const editorialText = editorials.calls > 0 ? `${editorials.status}: ${model}` : editorials.status;
  return [
    ["Reports", `${owners}: ${counted({ completed, reused, busy, failed, ineligible })}`],
    ["Analyses", counted({ [social.calls === 1 ? "call" : "calls"]: social.calls, failed: social.failed })],
    ["WhatsApp", counted(summary.whatsapp)],
    ["E-mail", counted(summary.email)],
    ["Editorials", editorials.code ? `${editorialText} (${editorials.code})` : editorialText],
    ["Heartbeat", heartbeat],
    ...announcedRows(summary),
    ...ownersRows(summary),
    ...weekRows(summary),
  ];
}

/** A row only when far fewer owners get a report than in the week before. */
function ownersRows({ week }: WeeklySummary): Row[] {
  return week === null || ownersDropped(week) === null
    ? []
    : [["Owners", `${week.owners}${ownersBeforeText(week)}`]];
}

/** What is still open in the week, whichever run left it; nothing when the week is done. */
function weekRows({ week }: WeeklySummary): Row[] {
  if (week === null || isWeekDone(week)) return [];
  const { reports, whatsapp, email } = openInWeek(week);
  const parts = Object.entries({ reports, WhatsApp: whatsapp, "e-mail": email })
    .filter(([, counts]) => Object.keys(counts).length > 0)
    .map(([name, counts]) => `${name} ${counted(counts)}`);
  return [["Week open", parts.join("; ")]];
}

/** A row only when something was announced, or should have been. */
function announcedRows({ announced }: WeeklySummary): Row[] {
  if (announced === "off" || announced === "none") return [];
  return [["Announced", announced === "failed" ? "FAILED: nobody may have been told" : announced]];
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

function unprovedLines(codes: string[], screen: Screen): string[] {
  const lines = codes.map((code) => `  ${code}: ${UNPROVED[code] ?? "not known to this version"}`);
  return [
    "Only a real run can prove:",
    ...lines.flatMap((line) => proseLines(line, screen, { indent: "    " })),
  ];
}

function inDoubtLine(count: number): string {
  const messages = count === 1 ? "1 message may have been sent" : `${count} messages may have been sent`;
  return `${messages}, so opsctl leaves it to you: ${unbroken("opsctl deliveries look-up --all")}`;
}

function headOf(name: string): string {
  return `  ${name.padEnd(11)}`;
}

/** "1 owner", "2 owners". */
function ofKind(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? "" : "s"}`;
}

function counted(counts: Record<string, number>): string {
  const parts = Object.entries(counts).filter(([, count]) => count > 0);
  return parts.length === 0 ? "none" : parts.map(([name, count]) => `${count} ${name}`).join(", ");
}

function failureLines(summary: WeeklySummary, screen: Screen): string[] {
  const { failures, failuresTruncated, dryRun } = summary;
  const head = dryRun ? "What would fail" : "What failed";
  const groups = [...Map.groupBy(failures, nameOf)];
  const lines = [failuresTruncated ? `${head} (the first ${failures.length}):` : `${head}:`];
  for (const [name, group] of groups.slice(0, FAILURE_CODES_SHOWN))
    lines.push(...groupLines(name, group, screen));
  if (groups.length > FAILURE_CODES_SHOWN)
    lines.push(`  and ${groups.length - FAILURE_CODES_SHOWN} more codes`);
  return [...lines, ...againLines(summary, screen)];
}

/** A code, what helps, and the ids of the first that have it. */
function groupLines(name: string, group: Failure[], screen: Screen): string[] {
  const named = `  ${name}${group.length > 1 ? ` (${group.length})` : ""}`;
  const hint = hintFor(group[0]!);
  const rest = group.length - IDS_SHOWN;
  return [
    ...proseLines(named, screen, { indent: "    " }),
    ...(hint ? hintLines("    -> ", hint, screen) : []),
    ...group.slice(0, IDS_SHOWN).flatMap((failure) => idLines(failure, screen)),
    ...(rest > 0 ? [`       and ${rest} more; --json names them`] : []),
  ];
}

function againLines({ retryableUntil, dryRun, ...summary }: WeeklySummary, screen: Screen): string[] {
  if (!retryableUntil || dryRun || !isForAnotherRun(summary)) return [];
  const until = `${localTime(retryableUntil)} (São Paulo)`;
  return [
    "",
    ...proseLines(`What failed can be tried again until ${until}: ${unbroken("opsctl weekly")}`, screen),
  ];
}

/** Whether another run takes what this one left, be it that it stands in no ledger. */
function isForAnotherRun({
  week,
  reports,
  whatsapp,
  email,
  editorials,
  heartbeat,
}: Omit<WeeklySummary, "retryableUntil" | "dryRun">): boolean {
  if (editorials.status === "failed" || heartbeat === "failed") return true;
  return week === null
    ? reports.failed + whatsapp.failed + email.failed > 0
    : weekSteps(week, { isClosed: false }).includes("run");
}

function nameOf({ step, code, cause }: Failure): string {
  return cause === undefined ? `${step}: ${code}` : `${step}: ${code}, ${cause}`;
}

/** The ids of a failure on one line, or where that is too narrow each on its own, below the first. */
function idLines({ tenantId, deliveryId, providerMessageId }: Failure, screen: Screen): string[] {
  const named = { tenant: tenantId, delivery: deliveryId, "provider id": providerMessageId };
  const ids = Object.entries(named)
    .filter(([, id]) => id !== undefined)
    .map(([name, id]) => `${name} ${id}`);
  const line = `       ${ids.join("  ")}`;
  if (ids.length === 0) return [];
  if (screen.width === null || displayWidth(line) <= screen.width) return [line];
  return ids.flatMap((id, at) =>
    proseLines(`${at === 0 ? "" : "  "}       ${id}`, screen, { indent: ID_INDENT }),
  );
}
