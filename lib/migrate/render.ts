import type { MigrationStatus } from "../schema/recorded.ts";
import { renderTable } from "../text/table.ts";

/** The state of every migration, for people. */
export function renderMigrations(migrations: readonly MigrationStatus[]): string {
  return renderTable(
    ["MIGRATION", "STATE", "APPLIED AT"],
    migrations.map(({ name, state, appliedAt }) => [name, state, appliedAt]),
  );
}

/** What a run of migrations did, for people. */
export function renderApplied(applied: readonly string[]): string {
  if (applied.length === 0) return "Nothing to apply: the database is up to date.\n";
  return applied.map((name) => `Applied ${name}\n`).join("");
}
