import { fileHealth } from "../../health/files.ts";
import type { CheckResult, Health } from "../../health/result.ts";
import { readWebhookHealth } from "../../health/webhook.ts";
import { type Ledger, weeklyHealth } from "../../health/weekly.ts";
import { isSetUp, type PartName } from "../../host/set-up.ts";
import { readOnly } from "../../ledger/read-only.ts";
import { PART_OF } from "../../platform/config/settings-table.ts";
import { OpsError } from "../../platform/errors.ts";
import type { Environment } from "../../platform/secrets/adapter.ts";
import { withTimeout } from "../../platform/timeout.ts";
import { type LedgerWeek, readLedgerWeek } from "../../reports/ledger-week.ts";
import type { Check } from "../context/check.ts";
import type { CheckContext } from "../context/check-context.ts";
import { fail, notChecked } from "../finding.ts";
import { withDatabase } from "./services/database.ts";
import { withoutSettings } from "./settings/configuration.ts";

/** The commands whose part `opsctl status` shows. */
type StatusCommand = "weekly" | "webhook" | "collect-metrics" | "socket-monitor" | "alert-rules";

const SERVICES = { weekly: "the database", webhook: "the webhook" };

/** What `opsctl status` says of the part that a command belongs to. */
export function statusCheck(of: StatusCommand): Check {
  return {
    ...{ command: of, name: "status" },
    ...(of === "weekly" || of === "webhook" ? { service: SERVICES[of] } : {}),
    async run(context, signal) {
      const settings = await context.settings(of, async (env) => env);
      if (settings.status !== "ok") return withoutSettings(settings);
      const env = settings.value;
      const part = PART_OF[of];
      const look = { env, isSetUp: isSetUp(part, env), nowMs: context.dependencies.nowMs() };
      try {
        const { results } = await HEALTH[part](context, look, signal);
        // Of a command that a person names its settings are a finding of their own.
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

type Look = { env: Environment; isSetUp: boolean; nowMs: number };

const HEALTH: Record<PartName, (context: CheckContext, look: Look, signal: AbortSignal) => Promise<Health>> =
  {
    weekly: async (context, look) => await weeklyHealth(await ledgerOf(context), look),
    async webhook(context, { isSetUp: isUsed }, signal) {
      const { callLimitMs: limitMs, paths } = context.dependencies;
      const look = { procNet: paths.procNet, limitMs, isSetUp: isUsed };
      return await readWebhookHealth(await context.webhookPorts(), look, signal);
    },
    collector: (_context, look) => fileHealth("collector", look),
    "socket-monitor": (_context, look) => fileHealth("socket-monitor", look),
    "alert-rules": (_context, look) => fileHealth("alert-rules", look),
  };

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

/** Of the time of a check. */
const DATABASE_PART = 0.75;
const LATE = fail("CHECK_TIMED_OUT", "the database did not answer in time");
