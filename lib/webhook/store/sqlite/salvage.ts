import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import type { Table } from "../sql.ts";

/** After so many failed reads the rest of a table is given up, so that the service starts within seconds. */
const MOST_FAILURES = 20_000;
/** More than any row's number, for a table whose last row cannot be read. */
const LAST_ROW = 2 ** 40;

/**
 * Copies what can be read of the damaged file at `path` into a database that has the tables and no rows.
 *
 * Shape:     returns how many rows it copied from each table.
 * Behaviour: a row's number is not used again while a process may still record how the row that had it ended.
 * Errors:    those of SQLite for the new database, such as a full disk.
 */
export function salvage(path: string, into: DatabaseSync): Record<Table, number> {
  const copied = { alert: 0, outbox: 0, meta: 0, hour: 0 };
  const damaged = readable(() => new DatabaseSync(path, { defensive: false }));
  // Else SQLite reads nothing of a file that is shorter than its header says.
  readable(() => damaged?.exec("pragma writable_schema = on"));
  into.exec("begin immediate");
  for (const table of Object.keys(copied) as Table[]) {
    const columns = into.prepare(`select name from pragma_table_info('${table}')`).all();
    const names = columns.map(({ name }) => String(name));
    const marks = names.map(() => "?").join(", ");
    const insert = into.prepare(`insert or ignore into ${table} (${names}) values (${marks})`);
    const range = `select rowid as number, ${names} from ${table} where rowid between ? and ? order by number`;
    const select = readable(() => damaged?.prepare(range));
    const last = readable(() => damaged?.prepare(`select max(rowid) as number from ${table}`).get()?.number);
    if (!select) continue;
    for (const row of readableRows(select, 1, Number(last ?? LAST_ROW), { failures: 0 }))
      copied[table] += Number(insert.run(...names.map((name) => row[name] ?? null)).changes);
  }
  into.exec(AFTERWARDS);
  readable(() => damaged?.close());
  return copied;
}

const AFTERWARDS = `
  insert into meta (key, value) select 'next_id', 1000001 + max(
    coalesce((select max(id) from outbox), 0),
    coalesce((select cast(value as integer) from meta where key = 'next_id'), 0)) where true
  on conflict (key) do update set value = excluded.value;
  update outbox set digest = null where digest is not null and digest not in (select id from outbox);
  commit`;

type Row = Record<string, SQLInputValue>;

/** Rows of a range: one that fails is halved until a single row fails, which is left out. */
function* readableRows(
  select: StatementSync,
  from: number,
  to: number,
  budget: { failures: number },
): Generator<Row> {
  const rows = select.iterate(from, to);
  let next = from;
  for (;;) {
    const row = readable(() => rows.next().value as Row | undefined);
    if (row === undefined) return;
    if (row === null) break;
    yield row;
    next = Number(row.number) + 1;
  }
  budget.failures += 1;
  if (next >= to || budget.failures >= MOST_FAILURES) return;
  const middle = Math.floor((next + to) / 2);
  yield* readableRows(select, next, middle, budget);
  yield* readableRows(select, middle + 1, to, budget);
}

/** What `read` returns, null when it fails. */
function readable<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
