import type { OpsError } from "../../../lib/platform/errors.ts";
import { sharedPostgres, type TestDatabase } from "../../support/postgres.ts";

/** Runs `work` on a database of its own that holds the application's tables but nothing of opsctl's. */
export async function withUnmigrated(
  options: { appSchema?: boolean },
  work: (database: TestDatabase) => Promise<void>,
): Promise<void> {
  const database = await (await sharedPostgres()).createDatabase({ migrated: false, ...options });
  try {
    await work(database);
  } finally {
    await database.drop();
  }
}

/** What a call failed with; fails if it did not. */
export async function errorOf(call: Promise<unknown>): Promise<OpsError> {
  try {
    await call;
  } catch (error) {
    return error as OpsError;
  }
  throw new Error("The call did not fail");
}
