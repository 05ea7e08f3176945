import { renderFittedTable } from "../text/fitted-table.ts";
import { singleLine } from "../text/single-line.ts";
import { stepLines } from "../text/step-lines.ts";
import { wrapText } from "../text/wrap.ts";
import { REPORT_ZONE } from "../time/local-date.ts";
import { localTime } from "../time/local-time.ts";
import type { Delivery } from "./delivery.ts";
import type { DeliveryList } from "./list.ts";
import type { Reconciled } from "./reconcile.ts";
import type { Repair } from "./repair.ts";
import type { DeliveryDetails } from "./show.ts";

const COLUMNS = ["ID", "STATE", "CHANNEL", "CODE", "HINT", "WEEK", "RETRY UNTIL (SÃO PAULO)", "TENANT"];

/**
 * The list for people, the most important columns first; `deliveries show` and `--json` have the others.
 *
 * Units: `width` is in columns of the terminal, null where there is none.
 */
export function renderDeliveryList(
  { deliveries, more, next }: DeliveryList,
  width: number | null = null,
): string {
  if (deliveries.length === 0) return "No deliveries match.\n";
  const table = renderFittedTable(
    COLUMNS.map((title) => ({ title })),
    deliveries.map((delivery) => [
      delivery.id,
      delivery.state,
      delivery.channel,
      delivery.code,
      delivery.maskedHint,
      delivery.week,
      retry(delivery),
      delivery.tenantId,
    ]),
    width,
  );
  return more
    ? `${table}There are more: raise --limit, narrow the list, or go on with --after ${next}\n`
    : table;
}

/** One delivery for people: its fields, its history and the next steps, in lines of `width` columns. */
export function renderDelivery(
  { delivery, reconciliations, next }: DeliveryDetails,
  width: number | null,
): string {
  const fields: [string, string | null][] = [
    ["Delivery", delivery.id],
    ["Week", delivery.week],
    ["Tenant", delivery.tenantId],
    ["User", delivery.userId],
    ["Report", delivery.reportId],
    ["Channel", delivery.channel],
    ["State", delivery.state],
    ["Code", delivery.code],
    ["Attempts", String(delivery.attempts)],
    ["Recipient", delivery.maskedHint],
    ["Sender tenant", delivery.senderTenantId],
    ["Provider id", delivery.providerMessageId],
    ["Dispatched", delivery.dispatchedAt && localTime(delivery.dispatchedAt)],
    ["Settled", delivery.settledAt && localTime(delivery.settledAt)],
    ["Retry until", retry(delivery)],
  ];
  const shown = fields.map(([name, value]) => `${name.padEnd(14)}${value ?? "-"}\n`).join("");
  const history = reconciliations.flatMap(({ at, actor, sessionUser, state, reason }) => {
    const line = `  ${localTime(at)}  ${state} by ${singleLine(actor)}${login(sessionUser)}: ${singleLine(reason)}`;
    return (width === null ? [line] : wrapText(line, width, "    ")).map((part) => `${part}\n`);
  });
  const steps = next.flatMap((step) => stepLines(step, width));
  return [
    shown,
    history.length === 0 ? "" : `\nReconciled:\n${history.join("")}`,
    next.length === 0 ? "" : `\nNext:\n${steps.map((line) => `${line}\n`).join("")}`,
    `\nTimes are those of ${REPORT_ZONE}.\n`,
  ].join("");
}

/** What a reconciliation did, for people. */
export function renderReconciled({ id, state, code }: Reconciled): string {
  return `Delivery ${id} is ${state} now${code === null ? "" : ` (${code})`}.\n`;
}

/** What a repair did, for people. */
export function renderRepair({ repaired, failed, failedIds, remaining }: Repair): string {
  if (repaired + failed + remaining === 0) return "No timeline entry is missing.\n";
  const left = remaining === 0 ? "" : `, ${remaining} not tried`;
  const ids = failedIds.map((id) => `  ${id}\n`).join("");
  const more = failed > failedIds.length ? `  and ${failed - failedIds.length} more\n` : "";
  const hint =
    failed === 0
      ? ""
      : "\nThe database refused these entries: look at timeline_entries, its triggers and its checks, and try again.\n";
  return `${repaired} written, ${failed} failed${left}.\n${failed === 0 ? "" : `\nStill missing:\n${ids}${more}${hint}`}`;
}

function login(sessionUser: string | null): string {
  return sessionUser === null ? "" : ` (login ${singleLine(sessionUser)})`;
}

function retry({ state, retryableUntil }: Delivery): string | null {
  if (state !== "failed") return null;
  return retryableUntil === null ? "closed" : localTime(retryableUntil);
}
