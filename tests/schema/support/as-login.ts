import postgres from "postgres";
import { sharedPostgres, type TestDatabase } from "../../support/postgres.ts";

/** Runs `work` with a connection of `login` to the database. */
export async function asLogin<T>(
  database: TestDatabase,
  login: string,
  work: (sql: postgres.Sql) => Promise<T>,
  major?: number,
): Promise<T> {
  const sql = postgres((await sharedPostgres(major)).url(database.name, login), {
    max: 2,
    onnotice: () => {},
  });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}
