import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { queueResults } from "../../../health/webhook.ts";
import type { Database } from "../../../platform/database/pool.ts";
import { OpsError } from "../../../platform/errors.ts";
import { requireOwnDatabase } from "../../../platform/files/sqlite.ts";
import type { Secret } from "../../../platform/secrets/secret.ts";
import type { StateConfig } from "../../../webhook/config.ts";
import { readServiceHealth } from "../../../webhook/http/service-health.ts";
import { STATE_URL } from "../../../webhook/state/postgres/opener.ts";
import { stats } from "../../../webhook/state/postgres/reads.ts";
import { checkEncoding } from "../../../webhook/state/postgres/schema.ts";
import { hasLog } from "../../../webhook/state/sqlite/file/log-keeper.ts";
import { outboxStats } from "../../../webhook/state/sqlite/outbox/reads/stats.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { type CheckResult, command, fail, notChecked, pass, warn } from "../../finding.ts";

/** Why a running service is not called. */
export const ADMIN_PORT_OFF = "the admin port is off (WEBHOOK_ADMIN_PORT), so the service is not asked";

/** What is queued and what was not delivered, by the running service, else by the state itself. */
export async function outboxResults(
  context: CheckContext,
  state: StateConfig,
  signal: AbortSignal,
): Promise<CheckResult[]> {
  const { adminPort } = await context.webhookPorts();
  const { callLimitMs: limitMs } = context.dependencies;
  const health = await readServiceHealth({ adminPort, limitMs }, signal);
  if (health?.outbox) return queueResults(health.outbox);
  if (!("url" in state)) return fileResults(join(state.directory, "state.db"), adminPort);
  const { sql } = await stateDatabase(context, state.url);
  const [row] = await sql<[{ exists: boolean }]>`
    select to_regclass('opsctl_state.outbox') is not null as exists`;
  const missing = "the shared database has no state yet: the service makes it at its start";
  return row.exists ? queueResults(await stats(sql)) : [warn("STATE_MISSING", missing)];
}

/**
 * Opens the database that several webhooks share.
 *
 * Behaviour: doctor opens it also while the service runs: a running service may be an older program, which accepted
 *            what this one refuses.
 * Errors:    those of `openDatabase`, about OPSCTL_STATE_URL, and of `checkEncoding`.
 */
export async function stateDatabase(context: CheckContext, url: Secret): Promise<Database> {
  const database = await context.database(url, STATE_URL);
  await checkEncoding(database.sql);
  return database;
}

/**
 * The results for a state file; creates no other file beside it.
 *
 * Behaviour: opens the file as immutable, because any other way creates a `-wal` and a `-shm`. This misses what a
 *            write-ahead log still holds, so nothing is read where a log may hold something: the service has the file
 *            open, or was killed. SQLite blocks this process while it reads.
 * Errors:    those of the file system.
 * Source:    sqlite.org/uri.html, immutable; tried with node:sqlite of Bun 1.4.5 and Deno 2.9.6.
 */
function fileResults(path: string, adminPort: number): CheckResult[] {
  const refused = refusedFile(path);
  if (refused !== null) return [refused];
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined) return [missingFile(path)];
  // A service whose admin port is off has the file open while it runs, and no other way to be asked.
  if (hasLog(path) && adminPort === 0) return [pass(ADMIN_PORT_OFF)];
  if (hasLog(path))
    return [
      notChecked(
        "STATE_IN_USE",
        `${path} has a write-ahead log, which cannot be read without writing beside it`,
        command(
          "systemctl start opsctl-webhook.service",
          "Start the service, then look again: it is asked instead",
        ),
      ),
    ];
  // What a start on a full disk leaves.
  if (size === 0)
    return [
      fail(
        "STATE_EMPTY",
        `${path} is empty: the service could not write to it when it started`,
        "Make room on its disk (df -h): then the service opens it again",
      ),
    ];
  return openedFile(path);
}

function openedFile(path: string): CheckResult[] {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(`${pathToFileURL(path).href}?immutable=1`, { readOnly: true });
    // A view can keep SQLite busy for ever, and with it this process; opsctl makes none.
    if (db.prepare("select 1 from sqlite_schema where type = 'view'").get() !== undefined)
      return [damagedFile(path, "it has a view, which opsctl does not make")];
    return [pass(`${path} can be read`), ...queueResults(outboxStats(db, Date.now)())];
  } catch (error) {
    return [damagedFile(path, error instanceof Error ? error.message : "unknown error")];
  } finally {
    db?.close();
  }
}

function missingFile(path: string): CheckResult {
  return warn("STATE_MISSING", `${path} does not exist yet: the service makes it at its start`);
}

function damagedFile(path: string, why: string): CheckResult {
  return fail(
    "STATE_UNREADABLE",
    `${path} cannot be read: ${why}`,
    "Restart the service: it moves a damaged file aside and carries over what is readable",
  );
}

/** The result for a file that must not be opened: missing, or another account could have put something else there. */
function refusedFile(path: string): CheckResult | null {
  try {
    requireOwnDatabase(path);
    return null;
  } catch (error) {
    if (error instanceof OpsError) return fail("FILE_UNTRUSTED", error.message, error.hint ?? null);
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return missingFile(path);
    throw error;
  }
}
