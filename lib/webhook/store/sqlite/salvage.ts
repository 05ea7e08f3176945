import type { DatabaseSync } from "node:sqlite";
import type { Table } from "../sql.ts";
import { isDiskFull } from "./errors.ts";

/** After so many failures the rest of a table is given up, so that the service starts within seconds. */
const MOST_FAILURES = 20_000;
/** More than any row's number. */
const LAST_ROW = 2 ** 40;

/**
 * Copies what can be read of the damaged file at `path` into a new database that has the tables.
 *
 * Shape:     returns how many rows it copied from each table.
 * Behaviour: a range of rows that fails is halved until a single row fails, which is left out. A row's number is not used
 *            again while a process may still record how the row that had it ended.
 * Errors:    those of SQLite for a full disk.
 */
export function salvage(path: string, into: DatabaseSync): Record<Table, number> {
  const copied = { alert: 0, outbox: 0, meta: 0 };
  let failures = 0;
  const copy = (table: Table, from: number, to: number): number => {
    // With the limit SQLite does not look at the row behind the last one, which may be in a damaged page.
    const text = `insert or ignore into main.${table}
      select * from damaged.${table} where rowid between ?1 and ?2 limit 1 + ?2 - ?1`;
    try {
      return Number(into.prepare(text).run(from, to).changes);
    } catch (error) {
      if (isDiskFull(error)) throw error;
    }
    failures += 1;
    if (from >= to || failures >= MOST_FAILURES) return 0;
    const middle = Math.floor((from + to) / 2);
    return copy(table, from, middle) + copy(table, middle + 1, to);
  };
  // Else SQLite reads nothing of a file that is shorter than its header says.
  into.exec("pragma writable_schema = on");
  try {
    into.prepare("attach ? as damaged").run(path);
    for (const table of Object.keys(copied) as Table[]) {
      failures = 0;
      copied[table] = copy(table, 1, LAST_ROW);
    }
  } catch (error) {
    if (isDiskFull(error)) throw error;
  }
  into.exec(AFTERWARDS);
  return copied;
}

const AFTERWARDS = `
  insert or replace into meta (key, value) select 'next_id', 1000000 + max(
    coalesce((select max(id) from outbox), 0),
    coalesce((select cast(value as integer) from meta where key = 'next_id'), 0));
  update outbox set digest = null where digest not in (select id from outbox)`;
