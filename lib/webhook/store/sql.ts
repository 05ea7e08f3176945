/** A value of a column: JSON, text, a number or null; what is true or false is 1 or 0. */
export type SqlValue = string | number | null;

/** A row as it was read. */
export type SqlRow = Record<string, SqlValue>;

/** The tables of `sql/state/schema.sql`. */
export type Table = "alert" | "outbox" | "meta";

/**
 * Statements that SQLite and PostgreSQL both know.
 *
 * Shape:     `$1`, `$2`, … stand for the values; `{outbox}` for a table, under the name that it has there, and `{now}` for
 *            the store's clock, in milliseconds.
 * Behaviour: in a transaction on SQLite nothing but these may be awaited: other work would run in it.
 */
export type Sql = {
  all(text: string, values?: readonly SqlValue[]): Promise<SqlRow[]>;
  /** Returns how many rows it changed. */
  run(text: string, values?: readonly SqlValue[]): Promise<number>;
  /** Inserts rows, each with a value for every column; `onConflict` is the clause, in which `old` is the row that is there. */
  insert(
    table: Table,
    columns: readonly string[],
    rows: readonly (readonly SqlValue[])[],
    onConflict?: string,
  ): Promise<void>;
};

/**
 * Where the state is kept: a SQLite file, SQLite in memory, or PostgreSQL.
 *
 * Shape:     `leads` is the condition, in SQL, that this process delivers; where a lock of the file says so, "true".
 * Behaviour: `write` is one transaction, on disk when it resolves; its `work` may run again, in another transaction, when
 *            it was undone or shared one with work that failed.
 * Errors:    those of the database; `CommitUnknown` when the commit was asked for and its answer was lost. After any
 *            other nothing was changed.
 */
export type Store = {
  readonly leads: string;
  read<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  write<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** What the store has to do after old rows were removed, such as giving space back. */
  afterPrune(): Promise<void>;
  lead(): Promise<boolean>;
  check(): Promise<void>;
  /** What is kept for a full disk; null where the store is not on this host's disk. */
  reserveBytes(): Promise<number | null>;
  readonly quarantined: string | null;
  close(): Promise<void>;
};

/** The answer to a commit was lost: what was written may be there or not. */
export class CommitUnknown extends Error {
  override readonly name = "CommitUnknown";
}

/** Marks for a list of values in `in (…)`, for a few lengths only, so that few statements are prepared. */
export function inList(values: readonly SqlValue[], from = 1): { marks: string; values: SqlValue[] } {
  const length = 2 ** Math.ceil(Math.log2(Math.max(1, values.length)));
  const filled = Array.from({ length }, (_, at) => values[at] ?? values.at(-1) ?? null);
  return { marks: filled.map((_, at) => `$${at + from}`).join(", "), values: filled };
}
