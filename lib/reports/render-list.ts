import { fitToWidth } from "../text/display-width.ts";
import { type Column, renderFittedTable } from "../text/fitted-table.ts";
import { singleLine } from "../text/single-line.ts";
import type { ListedDelivery, ListedOwner, OwnerList } from "./list.ts";

const COLUMNS: Column[] = [
  { title: "TENANT", shortest: 12 },
  { title: "TENANT ID" },
  { title: "REPORT" },
  { title: "WHATSAPP" },
  { title: "E-MAIL" },
  { title: "NOTES", shortest: 36 },
];

/** A longer name would make every line of a file as long as itself. */
const NAME_COLUMNS = 60;

/** The owners of a week for people, in at most `width` columns of the terminal where there is one. */
export function renderOwnerList({ week, owners, more, next }: OwnerList, width: number | null): string {
  if (owners.length === 0) return `No owners match in the week of ${week}.\n`;
  const table = renderFittedTable(COLUMNS, owners.map(cells), width);
  return more
    ? `${table}There are more: raise --limit, narrow the list, or go on with --after ${next}\n`
    : table;
}

function cells(owner: ListedOwner): (string | null)[] {
  const name = fitToWidth(singleLine(owner.tenantName ?? ""), NAME_COLUMNS);
  return [
    name === "" ? null : name,
    owner.tenantId,
    owner.report,
    owner.whatsapp?.state ?? null,
    owner.email?.state ?? null,
    notes(owner),
  ];
}

/** Codes, channels without data, and what else explains the line; null when there is nothing to explain. */
function notes({ reportCode, whatsapp, email, withoutData, prunedAt, eligible }: ListedOwner): string | null {
  const parts = [
    ...(reportCode === null ? [] : [reportCode]),
    ...codeOf("WhatsApp", whatsapp),
    ...codeOf("e-mail", email),
    ...(withoutData ?? []).map(({ channel, reason }) => `no ${channel} data: ${singleLine(reason)}`),
    ...(prunedAt === null ? [] : ["content removed"]),
    ...(eligible ? [] : ["gets no reports any more"]),
  ];
  return parts.length === 0 ? null : parts.join("; ");
}

function codeOf(name: string, delivery: ListedDelivery | null): string[] {
  return delivery === null || delivery.code === null ? [] : [`${name}: ${delivery.code}`];
}
