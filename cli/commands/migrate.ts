/**
 * `opsctl migrate`: applies the migrations that this program carries, or lists them.
 *
 * Reads:  the database's catalog, the record of applied migrations.
 * Writes: opsctl's tables, functions and the record of migrations, each file in a transaction of its own;
 *         nothing with `--status`.
 * Calls:  nothing but the database.
 * Env:    DATABASE_URL, as the owner of the schema.
 * Exits:  0 up to date, 1 a migration failed, 2 usage, 3 not ready or a foreign history; `--status` exits 0 when
 *         everything is applied, else 3.
 *
 * JSON:   `command`, `status`, `exitCode`, `applied` (names, by this run), `migrations` (each `version`, `name`,
 *         `state`: applied, pending, edited or unknown, `appliedAt`: UTC or null), `error`.
 */
import { defineCommand } from "../framework/command.ts";
import { EXIT } from "../framework/exit-status.ts";
import { outcomeOf } from "../framework/outcome.ts";

/** The command; see the head of this file. */
export const migrate = defineCommand({
  meta: { name: "migrate", description: "Apply opsctl's database migrations" },
  account: "service",
  notes: "Connect as the owner of the schema. Every file is applied once, in its own transaction.",
  args: {
    status: { type: "boolean", description: "List the migrations and their state; change nothing" },
    json: { type: "boolean", description: "Print the result as one line of JSON" },
  },
  example: "opsctl migrate --status",

  async run(args, { env, log }) {
    const { loadDatabaseUrl } = await import("../../lib/platform/config/database-config.ts");
    const url = await loadDatabaseUrl(env);
    const { openDatabase } = await import("../../lib/platform/database/pool.ts");
    const database = await openDatabase(url, { max: 1, applicationName: "opsctl migrate" });
    try {
      const { applyMigrations, migrationStatus } = await import("../../lib/migrate/run.ts");
      const { renderApplied, renderMigrations } = await import("../../lib/migrate/render.ts");
      const dependencies = {
        sql: database.sql,
        onApplied: (migration: string) => log.debug("Applied a migration", { migration }),
      };
      const { applied, migrations } = args.status
        ? { applied: [], migrations: await migrationStatus(dependencies) }
        : await applyMigrations(dependencies);
      const isUpToDate = migrations.every(({ state }) => state === "applied");
      const exitCode = isUpToDate ? EXIT.ok : EXIT.notReady;
      const text = args.status ? renderMigrations(migrations) : renderApplied(applied);
      return outcomeOf({ command: "migrate", exitCode, fields: { applied, migrations }, text });
    } finally {
      await database.close();
    }
  },
});
