import { fileHealth } from "../../health/files.ts";
import { readWebhookHealth } from "../../health/webhook.ts";
import { type Ledger, weeklyHealth } from "../../health/weekly.ts";
import { readOnly } from "../../ledger/read-only.ts";
import { PART_OF } from "../../platform/config/settings-table.ts";
import { OpsError } from "../../platform/errors.ts";
import { withTimeout } from "../../platform/timeout.ts";
import { type LedgerWeek, readLedgerWeek } from "../../reports/ledger-week.ts";
import type { Check, CheckContext } from "../context.ts";
import { type CheckResult, type CommandName, fail, type Health, notChecked } from "../finding.ts";
import { withDatabase } from "./database.ts";
import { withoutSettings } from "./settings.ts";

/** The commands whose part `opsctl status` shows, with the service that is asked about it. */
const SERVICES = {
  ...{ weekly: "the database", webhook: "the webhook" },
  ...{ "collect-metrics": undefined, "socket-monitor": undefined, "alert-rules": undefined },
};
/** Of the time of a check. */
const DATABASE_PART = 0.75;
const LATE = fail("CHECK_TIMED_OUT", "the database did not answer in time");

/** What `opsctl status` says of the part that a command belongs to. */
export function statusCheck(of: keyof typeof SERVICES): Check {
  const service = SERVICES[of];
  return {
    ...{ command: of, name: "status", ...(service === undefined ? {} : { service }) },
    async run(context, signal) {
      const settings = await context.settings(of, async (env) => env);
      if (settings.status !== "ok") return withoutSettings(settings);
      try {
        // Of a command that a person names its settings are a finding of their own.
        const { results } = await healthOf(of, context, signal);
        return results.filter(({ status }) => status !== "not_set_up");
      } catch (error) {
        if (error instanceof OpsError && error.settings !== undefined)
          return withoutSettings({ status: "failed", error, reportedBy: "configuration" });
        if (error instanceof OpsError) throw error;
        const { path = "what its last run left", code } = error as NodeJS.ErrnoException;
        const reason = `${path} cannot be read: ${code}`;
        return [notChecked("FILE_UNREADABLE", reason, "Look at it (ls -ld), or look as root")];
      }
    },
  };
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
  const { env } = await context.environment(of);
  const { nowMs, callLimitMs: limitMs, paths } = context.dependencies;
  const look = { env, isSetUp: await context.isSetUp(of), nowMs: nowMs() };
  const part = PART_OF[of];
  if (part === "weekly") return await weeklyHealth(await ledgerOf(context), look);
  if (part !== "webhook") return await fileHealth(part, look);
  const port = { procNet: paths.procNet, limitMs, isSetUp: look.isSetUp };
  return await readWebhookHealth(await context.webhookPorts(), port, signal);
}

/** Of a database that hangs, its own check says more: this one still has what the runs left on this host. */
async function ledgerOf(context: CheckContext): Promise<Ledger> {
  let week: LedgerWeek | null = null;
  const read = () =>
    withDatabase("weekly", context, async (sql): Promise<CheckResult[]> => {
      week = await readOnly(sql, (tx) => readLedgerWeek(tx));
      return [];
    });
  const limitMs = context.limitMs * DATABASE_PART;
  const [problem = null] = await withTimeout({ limitMs }, read, () => [LATE]);
  return { week, problem };
}
