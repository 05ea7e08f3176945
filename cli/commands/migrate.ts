import type { DatabaseLogin } from "../../lib/platform/config/owner-login.ts";
import type { Log } from "../../lib/platform/log/log.ts";
import type { MigrationStatus } from "../../lib/schema/migrations.ts";
import { flag } from "../args/options.ts";
import { type CommandContext, defineCommand } from "../framework/command.ts";
import { EXIT } from "../framework/exit-status.ts";
import { asOpsError } from "../framework/failure.ts";

/** `opsctl migrate`: applies the migrations that this program carries, or lists them; 3 with `--status` if some are not applied. */
export const migrate = defineCommand({
  notes:
    "Connects as the owner of the schema: MIGRATE_DATABASE_URL, which root keeps in /etc/opsctl/root-secrets, else DATABASE_URL.\n" +
    "Every file is applied once, in its own transaction.",
  async readAsRoot(env) {
    const { rootsOwnerLogin } = await import("../../lib/platform/config/owner-login.ts");
    return await rootsOwnerLogin(env);
  },
  args: { status: flag("List the migrations and their state; change nothing") },
  example: "opsctl migrate --status",

  async run(args, context) {
    const { log } = context;
    // All that the connection needs is imported at once: one after the other would double the start.
    const [login] = await Promise.all([findLogin(context), import("../../lib/platform/database/pool.ts")]);
    const { variable, source } = login;
    try {
      const { applied, migrations } = await migrated(login, { isStatusOnly: args.status === true, log });
      const { renderApplied, renderMigrations } = await import("../../lib/migrate/render.ts");
      const isUpToDate = migrations.every(({ state }) => state === "applied");
      return {
        exitCode: isUpToDate ? EXIT.ok : EXIT.notReady,
        fields: { applied, migrations, login: { variable, source } },
        text: (screen) => (args.status ? renderMigrations(migrations, screen) : renderApplied(applied)),
      };
    } catch (error) {
      const { suggestOwner } = await import("../../lib/migrate/run.ts");
      throw suggestOwner(asOpsError(error, "run opsctl migrate", { setting: variable }), variable);
    }
  },
});

/** One statement of a migration may rewrite a large table, or wait for another host's migration. */
const ANSWER_LIMIT_MS = 60 * 60_000;

/** The owner's login: root may have read it before this process became the account. */
async function findLogin({ env, settingsPath: path, log, fromRoot }: CommandContext): Promise<DatabaseLogin> {
  const { findOwnerLogin, isOverruledBy } = await import("../../lib/platform/config/owner-login.ts");
  const login = fromRoot as DatabaseLogin | null;
  if (login === null) return await findOwnerLogin(env);
  const unused = [
    ...(login.overrules ? ["environment"] : []),
    ...(path !== null && isOverruledBy(login, env) ? [path] : []),
  ];
  for (const from of unused)
    log.warn("A variable is not used: its secret comes from elsewhere", {
      ...{ variable: login.variable, from, used: login.source },
    });
  return login;
}

async function migrated(
  { url, variable, source }: DatabaseLogin,
  { isStatusOnly, log }: { isStatusOnly: boolean; log: Log },
): Promise<{ applied: string[]; migrations: readonly MigrationStatus[] }> {
  const { openDatabase } = await import("../../lib/platform/database/pool.ts");
  log.info("Connecting to the database", { variable, from: source });
  const options = { setting: variable, max: 1, applicationName: "opsctl migrate" };
  const database = await openDatabase(url, { ...options, answerLimitMs: ANSWER_LIMIT_MS });
  try {
    const { applyMigrations, migrationStatus } = await import("../../lib/migrate/run.ts");
    if (!isStatusOnly) return await applyMigrations(database);
    return { applied: [], migrations: await migrationStatus(database) };
  } finally {
    await database.close();
  }
}
