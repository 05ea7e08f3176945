import { singleLine } from "../text/single-line.ts";
import { renderTable } from "../text/table.ts";
import type { DeadRow } from "./state/contract.ts";

const LONGEST_NAME = 48;

/** The table of dead rows, for people. */
export function renderDead(rows: readonly DeadRow[]): string {
  if (rows.length === 0) return "Nothing was given up.\n";
  return renderTable(
    ["ROW", "KIND", "ALERT", "SQUAD", "ATTEMPTS", "CODE", "ACCEPTED AT", "GIVEN UP AT"],
    rows.map(({ id, kind, alertname, squad, attempts, code, acceptedAt, diedAt }) => {
      const name = alertname === null ? null : singleLine(alertname).slice(0, LONGEST_NAME);
      return [String(id), kind, name, squad, String(attempts), code, acceptedAt, diedAt];
    }),
  );
}
