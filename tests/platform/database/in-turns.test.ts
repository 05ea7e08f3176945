import { afterAll, beforeAll, expect, test } from "bun:test";
import { inTurns } from "../../../lib/platform/database/in-turns.ts";
import { connect, sharedPostgres, type TestDatabase } from "../../support/postgres.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await (await sharedPostgres()).createDatabase({ migrated: false, appSchema: false });
});
afterAll(() => database.drop());

test("inTurns() gives the turn of a statement that was given up to the next one", async () => {
  const pool = connect(database.url);
  const sql = inTurns(pool, 1);
  const holding = Promise.withResolvers<void>();
  const first = sql.begin(() => holding.promise);
  const given = sql`select 1`;
  const failed = given.then(undefined, (error: { code: string }) => error.code);
  const next = sql`select ${2}::int as n`.then(([row]) => row?.n);
  given.cancel();
  holding.resolve();
  await first;
  expect([await failed, await next]).toEqual(["57014", 2]);
  await pool.end();
});
