import type postgres from "postgres";

/**
 * Runs `read` in a transaction that can change nothing, on one view of the database for all of its statements.
 *
 * Errors: those of `read`; the database itself refuses a write (SQLSTATE 25006).
 */
export async function readOnly<T>(sql: postgres.Sql, read: (tx: postgres.ISql) => Promise<T>): Promise<T> {
  return (await sql.begin("isolation level repeatable read read only", read)) as T;
}
