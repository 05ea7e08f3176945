/** A weekly run whose database connection is another login's. */
import type { WeeklyOptions } from "../../../lib/weekly/context/dependencies.ts";
import type { WeeklySummary } from "../../../lib/weekly/context/summary.ts";
import { sharedPostgres } from "../../support/postgres.ts";
import type { FixtureChanges, WeeklyFixture } from "./weekly-fixture.ts";

/** Runs as `login`, with everything else of the fixture as it is. */
export async function runAs(
  weekly: WeeklyFixture,
  login: string,
  options: Partial<WeeklyOptions> = {},
  changes: FixtureChanges = {},
): Promise<WeeklySummary> {
  const databaseUrl = (await sharedPostgres()).url(weekly.db.name, login);
  return await weekly.run(options, { ...changes, databaseUrl });
}
