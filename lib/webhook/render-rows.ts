import { prose } from "../text/terminal/prose.ts";
import { type Screen, stateTone } from "../text/terminal/screen.ts";
import { type Column, renderTable } from "../text/terminal/table.ts";
import { boundedLine } from "../text/truncate.ts";
import { OUTBOX_KINDS, type OutboxKind } from "./store/model.ts";
import type { DeadRow, QueuedRow } from "./store/operator.ts";

/** How many columns of a text that somebody else chose are shown. */
const LONGEST = 48;
const short = (text: string | null) => text && boundedLine(text, LONGEST);
const ALERT: readonly Column[] = [
  { title: "ALERT", wraps: true },
  { title: "SQUAD", wraps: true },
  { title: "ATTEMPTS" },
  { title: "CODE" },
];
const HEAD: readonly Column[] = [{ title: "ROW" }, { title: "KIND" }];
const QUEUED = [
  ...[...HEAD, { title: "SEVERITY" }, ...ALERT],
  ...[{ title: "DIGEST" }, { title: "ACCEPTED AT" }, { title: "NEXT ATTEMPT" }],
];
const DEAD = [
  ...[...HEAD, { title: "STATUS", tone: stateTone }, ...ALERT],
  ...[{ title: "ACCEPTED AT" }, { title: "ENDED AT" }],
];

/** Renders the table of queued rows; `counts` is how many are queued of each kind. */
export function renderQueued(
  rows: readonly QueuedRow[],
  counts: Readonly<Record<OutboxKind, number>>,
  screen: Screen,
): string {
  if (rows.length === 0) return "Nothing is queued.\n";
  const cells = rows.map((row) => [
    ...[String(row.id), row.kind, short(row.severity)],
    ...[short(row.alertname), row.squad, String(row.attempts), row.code],
    ...[row.digest === null ? null : `row ${row.digest}`, row.acceptedAt, row.nextAttemptAt],
  ]);
  const all = OUTBOX_KINDS.reduce((sum, kind) => sum + counts[kind], 0);
  const table = renderTable(QUEUED, cells, screen);
  if (all <= rows.length) return table;
  return table + prose([`${rows.length} of ${all} rows; --limit shows more`], screen);
}

/** Renders the table of rows that are dead or unknown. */
export function renderDead(rows: readonly DeadRow[], screen: Screen): string {
  if (rows.length === 0) return "Nothing is undelivered or unknown.\n";
  const cells = rows.map((row) => [
    ...[String(row.id), row.kind, row.status, short(row.alertname), row.squad],
    ...[String(row.attempts), row.code, row.acceptedAt, row.diedAt],
  ]);
  return renderTable(DEAD, cells, screen);
}
