/** What is handed out waits for nothing once it has settled. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import postgres from "postgres";
import { Handout } from "../../../lib/platform/database/handout.ts";
import { sharedPostgres, type TestDatabase } from "../../support/postgres.ts";

/** A timer of this length would keep the process alive long after its work. */
const LIMIT_MS = 600_000;

let database: TestDatabase;

beforeAll(async () => {
  const server = await sharedPostgres();
  database = await server.createDatabase({ migrated: false, appSchema: false });
});
afterAll(() => database.drop());

test("a transaction that ended with its connection starts no limit when its work ends", async () => {
  const driver = postgres(database.url, { max: 1 });
  const handout = new Handout(
    () => LIMIT_MS,
    () => {},
  );
  const begun = Promise.withResolvers<void>();
  const work = Promise.withResolvers<void>();
  const transaction = handout.of(driver).begin(async (tx) => {
    await tx`select 1`;
    begun.resolve();
    await work.promise;
  });
  await begun.promise;
  await driver.end({ timeout: 0 });
  await expect(transaction).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
  work.resolve();
  await setImmediate();
  expect(handout.isEmpty).toBe(true);
});
