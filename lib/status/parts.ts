import { type FilePart, fileHealth } from "../health/files.ts";
import { fail, type Health } from "../health/result.ts";
import { readWebhookHealth } from "../health/webhook.ts";
import { type Ledger, weeklyHealth } from "../health/weekly.ts";
import { isSetUp, type PartName } from "../host/set-up.ts";
import { readOnly } from "../ledger/read-only.ts";
import { readCommandSettings } from "../platform/config/settings-file.ts";
import { classifyDatabaseError } from "../platform/database/error.ts";
import { OpsError, onlyOpsError } from "../platform/errors.ts";
import { type Environment, type FoundSecret, findSecret } from "../platform/secrets/adapter.ts";
import { withTimeout } from "../platform/timeout.ts";
import { readLedgerWeek } from "../reports/ledger-week.ts";
import { webhookPorts } from "../webhook/ports.ts";
import type { CollectorPlace, StatusDependencies } from "./dependencies.ts";

type Read = (dependencies: StatusDependencies, signal: AbortSignal) => Promise<Health>;

/** How the health of each part is read; `signal` is aborted when its time is over. */
export const READ: Record<PartName, Read> = {
  weekly: readWeekly,
  async webhook({ env: own, procNet, limitMs }, signal) {
    const { env } = readCommandSettings("webhook", own);
    // The limit of the call is the later one: a port that hangs is not one where nothing listens.
    const look = { procNet, limitMs: 6 * limitMs, isSetUp: isSetUp("webhook", env) };
    return await readWebhookHealth(await webhookPorts(env), look, signal);
  },
  async collector({ env, collector, nowMs }) {
    if (!(collector instanceof OpsError))
      return await fileHealth("collector", { ...collector, nowMs: nowMs() });
    const health = await fileHealth("collector", { env, isSetUp: false, nowMs: nowMs() });
    if (health.facts === null) throw collector;
    return health;
  },
  "socket-monitor": (dependencies) => readFile("socket-monitor", dependencies),
  "alert-rules": (dependencies) => readFile("alert-rules", dependencies),
};

/** Finds where the collector writes, in its settings, which belong to root. */
export function findCollector(own: Environment): CollectorPlace {
  try {
    const { env } = readCommandSettings("collect-metrics", own);
    return { env: { TEXTFILE_DIR: env.TEXTFILE_DIR }, isSetUp: isSetUp("collector", env) };
  } catch (error) {
    return onlyOpsError(error);
  }
}

async function readFile(
  part: Exclude<FilePart, "collector">,
  { env: own, nowMs }: StatusDependencies,
): Promise<Health> {
  const { env } = readCommandSettings(part, own);
  return await fileHealth(part, { env, isSetUp: isSetUp(part, env), nowMs: nowMs() });
}

async function readWeekly(dependencies: StatusDependencies): Promise<Health> {
  const { env: own, databaseLimitMs: commandLimitMs, nowMs } = dependencies;
  const { env } = readCommandSettings("weekly", own);
  const found = await findSecret(env, "DATABASE_URL", { commandLimitMs });
  const look = { env, isSetUp: found !== undefined || isSetUp("weekly", env), nowMs: nowMs() };
  if (found === undefined) return await weeklyHealth({ week: null, problem: NO_DATABASE }, look);
  return await weeklyHealth(await readLedger(found, dependencies), look);
}

const NO_DATABASE = fail("CONFIG_INVALID", "DATABASE_URL is missing");

async function readLedger(
  { secret }: FoundSecret,
  { openDatabase, databaseLimitMs: limitMs }: StatusDependencies,
): Promise<Ledger> {
  const read = async () => {
    const database = await openDatabase(secret);
    try {
      return { week: await readOnly(database.sql, (tx) => readLedgerWeek(tx)), problem: null };
    } finally {
      void database.close().catch(() => {});
    }
  };
  const unread = (code: string, reason: string) => ({ week: null, problem: fail(code, reason) });
  try {
    return await withTimeout({ limitMs }, read, () =>
      unread("CHECK_TIMED_OUT", "the database did not answer in time"),
    );
  } catch (error) {
    // Only the code: the message of the engine may quote data.
    const { code } = error instanceof OpsError ? error : classifyDatabaseError(error);
    return unread(code, "the database cannot be read");
  }
}
