import { singleLine } from "../text/single-line.ts";
import { prose } from "../text/terminal/prose.ts";
import { type Screen, stateTone } from "../text/terminal/screen.ts";
import { type Column, renderTable } from "../text/terminal/table.ts";
import { boundedLine } from "../text/truncate.ts";
import type { ListedDelivery, ListedOwner, OwnerList } from "./list.ts";

const COLUMNS: Column[] = [
  { title: "TENANT", wraps: true },
  { title: "TENANT ID" },
  { title: "REPORT", tone: stateTone },
  { title: "WHATSAPP", tone: stateTone },
  { title: "E-MAIL", tone: stateTone },
  { title: "NOTES", wraps: true },
];

/** A longer name would make every line of a file as long as itself. */
const NAME_COLUMNS = 60;

/** The owners of a week for people. */
export function renderOwnerList({ week, owners, more, next }: OwnerList, screen: Screen): string {
  if (owners.length === 0) return `No owners match in the week of ${week}.\n`;
  const table = renderTable(COLUMNS, owners.map(cells), screen);
  const rest = `There are more: raise --limit, narrow the list, or go on with --after ${next}`;
  return more ? table + prose([rest], screen) : table;
}

function cells(owner: ListedOwner): (string | null)[] {
  const name = boundedLine(owner.tenantName ?? "", NAME_COLUMNS);
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
