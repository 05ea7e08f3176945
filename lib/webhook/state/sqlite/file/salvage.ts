import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

/** A row as it is in the file. */
export type RawRow = Record<string, SQLInputValue>;

/** After so many unreadable rows the rest is given up, so that the service starts within seconds. */
const MOST_UNREADABLE = 200_000;

/**
 * Every row of a damaged outbox that can be read, in order; null for each number whose row cannot be read.
 *
 * Behaviour: in a damaged page a number without a row counts as unreadable, too.
 */
export function* readableRows(db: DatabaseSync, columns: readonly string[]): Generator<RawRow | null> {
  const next = prepare(db, `select ${columns.join(", ")} from outbox where id >= ? order by id limit 1`);
  if (next === null) return;
  const end = lastId(db);
  let unreadable = 0;
  for (let id = 1; id <= end && unreadable < MOST_UNREADABLE; ) {
    const row = read(next, id);
    if (row === undefined) return;
    yield row;
    if (row === null) unreadable += 1;
    id = row === null ? id + 1 : Math.max(id, Number(row.id)) + 1;
  }
}

/** The claims of a damaged file that can be read: those before the damage, then those after it, backwards. */
export function* readableClaims(db: DatabaseSync, columns: readonly string[]): Generator<RawRow> {
  const list = columns.join(", ");
  const forward = prepare(db, `select ${list} from dedup where key > ? order by key limit 1`);
  const backward = prepare(db, `select ${list} from dedup where key < ? order by key desc limit 1`);
  if (forward === null || backward === null) return;
  let reached = "";
  for (;;) {
    const row = read(forward, reached);
    if (row === undefined) return;
    if (row === null) break;
    yield row;
    reached = String(row.key);
  }
  for (let key = LAST_KEY; ; ) {
    const row = read(backward, key);
    if (!row || String(row.key) <= reached) return;
    yield row;
    key = String(row.key);
  }
}

/** The rows of a small table, up to the first that cannot be read. */
export function* readableTable(
  db: DatabaseSync | null,
  table: string,
  columns: readonly string[],
): Generator<RawRow> {
  const all = db && prepare(db, `select ${columns.join(", ")} from ${table}`);
  if (all === null) return;
  try {
    for (const row of all.iterate()) yield row as RawRow;
  } catch {
    // The rest is lost.
  }
}

/** The names of a table's columns, none when they cannot be read. */
export function columnsOf(db: DatabaseSync, table: string): string[] {
  const columns = prepare(db, `select name from pragma_table_info('${table}')`);
  if (columns === null) return [];
  try {
    return (columns.all() as { name: string }[]).map(({ name }) => name);
  } catch {
    return [];
  }
}

const LAST_KEY = "\u{10ffff}";

function prepare(db: DatabaseSync, sql: string): StatementSync | null {
  try {
    return db.prepare(sql);
  } catch {
    return null;
  }
}

/** A row, undefined when there is none, null when it cannot be read. */
function read(statement: StatementSync, from: SQLInputValue): RawRow | undefined | null {
  try {
    return statement.get(from) as RawRow | undefined;
  } catch {
    return null;
  }
}

function lastId(db: DatabaseSync): number {
  const sequence = prepare(db, "select seq from sqlite_sequence where name = ?");
  const seq = sequence === null ? null : read(sequence, "outbox");
  return seq ? Number(seq.seq) : Number.MAX_SAFE_INTEGER;
}
