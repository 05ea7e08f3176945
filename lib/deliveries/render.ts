import { singleLine } from "../text/single-line.ts";
import { fieldLines, prose, proseLines, unbroken } from "../text/terminal/prose.ts";
import { type Screen, stateTone } from "../text/terminal/screen.ts";
import { type Column, renderTable } from "../text/terminal/table.ts";
import { REPORT_ZONE } from "../time/local-date.ts";
import { localTime } from "../time/local-time.ts";
import type { Delivery } from "./delivery.ts";
import type { DeliveryList } from "./list.ts";
import { nextSteps, stepText } from "./next-steps.ts";
import type { Reconciled } from "./reconcile.ts";
import type { Repair } from "./repair.ts";
import type { DeliveryDetails } from "./show.ts";

const COLUMNS: readonly Column[] = [
  { title: "ID" },
  { title: "STATE", tone: stateTone },
  { title: "CHANNEL" },
  { title: "CODE" },
  { title: "RECIPIENT" },
  { title: "WEEK" },
  { title: "RETRY UNTIL (SÃO PAULO)", name: "retry until (São Paulo)" },
  { title: "TENANT" },
];

/** The list for people, the most important columns first; `deliveries show` and `--json` have the others. */
export function renderDeliveryList({ deliveries, more, next }: DeliveryList, screen: Screen): string {
  if (deliveries.length === 0) return "No deliveries match.\n";
  const table = renderTable(
    COLUMNS,
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
    screen,
  );
  const rest = `There are more: raise --limit, narrow the list, or go on with --after ${next}`;
  return more ? table + prose([rest], screen) : table;
}

/** One delivery for people: its fields, its history and the next steps. */
export function renderDelivery({ delivery, reconciliations, next }: DeliveryDetails, screen: Screen): string {
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
  const shown = fieldLines(fields, screen);
  const history = reconciliations.flatMap(({ at, actor, sessionUser, state, reason }) => {
    const line = `  ${localTime(at)}  ${state} by ${singleLine(actor)}${login(sessionUser)}: ${singleLine(reason)}`;
    return proseLines(line, screen, { indent: "    " });
  });
  const steps = nextSteps(delivery).flatMap(({ text, command }) => {
    const step = stepText({ text, ...(command === undefined ? {} : { command: unbroken(command) }) });
    return proseLines(`  ${step}`, screen, { indent: "    " });
  });
  return [
    ...shown,
    ...(history.length === 0 ? [] : ["", "Reconciled:", ...history]),
    ...(next.length === 0 ? [] : ["", "Next:", ...steps]),
    "",
    ...proseLines(`Times are those of ${REPORT_ZONE}.`, screen),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

/** What a reconciliation did, for people. */
export function renderReconciled({ id, state, code }: Reconciled, screen: Screen): string {
  return prose([`Delivery ${id} is ${state} now${code === null ? "" : ` (${code})`}.`], screen);
}

/** What a repair did, for people. */
export function renderRepair(
  { repaired, failed, failedIds, causes, remaining }: Repair,
  screen: Screen,
): string {
  if (repaired + failed + remaining === 0) return "No timeline entry is missing.\n";
  const left = remaining === 0 ? "" : `, ${remaining} not tried`;
  const more = failed > failedIds.length ? [`  and ${failed - failedIds.length} more`] : [];
  const missing = [
    "",
    "Still missing:",
    ...failedIds.map((id) => `  ${id}`),
    ...more,
    "",
    refusedText(causes),
  ];
  return prose([`${repaired} written, ${failed} failed${left}.`, ...(failed === 0 ? [] : missing)], screen);
}

function refusedText(causes: string[]): string {
  const why = causes.length === 0 ? "" : ` (${causes.join(", ")})`;
  return `The database refused these entries${why}: look at timeline_entries, its triggers and its checks, and try again.`;
}

function login(sessionUser: string | null): string {
  return sessionUser === null ? "" : ` (login ${singleLine(sessionUser)})`;
}

function retry({ state, retryableUntil }: Delivery): string | null {
  if (state !== "failed") return null;
  return retryableUntil === null ? "closed" : localTime(retryableUntil);
}
