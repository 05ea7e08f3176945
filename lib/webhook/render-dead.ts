import { type Screen, stateTone } from "../text/terminal/screen.ts";
import { type Column, renderTable } from "../text/terminal/table.ts";
import { boundedLine } from "../text/truncate.ts";
import type { DeadRow } from "./state/contract.ts";

const LONGEST_NAME = 48;
const COLUMNS: readonly Column[] = [
  { title: "ROW" },
  { title: "KIND" },
  { title: "STATUS", tone: stateTone },
  { title: "ALERT", wraps: true },
  { title: "SQUAD", wraps: true },
  { title: "ATTEMPTS" },
  { title: "CODE" },
  { title: "ACCEPTED AT" },
  { title: "ENDED AT" },
];
const SHOWN = { dead: "given up", in_doubt: "in doubt" } as const;

/** The table of rows that were given up or are in doubt, for people. */
export function renderDead(rows: readonly DeadRow[], screen: Screen): string {
  if (rows.length === 0) return "Nothing was given up.\n";
  return renderTable(
    COLUMNS,
    rows.map(({ id, kind, status, alertname, squad, attempts, code, acceptedAt, diedAt }) => {
      const name = alertname === null ? null : boundedLine(alertname, LONGEST_NAME);
      return [String(id), kind, SHOWN[status], name, squad, String(attempts), code, acceptedAt, diedAt];
    }),
    screen,
  );
}
