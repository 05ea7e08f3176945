import type { RunRecord } from "../../lib/weekly/announce/run-record.ts";
import { aPositiveInteger, aUuid, flag, option, wholeNumber } from "../args/options.ts";
import { type CommandContext, defineCommand } from "../framework/command.ts";
import { statusWord } from "../framework/exit-status.ts";
import { VERSION } from "../framework/version.ts";

const aMinuteCount = wholeNumber(0, 1440, "a whole number of minutes, 0 to 1440");
const PATIENCE = "How long to wait for an application that does not answer; 0 breaks off at once";

/** The record of a run, also for its end by an exception that nothing caught. */
const records = new WeakMap<CommandContext, RunRecord>();

/**
 * `opsctl weekly`: the weekly report run.
 *
 * Behaviour: writes reports, deliveries and timeline entries through the database's functions, and heartbeat and last-run
 *            file in OPSCTL_LOG_DIR. Calls the application, the gateway and the e-mail provider; a dry run calls only
 *            what has no effect. Announces a failed run to the alert webhook, and its end to the ping.
 */
export const weekly = defineCommand({
  isUnattended: true,
  notes:
    "Writes on Mondays in America/Sao_Paulo only; --dry-run checks readiness on any day and writes nothing.",
  args: {
    "dry-run": flag("Check readiness: no claim, no call that has effects, no write"),
    tenant: option("uuid", "Restrict the run to one tenant", { check: aUuid }),
    json: flag("Print the run summary as one line of JSON"),
    "skip-whatsapp": flag("Do not send WhatsApp messages"),
    "skip-email": flag("Do not send e-mails"),
    "skip-editorials": flag("Do not drain the social editorial adjustments"),
    "without-social": flag("Make the reports without social networks, for good: no analysis call"),
    patience: option("minutes", PATIENCE, { default: "15", check: aMinuteCount }),
    concurrency: option("n", "Reports in flight at a time", { default: "8", check: aPositiveInteger }),
  },
  checkTogether: (given) =>
    given.has("dry-run") && given.has("without-social")
      ? "options --dry-run and --without-social exclude each other"
      : undefined,
  example: "opsctl weekly --dry-run --json",

  async run(args, context) {
    // From here on a signal ends the run with a summary, also while a vault or the database keeps it waiting.
    const interrupt = context.interrupted();
    const { raceAbort } = await import("../framework/signals.ts");
    const { RUN_INTERRUPTED } = await import("../../lib/weekly/context/run-stop.ts");
    const begin = <T>(work: Promise<T>) => raceAbort(interrupt, RUN_INTERRUPTED, work);
    const flags = {
      dryRun: args["dry-run"] === true,
      tenantId: args.tenant?.toLowerCase() ?? null,
      skipWhatsapp: args["skip-whatsapp"] === true,
      skipEmail: args["skip-email"] === true,
      skipEditorials: args["skip-editorials"] === true,
      withoutSocial: args["without-social"] === true,
      patienceMinutes: Number(args.patience),
      concurrency: Number(args.concurrency),
      showProgress: !context.asJson,
    };
    const { openRunRecord } = await import("../wiring/weekly/run-record.ts");
    const record = await begin(openRunRecord(flags, { ...context, interrupt }));
    records.set(context, record);
    if (flags.dryRun) await context.warnOfUnknownSettings();
    const { loadWeeklyConfig } = await import("../../lib/weekly/config.ts");
    // For a dry run also what a run needs, so that all that is missing is reported at once.
    const needs = { ...flags, isProof: flags.dryRun };
    const config = await begin(loadWeeklyConfig(context.env, needs, (message) => context.log.warn(message)));
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
      const { exitCode, error } = summary;
      return { exitCode, fields: summary, error, text: (screen) => renderSummary(summary, screen) };
    } finally {
      await close();
    }
  },

  async failed({ code, message, hint }, exitCode, given, context) {
    const { emptySummary } = await import("../../lib/weekly/context/summary.ts");
    const facts = { version: VERSION, runId: crypto.randomUUID(), dryRun: given.has("dry-run") };
    const error = hint === undefined ? { code, message } : { code, message, hint };
    const summary = { ...emptySummary(facts), status: statusWord(exitCode), exitCode, error };
    return (await records.get(context)?.end(summary)) ?? summary;
  },
});
