import { singleLine } from "../text/single-line.ts";
import { renderTable } from "../text/table.ts";
import type { DeadRow } from "./state/contract.ts";

const LONGEST_NAME = 48;
const SHOWN = { dead: "given up", in_doubt: "in doubt" } as const;

/** The table of rows that were given up or are in doubt, for people. */
export function renderDead(rows: readonly DeadRow[]): string {
  if (rows.length === 0) return "Nothing was given up.\n";
  return renderTable(
    ["ROW", "KIND", "STATUS", "ALERT", "SQUAD", "ATTEMPTS", "CODE", "ACCEPTED AT", "ENDED AT"],
    rows.map(({ id, kind, status, alertname, squad, attempts, code, acceptedAt, diedAt }) => {
      const name = alertname === null ? null : singleLine(alertname).slice(0, LONGEST_NAME);
      return [String(id), kind, SHOWN[status], name, squad, String(attempts), code, acceptedAt, diedAt];
    }),
  );
}
