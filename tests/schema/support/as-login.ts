import type postgres from "postgres";
import { connect, sharedPostgres, type TestDatabase } from "../../support/postgres.ts";

/** Runs `work` with a connection of `login` to the database. */
export async function asLogin<T>(
  database: TestDatabase,
  login: string,
  work: (sql: postgres.Sql) => Promise<T>,
  major?: number,
): Promise<T> {
  const sql = connect((await sharedPostgres(major)).url(database.name, encodeURIComponent(login)), 2);
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}
