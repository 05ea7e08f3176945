import { singleLine } from "../text/single-line.ts";
import { renderTable } from "../text/table.ts";
import { OUTBOX_KINDS, type OutboxKind, type QueuedRow } from "./state/contract.ts";

const LONGEST_NAME = 48;
const LONGEST_SEVERITY = 16;

/** The table of rows that wait, for people; `counts` is how many wait of each kind. */
export function renderQueued(
  rows: readonly QueuedRow[],
  counts: Readonly<Record<OutboxKind, number>>,
): string {
  if (rows.length === 0) return "Nothing waits.\n";
  const table = renderTable(
    [
      "ROW",
      "KIND",
      "SEVERITY",
      "ALERT",
      "SQUAD",
      "ATTEMPTS",
      "CODE",
      "TOLD BY",
      "ACCEPTED AT",
      "NEXT ATTEMPT",
    ],
    rows.map((row) => [
      String(row.id),
      row.kind,
      short(row.severity, LONGEST_SEVERITY),
      short(row.alertname, LONGEST_NAME),
      row.squad,
      String(row.attempts),
      row.code,
      row.digest === null ? null : `row ${row.digest}`,
      row.acceptedAt,
      row.nextAttemptAt,
    ]),
  );
  const all = OUTBOX_KINDS.reduce((sum, kind) => sum + counts[kind], 0);
  return all > rows.length ? `${table}${rows.length} of ${all} rows; --limit shows more\n` : table;
}

function short(text: string | null, units: number): string | null {
  return text === null ? null : singleLine(text).slice(0, units);
}
