import type { LastRun, Waiting } from "../../last-run/last-run.ts";
import { hasEnded } from "../../last-run/process-mark.ts";
import { type LastRunReading, readLastRun } from "../../last-run/read.ts";
import { openDeliveries } from "../../last-run/week-counts.ts";
import type { WeekState } from "../../ledger/week-state.ts";
import { type OpenCounts, openInWeek, socialVerdict } from "../../ledger/week-verdict.ts";
import { OpsError } from "../../platform/errors.ts";
import { formatInstant } from "../../time/instant.ts";
import { localTime } from "../../time/local-time.ts";
import { isReportDay, reportDayEnd } from "../../time/report-day.ts";
import { Temporal } from "../../time/temporal.ts";
import { weekWindow } from "../../time/week-window.ts";
import { checkAlertWebhook } from "../../weekly/announce/check-webhook.ts";
import { ALERT_WEBHOOK, findWebhookSecret, loadAlertWebhook } from "../../weekly/announce/settings.ts";
import { weeklyStore } from "../../weekly/database/store.ts";
import type { Check } from "../context/check.ts";
import type { CheckContext } from "../context/check-context.ts";
import { fail, notSetUp, pass, type Verdict, warn } from "../finding.ts";
import { problemsOf } from "./configuration.ts";
import { withDatabase } from "./database.ts";

const command = "weekly";
const ANNOUNCEMENT = "the announcement of a run that fails, to an alert webhook";
const CLOSED =
  "that week is closed: what is in doubt can still be settled, what failed cannot be sent any more";
const LOOK = "opsctl reports status; opsctl deliveries look-up --all";

/** How the last run of this host ended; `logDirOf` is null where the settings do not name the directory. */
export function lastRunCheck(logDirOf: (context: CheckContext) => Promise<string | null>): Check {
  return {
    command,
    name: "last run",
    async run(context) {
      const logDir = await logDirOf(context);
      if (logDir === null) return [];
      return [lastRunVerdict(readLastRun(logDir), context.dependencies.nowMs())];
    },
  };
}

/** What is open in the last closed week, and until when it can be sent. */
export const LAST_WEEK_CHECK: Check = {
  command,
  name: "last week",
  run: (context) =>
    withDatabase(command, context, async (sql) => {
      const store = weeklyStore(sql);
      const now = Temporal.Instant.from(await store.now());
      const { start, end, week } = weekWindow(now);
      const state = await store.weekState({ start: formatInstant(start), end: formatInstant(end) });
      return [lastWeekVerdict(state, week, now)];
    }),
};

/** Whether a failed run could be announced. */
export const ALERT_WEBHOOK_CHECK: Check = {
  command,
  name: "alert webhook",
  async run(context, signal) {
    const { env, file } = await context.environment(command);
    try {
      const url = await loadAlertWebhook(env);
      if (url === null) return [notSetUp(ANNOUNCEMENT, `Set ${ALERT_WEBHOOK} in ${file.path}`)];
      const secret = await findWebhookSecret(env);
      const { limitMs } = context.dependencies;
      const state = await checkAlertWebhook({ url, secret, timeoutMs: limitMs, signal });
      if (state.status === "ready") return [pass("the webhook answers and takes the secret")];
      const mend =
        state.cause === "http_401"
          ? "Make WEBHOOK_SECRET here the one of the webhook: opsctl secret set WEBHOOK_SECRET, then systemctl reload opsctl-webhook.service"
          : `systemctl status opsctl-webhook; or correct ${ALERT_WEBHOOK} in ${file.path}`;
      return [fail(`ANNOUNCE_FAILED: a failed run could not be announced, ${state.cause}`, mend)];
    } catch (error) {
      if (error instanceof OpsError) return problemsOf(error, { env, file });
      throw error;
    }
  },
};

/** The verdict over what the last run of this host left. */
export function lastRunVerdict(reading: LastRunReading, nowMs: number): Verdict {
  if (reading.status === "none") return pass("no run has left a record on this host");
  if (reading.status === "unreadable")
    return fail(`the record of the last run cannot be read: ${reading.code}`, "opsctl weekly replaces it");
  const { run } = reading;
  if (run.status === "running") return runningVerdict(run);
  if (run.status === "success") return pass(`the last run succeeded${ofWeek(run)}`);
  const text = `the last run failed${ofWeek(run)}${run.error === null ? "" : `, ${run.error.code}`}`;
  const now = Temporal.Instant.fromEpochMilliseconds(nowMs);
  if (run.window !== null && run.window.week !== weekWindow(now).week)
    return warn(`${text}; another week has closed since then`, LOOK);
  if (isSettled(run)) return warn(`${text}; nothing of that week is open any more`);
  return fail(
    `${text}; ${untilOf(run.retryableUntil, now)}`,
    "See the end of weekly.log; opsctl reports status",
  );
}

function runningVerdict(run: LastRun): Verdict {
  if (run.waiting !== null) return waitingVerdict(run, run.waiting);
  const at = run.begunAt === null ? "an unknown time" : `${localTime(run.begunAt)} (São Paulo)`;
  const begun = `the last run began at ${at}`;
  if (!hasEnded(run.process)) return pass(`${begun} and goes on`);
  return fail(`${begun} and was killed: it has left no end`, "opsctl reports status, then opsctl weekly");
}

function waitingVerdict(run: LastRun, { waitsFor, code, since, until }: Waiting): Verdict {
  const cause = `for the ${waitsFor} (${code}) since ${localTime(since)}`;
  if (!hasEnded(run.process))
    return warn(
      `a run waits ${cause}, until ${localTime(until)} at most (São Paulo)`,
      "Look at the database: the run goes on, or ends, by itself",
    );
  return fail(
    `a run was killed while it waited ${cause} (São Paulo)`,
    "opsctl reports status, then opsctl weekly",
  );
}

function ofWeek({ window }: LastRun): string {
  return window === null ? "" : `, week of ${window.week}`;
}

/** Whether nothing is open in the ledger, and nothing else failed: editorials, heartbeat and networks stand in no ledger. */
function isSettled({ week, editorials, heartbeat }: LastRun): boolean {
  const hasFailed =
    heartbeat === "failed" || (editorials as { status?: unknown } | null)?.status === "failed";
  if (week === null || hasFailed || socialVerdict(week) !== null) return false;
  const { running, failed, missing } = week.reports;
  return openDeliveries(week) + running + failed + missing === 0;
}

function untilOf(retryableUntil: string | null, now: Temporal.Instant): string {
  if (retryableUntil === null) return "it can be repeated on a Monday only, until midnight in São Paulo";
  const isOver = Temporal.Instant.compare(now, Temporal.Instant.from(retryableUntil)) >= 0;
  return isOver ? CLOSED : repeatableUntil(retryableUntil);
}

function repeatableUntil(instant: string): string {
  return `it can be repeated until ${localTime(instant)} (São Paulo)`;
}

/**
 * The verdict over the last closed week.
 *
 * Behaviour: an owner without a report is no open delivery: before Monday's run no owner has one.
 */
export function lastWeekVerdict(state: WeekState, week: string, now: Temporal.Instant): Verdict {
  const { reports, whatsapp, email } = openInWeek(state);
  const { failed } = reports;
  const parts = [
    ...(failed === undefined ? [] : [`reports: ${failed} failed`]),
    ...counted("WhatsApp", whatsapp),
    ...counted("e-mail", email),
  ];
  if (parts.length === 0) return pass(`nothing is open in the week of ${week}`);
  const isOpenYet = isReportDay(now);
  const until = isOpenYet ? repeatableUntil(formatInstant(reportDayEnd(now))) : CLOSED;
  return fail(
    `open in the week of ${week}: ${parts.join("; ")}; ${until}`,
    isOpenYet ? "opsctl reports status; mend what it names, then opsctl weekly" : LOOK,
  );
}

function counted(name: string, counts: OpenCounts): string[] {
  const texts = Object.entries(counts).map(([state, count]) => `${count} ${state}`);
  return texts.length === 0 ? [] : [`${name}: ${texts.join(", ")}`];
}
