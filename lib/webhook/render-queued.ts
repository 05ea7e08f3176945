import { prose } from "../text/terminal/prose.ts";
import type { Screen } from "../text/terminal/screen.ts";
import { type Column, renderTable } from "../text/terminal/table.ts";
import { boundedLine } from "../text/truncate.ts";
import { OUTBOX_KINDS, type OutboxKind, type QueuedRow } from "./state/contract.ts";

const LONGEST_NAME = 48;
const LONGEST_SEVERITY = 16;
const COLUMNS: readonly Column[] = [
  { title: "ROW" },
  { title: "KIND" },
  { title: "SEVERITY" },
  { title: "ALERT", wraps: true },
  { title: "SQUAD", wraps: true },
  { title: "ATTEMPTS" },
  { title: "CODE" },
  { title: "TOLD BY" },
  { title: "ACCEPTED AT" },
  { title: "NEXT ATTEMPT" },
];

/** The table of rows that wait, for people; `counts` is how many wait of each kind. */
export function renderQueued(
  rows: readonly QueuedRow[],
  counts: Readonly<Record<OutboxKind, number>>,
  screen: Screen,
): string {
  if (rows.length === 0) return "Nothing waits.\n";
  const table = renderTable(
    COLUMNS,
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
    screen,
  );
  const all = OUTBOX_KINDS.reduce((sum, kind) => sum + counts[kind], 0);
  const rest = `${rows.length} of ${all} rows; --limit shows more`;
  return all > rows.length ? table + prose([rest], screen) : table;
}

function short(text: string | null, columns: number): string | null {
  return text === null ? null : boundedLine(text, columns);
}
