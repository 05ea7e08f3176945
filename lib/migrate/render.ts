import type { MigrationStatus } from "../schema/migrations.ts";
import { type Screen, stateTone } from "../text/terminal/screen.ts";
import { type Column, renderTable } from "../text/terminal/table.ts";

const COLUMNS: readonly Column[] = [
  { title: "MIGRATION" },
  { title: "STATE", tone: stateTone },
  { title: "APPLIED AT" },
];

/** The state of every migration, for people. */
export function renderMigrations(migrations: readonly MigrationStatus[], screen: Screen): string {
  const rows = migrations.map(({ name, state, appliedAt }) => [name, state, appliedAt]);
  return renderTable(COLUMNS, rows, screen);
}

/** What a run of migrations did, for people. */
export function renderApplied(applied: readonly string[]): string {
  if (applied.length === 0) return "Nothing to apply: the database is up to date.\n";
  return applied.map((name) => `Applied ${name}\n`).join("");
}
