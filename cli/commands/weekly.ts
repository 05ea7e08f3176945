/**
 * `opsctl weekly`: the weekly report run.
 *
 * Reads:  the database (scopes, connections, scores, analyses, e-mail mirror, senders, recipients), secret files.
 * Writes: `weekly_performance_reports`, `weekly_performance_deliveries`, the timeline entry of a WhatsApp message
 *         (through the database's functions), `{OPSCTL_LOG_DIR}/weekly_performance_reports.success` and `.last.json`.
 * Calls:  the application (weekly analysis, editorials), the messaging gateway, the e-mail provider; a dry run asks
 *         each of them only what has no effect. The alert webhook, when the run fails, or succeeds after that; the ping
 *         at the end of a whole run.
 * Env:    DATABASE_URL, APP_BASE_URL, TRIGGER_SECRET, WHATSAPP_REPORT_SENDER_TENANT_ID,
 *         WHATSAPP_REPORT_MESSAGES_PER_MINUTE, GATEWAY_URL, GATEWAY_ADMIN_KEY, WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID,
 *         WEEKLY_REPORT_UNSUBSCRIBE, EMAIL_API_URL, EMAIL_API_KEY, SOCIAL_EDITORIALS_ENABLED,
 *         SOCIAL_EDITORIALS_MAX_LLM_CALLS, SOCIAL_EDITORIALS_CRON_SECRET (secret adapter only), OPSCTL_LOG_DIR,
 *         OPSCTL_ALERT_WEBHOOK, WEBHOOK_SECRET, OPSCTL_WEBHOOK_ENV_FILE, OPSCTL_PING_URL.
 * Exits:  0 all done, 1 a failure that the summary names, 2 usage, 3 not ready, 4 not Monday.
 */

import type { RunRecord } from "../../lib/weekly/announce/run-record.ts";
import type { WeeklyConfig } from "../../lib/weekly/config.ts";
import { type CommandContext, defineCommand } from "../framework/command.ts";
import { tellOfOddSettings } from "../framework/command-settings.ts";
import { statusWord } from "../framework/exit-status.ts";
import { standardScreen } from "../framework/streams/screen.ts";
import { aMinuteCount, aPositiveInteger, aUuid } from "../framework/usage/value-checks.ts";
import { VERSION } from "../framework/version.ts";

/** The record of a run, also for its end by an exception that nothing caught. */
const records = new WeakMap<CommandContext, RunRecord>();

/** The settings of a run; for a dry run also those that a run needs, so that all that is missing is told at once. */
async function loadSettings(
  flags: { dryRun: boolean; skipWhatsapp: boolean; skipEmail: boolean },
  { env, log, settingsFile }: CommandContext,
): Promise<WeeklyConfig> {
  if (flags.dryRun) await tellOfOddSettings(settingsFile, log);
  const { loadWeeklyConfig } = await import("../../lib/weekly/config.ts");
  const own = () => loadWeeklyConfig(env, flags, (message) => log.warn(message));
  if (!flags.dryRun) return await own();
  const [{ loadTogether }, { provenSettings }] = await Promise.all([
    import("../../lib/platform/config/load-together.ts"),
    import("../../lib/weekly/announce/settings.ts"),
  ]);
  return await loadTogether(own(), provenSettings(env), env);
}

/** The command; see the head of this file. */
export const weekly = defineCommand({
  meta: {
    name: "weekly",
    description: "Build and deliver the performance reports of the last closed week",
  },
  account: "service",
  isUnattended: true,
  notes:
    "Writes on Mondays in America/Sao_Paulo only; --dry-run checks readiness on any day and writes nothing.",
  args: {
    "dry-run": {
      type: "boolean",
      description: "Check readiness: no claim, no call that has effects, no write",
    },
    tenant: { type: "string", valueHint: "uuid", description: "Restrict the run to one tenant" },
    json: { type: "boolean", description: "Print the run summary as one line of JSON" },
    "skip-whatsapp": { type: "boolean", description: "Do not send WhatsApp messages" },
    "skip-email": { type: "boolean", description: "Do not send e-mails" },
    "skip-editorials": { type: "boolean", description: "Do not drain the social editorial adjustments" },
    "without-social": {
      type: "boolean",
      description: "Make the reports without social networks, for good: no analysis call",
    },
    patience: {
      type: "string",
      valueHint: "minutes",
      default: "15",
      description: "How long to wait for an application that does not answer; 0 breaks off at once",
    },
    concurrency: { type: "string", valueHint: "n", default: "8", description: "Reports in flight at a time" },
  },
  checks: { tenant: aUuid, concurrency: aPositiveInteger, patience: aMinuteCount },
  checkTogether: (given) =>
    given.has("dry-run") && given.has("without-social")
      ? "options --dry-run and --without-social exclude each other"
      : undefined,
  example: "opsctl weekly --dry-run --json",

  async run(args, context) {
    // From here on a signal ends the run with a summary, also while a vault or the database keeps it waiting.
    const interrupt = context.interrupted();
    const { unlessInterrupted } = await import("../framework/unless-interrupted.ts");
    const { RUN_INTERRUPTED } = await import("../../lib/weekly/context/run-stop.ts");
    const begin = <T>(work: Promise<T>) => unlessInterrupted(interrupt, RUN_INTERRUPTED, work);
    const flags = {
      dryRun: args["dry-run"] === true,
      tenantId: args.tenant?.toLowerCase() ?? null,
      skipWhatsapp: args["skip-whatsapp"] === true,
      skipEmail: args["skip-email"] === true,
      skipEditorials: args["skip-editorials"] === true,
      withoutSocial: args["without-social"] === true,
      patienceMinutes: Number(args.patience),
      concurrency: Number(args.concurrency),
      showProgress: args.json !== true,
    };
    const { openRunRecord } = await import("../wiring/weekly/run-record.ts");
    const record = await begin(openRunRecord(flags, { ...context, interrupt }));
    records.set(context, record);
    const config = await begin(loadSettings(flags, context));
    const { openWeeklyDependencies } = await import("../wiring/weekly/run.ts");
    const { runWeekly } = await import("../../lib/weekly/run.ts");
    const { dependencies, options, close } = await begin(
      openWeeklyDependencies(config, flags, {
        ...context,
        interrupt,
        sentBefore: record.sentBefore,
        onBegin: record.begin,
        onDatabaseWait: record.wait,
      }),
    );
    try {
      const summary = await record.end(await runWeekly(dependencies, options));
      const { renderSummary } = await import("../../lib/weekly/texts/summary-text.ts");
      const text = renderSummary(summary, await standardScreen(context.env));
      return { exitCode: summary.exitCode, result: summary, text };
    } finally {
      await close();
    }
  },

  async failed({ code, message, hint }, exitCode, args, context) {
    const { emptySummary } = await import("../../lib/weekly/context/summary.ts");
    const facts = { version: VERSION, runId: crypto.randomUUID(), dryRun: args["dry-run"] === true };
    const error = hint === undefined ? { code, message } : { code, message, hint };
    const summary = { ...emptySummary(facts), status: statusWord(exitCode), exitCode, error };
    return (await records.get(context)?.end(summary)) ?? summary;
  },
});
