import { databaseError } from "../platform/database/pool.ts";
import { formatInstant } from "../time/instant.ts";
import { isReportDay, reportDayEnd } from "../time/report-day.ts";
import { Temporal } from "../time/temporal.ts";
import { weekWindow } from "../time/week-window.ts";
import { concludeRun } from "./conclude.ts";
import type { WeeklyDependencies, WeeklyOptions } from "./context/dependencies.ts";
import { stopOnInterrupt } from "./context/interrupt.ts";
import { lookAgainAtBusy, rememberBusyDelivery, rememberBusyScope } from "./context/look-again.ts";
import { mondayLeftOf } from "./context/monday-left.ts";
import { warnOfShortMonday } from "./context/monday-too-short.ts";
import { newOwnersOf } from "./context/new-owners.ts";
import type { Owner } from "./context/owner.ts";
import { recentClock } from "./context/recent-clock.ts";
import { type Run, readClock, stopIfDatabaseIsGone } from "./context/run.ts";
import { createStop, DATABASE_LOST, SCOPES_UNREADABLE, type Stop } from "./context/run-stop.ts";
import { forEachConcurrently, ownersOf } from "./context/scopes.ts";
import { createTally, emptySummary, type WeeklySummary } from "./context/summary.ts";
import { boundedStore, within } from "./database/bounded-store.ts";
import { patientStore } from "./database/patient-store.ts";
import {
  DRY_RUN_PATIENCE_MS,
  databaseCode,
  isAway,
  isConnectionLoss,
  REPORT_PATIENCE_MS,
  RUN_PATIENCE_MS,
  repeatWhileLost,
} from "./database/refusals.ts";
import { deliveryChannels } from "./delivery/channels.ts";
import { deliverAll } from "./delivery/deliver-all.ts";
import { checkSetupAndOwners } from "./dry-run.ts";
import { editorialStep } from "./editorials/editorial-step.ts";
import { clockAt } from "./outage/clock-at.ts";
import { createPutBackOwners } from "./outage/put-back.ts";
import { runAdmission } from "./outage/run-admission.ts";
import { countLeftOwners, type OwnerStatus, takeAgain } from "./outage/take-again.ts";
import { createThrottle } from "./outage/throttle.ts";
import { ledgerWentBack, notEligible, notReady, outsideMonday, zoneDataDiffers } from "./refused.ts";
import { completeInTurn } from "./report/complete-in-turn.ts";

/**
 * The weekly run, from the clock to the heartbeat.
 *
 * Shape:  always a summary: refusals and failures of every kind are in it, with the exit status that they imply.
 * Errors: an OpsError when the database does not even answer the first questions.
 * Source: weekly report document, Run flow; docs/weekly.md lists its steps, and the numbers here are theirs.
 */
export async function runWeekly(
  dependencies: WeeklyDependencies,
  options: WeeklyOptions,
): Promise<WeeklySummary> {
  const stop = createStop();
  const { statementLimitMs: limitMs, renewConnections: onSilence } = dependencies;
  const limit = { limitMs, signal: stop.expired, onSilence };
  const store = patientStore(boundedStore(dependencies.store, limit), {
    ...dependencies,
    patienceMs: options.dryRun ? DRY_RUN_PATIENCE_MS : REPORT_PATIENCE_MS,
    signal: stop.signal,
  });
  const checkReadiness = () => within(dependencies.checkReadiness, limit);
  const release = stopOnInterrupt({ dependencies, stop });
  try {
    return await runUntilStopped({ ...dependencies, store, checkReadiness }, options, stop);
  } finally {
    release();
  }
}

async function runUntilStopped(
  dependencies: WeeklyDependencies,
  options: WeeklyOptions,
  stop: Stop,
): Promise<WeeklySummary> {
  const { version, runId, store, log, progress } = dependencies;
  const { dryRun, tenantId } = options;
  const startedMs = dependencies.monotonicMs();
  const summary = emptySummary({ version, runId, dryRun });
  const finish = (rest: Partial<WeeklySummary>): WeeklySummary => ({
    ...summary,
    ...rest,
    durationMs: Math.round(dependencies.monotonicMs() - startedMs),
  });

  const asking = <T>(what: string, ask: () => Promise<T>) =>
    askFirst(what, ask, { dependencies, options, stop });
  const problems = await asking("check the database", dependencies.checkReadiness);
  if (problems.length > 0) return finish(notReady(problems, log));

  const now = await asking("read the clock", store.now);
  const startedAt = Temporal.Instant.from(now);
  const start = startOf(startedAt);
  const theirs = await asking("read the week", () => store.lastWeek(now));
  if (theirs.start !== start.window.start || theirs.end !== start.window.end)
    return finish(zoneDataDiffers(start.window, theirs));
  Object.assign(summary, start);
  if (!isReportDay(startedAt) && !dryRun) return finish(outsideMonday(start.startedAt));

  // The e-mail provider knows a message by its key; the gateway would send it again.
  const before = options.skipWhatsapp ? null : dependencies.sentBefore(start.window.week);
  if (before !== null && before.whatsapp > 0) {
    const { lost } = before;
    const known = await asking("count what was sent", () => store.countSentWhatsapp(start.window, { lost }));
    if (known < before.whatsapp)
      return finish(ledgerWentBack({ before: before.whatsapp, known }, options.logDir));
  }

  const tally = createTally();
  tally.reports.scopes = await asking("list the tenant owners", () => store.countScopes(tenantId));
  if (tenantId !== null && tally.reports.scopes === 0) return finish(notEligible(tenantId));
  progress.setTotal(tally.reports.scopes);

  const channels = deliveryChannels(dependencies, options, stop);
  const { window } = start;
  const begun = { dependencies, options, window, startedAt, startedMs, tally, stop, channels };
  const run: Run = { ...begun, ...nothingLeftOver(), ...judgesOf(begun) };
  if (dryRun) return finish(await checkSetupAndOwners(run).catch(cannot("check the owners")));

  dependencies.onBegin(summary);
  await reportEveryOwner(run); // 1 to 12
  const editorials = await editorialStep(run); // 13 and 14
  return await concludeRun(run, editorials, finish); // 15
}

/** A question that the run cannot begin without; it waits for a database in a failover, not for one that is silent. */
async function askFirst<T>(
  what: string,
  ask: () => Promise<T>,
  { dependencies, options, stop }: Pick<Run, "dependencies" | "options" | "stop">,
): Promise<T> {
  const { version, runId } = dependencies;
  return await repeatWhileLost(ask, {
    ...dependencies,
    onLongWait: (code, limitMs) => dependencies.onDatabaseWait({ version, runId, code, limitMs }),
    deadlineMs: dependencies.monotonicMs() + (options.dryRun ? DRY_RUN_PATIENCE_MS : RUN_PATIENCE_MS),
    signal: stop.signal,
    isPassing: isAway,
  }).catch(cannot(what));
}

function cannot(attempt: string): (error: unknown) => never {
  return (error) => {
    throw databaseError(error, attempt);
  };
}

/** The summary's part that follows from the clock; only on the report day may a failed delivery be tried again. */
function startOf(startedAt: Temporal.Instant) {
  const { start, end, week } = weekWindow(startedAt);
  const now = formatInstant(startedAt);
  return {
    startedAt: now,
    finishedAt: now,
    window: { start: formatInstant(start), end: formatInstant(end), week },
    retryableUntil: isReportDay(startedAt) ? formatInstant(reportDayEnd(startedAt)) : null,
  } satisfies Partial<WeeklySummary>;
}

/** What a run may have to come back to. */
function nothingLeftOver(): Pick<Run, "busyScopes" | "busyDeliveries" | "putBack" | "unclaimed"> {
  return { busyScopes: [], busyDeliveries: [], putBack: createPutBackOwners(), unclaimed: new Set() };
}

/** What tells a run whether it may go on. */
function judgesOf(
  run: Pick<Run, "dependencies" | "options" | "stop" | "startedAt" | "startedMs">,
): Pick<Run, "admission" | "throttle" | "recentClock"> {
  const { dependencies, options, stop } = run;
  const patienceMs = options.patienceMinutes * 60_000;
  return {
    admission: runAdmission(run),
    throttle: createThrottle({
      ...dependencies,
      patienceMs,
      mondayLeftMs: mondayLeftOf(run),
      clockAt: (ms) => clockAt(run, ms),
      signal: stop.signal,
    }),
    recentClock: recentClock(() => readClock(run), dependencies.monotonicMs),
  };
}

/** Steps 1 to 12: every owner, those with a second chance, who became eligible meanwhile, what others held. */
async function reportEveryOwner(run: Run): Promise<void> {
  const report = (owner: Owner) => reportOwner(run, owner);
  await reportOwners(run, ownersOf(run));
  await takeAgain(run, report);
  await reportOwners(run, newOwnersOf(run));
  await lookAgainAtBusy(run, report);
  await takeAgain(run, report);
  countLeftOwners(run);
}

/** Steps 1 to 12 for these owners, a bounded number at a time. */
async function reportOwners(run: Run, owners: AsyncIterable<Owner>): Promise<void> {
  const { log, progress } = run.dependencies;
  const warnIfMondayIsTooShort = warnOfShortMonday(run);
  try {
    await forEachConcurrently(owners, run.options.concurrency, async (owner) => {
      if (run.stop.reason()) return;
      const status = await reportOwner(run, owner);
      if (status === "busy") rememberBusyScope(run, owner.scope);
      if (status === "busy" || status === "done") progress.advance(1);
      warnIfMondayIsTooShort();
    });
  } catch (error) {
    log.error("The tenant owners could not be listed", { code: databaseCode(error) });
    run.stop.because(isConnectionLoss(error) ? DATABASE_LOST : SCOPES_UNREADABLE);
  }
}

/** One owner: the report (steps 1 to 6), then WhatsApp (7 to 9), then e-mail (10 to 12). */
async function reportOwner(run: Run, owner: Owner): Promise<OwnerStatus> {
  const { scope } = owner;
  const result = await completeInTurn(run, owner);
  if (result.status === "busy" || result.status === "put_back") return result.status;
  if (result.status === "stopped") return "not_taken";
  if (result.status === "failed") await stopIfDatabaseIsGone(run);
  if (result.status !== "completed") return "done";
  const { report } = result;
  const dependencies = { ...run.dependencies, tally: run.tally, stop: run.stop };
  await deliverAll(dependencies, run.channels, result, (channel, deliveryId) =>
    rememberBusyDelivery(run, { deliveryId, channel, scope, reportId: report.id }),
  );
  return "done";
}
