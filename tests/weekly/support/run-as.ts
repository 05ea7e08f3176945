/** A weekly run whose database connection is another login's. */
import { openDatabase } from "../../../lib/platform/database/pool.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { checkReadiness } from "../../../lib/schema/readiness.ts";
import type { WeeklyOptions } from "../../../lib/weekly/context/dependencies.ts";
import type { WeeklySummary } from "../../../lib/weekly/context/summary.ts";
import { weeklyStore } from "../../../lib/weekly/database/store.ts";
import { sharedPostgres } from "../../support/postgres.ts";
import type { FixtureChanges, WeeklyFixture } from "./weekly-fixture.ts";

/** Runs as `login`, with everything else of the fixture as it is. */
export async function runAs(
  weekly: WeeklyFixture,
  login: string,
  options: Partial<WeeklyOptions> = {},
  changes: Omit<FixtureChanges, "store"> = {},
): Promise<WeeklySummary> {
  const url = (await sharedPostgres()).url(weekly.db.name, login);
  const database = await openDatabase(new Secret(url), { max: 10, applicationName: "opsctl-test" });
  try {
    return await weekly.run(options, {
      ...changes,
      store: weeklyStore(database.sql),
      checkReadiness: () => checkReadiness(database.sql),
    });
  } finally {
    await database.close();
  }
}
