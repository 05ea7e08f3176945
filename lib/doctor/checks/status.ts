import { readHealth } from "../../health/part.ts";
import type { Health } from "../../health/result.ts";
import { readLedger } from "../../health/weekly.ts";
import { COMMANDS } from "../../platform/config/settings-table.ts";
import { OpsError } from "../../platform/errors.ts";
import type { Check, CheckContext, CommandName } from "../context.ts";
import { withDatabase } from "./database.ts";
import { withoutSettings } from "./settings.ts";

/** Of the time of a check: of a database that hangs, its own check says more. */
const DATABASE_PART = 0.75;

/** What `opsctl status` says of the part that a command belongs to; `service` is asked about it. */
export function statusCheck(of: CommandName, service?: string): Check {
  const run: Check["run"] = async (context, signal) => {
    const settings = await context.settings(of, async (env) => env);
    if (settings.status !== "ok") return withoutSettings(settings);
    try {
      // Of a command that a person names its settings are a finding of their own.
      const { results } = await healthOf(of, context, signal);
      return results.filter(({ status }) => status !== "not_set_up");
    } catch (error) {
      if (error instanceof OpsError && error.code === "SECRET_FILE_UNREADABLE")
        return withoutSettings({ status: "failed", error, reportedBy: "secrets" });
      if (!(error instanceof OpsError) || error.settings === undefined) throw error;
      return withoutSettings({ status: "failed", error, reportedBy: "configuration" });
    }
  };
  return { command: of, name: "status", service, run };
}

/**
 * Whether this host uses the part of a command: it is set up, or has left something, or answers.
 *
 * Errors: what keeps it from being seen.
 */
export async function isUsed(of: CommandName, context: CheckContext, signal: AbortSignal): Promise<boolean> {
  if (await context.isSetUp(of)) return true;
  const { results } = await healthOf(of, context, signal);
  return results.some(({ status }) => status !== "not_set_up");
}

async function healthOf(of: CommandName, context: CheckContext, signal: AbortSignal): Promise<Health> {
  const { nowMs, callLimitMs: limitMs } = context.dependencies;
  const [{ env }, isSetUp] = await Promise.all([context.environment(of), context.isSetUp(of)]);
  const databaseMs = context.limitMs * DATABASE_PART;
  const open = () => readLedger((read) => withDatabase("weekly", context, read), databaseMs);
  const look = { env, isSetUp, limitMs, nowMs, readLedger: open };
  return await readHealth(COMMANDS[of].part, look, signal);
}
