import { databaseError } from "../platform/database/pool.ts";
import { formatInstant } from "../time/instant.ts";
import { isReportDay, reportDayEnd } from "../time/schedule-gate.ts";
import { Temporal } from "../time/temporal.ts";
import { weekWindow } from "../time/week-window.ts";
import { concludeRun } from "./conclude.ts";
import { lookAgainAtBusy, rememberBusyDelivery, rememberBusyScope } from "./context/busy.ts";
import type { WeeklyDependencies, WeeklyOptions } from "./context/dependencies.ts";
import { stopOnInterrupt } from "./context/interrupt.ts";
import { watchMidnight } from "./context/midnight.ts";
import type { Run } from "./context/run.ts";
import { forEachConcurrently, pagesOf } from "./context/scopes.ts";
import { createStop, DATABASE_LOST, SCOPES_UNREADABLE, type Stop } from "./context/stop.ts";
import { createTally, emptySummary, type WeeklySummary } from "./context/summary.ts";
import { boundedStore, within } from "./database/bounded-store.ts";
import type { Scope } from "./database/recipients.ts";
import { databaseCode, isConnectionLoss, repeatWhileLost } from "./database/refusals.ts";
import type { DeliveryChannel } from "./delivery/channel.ts";
import { deliver } from "./delivery/deliver.ts";
import { emailDeliveryChannel } from "./delivery/email.ts";
import { whatsappChannel } from "./delivery/whatsapp.ts";
import { checkRecipientsAndSenders } from "./dry-run.ts";
import { editorialStep } from "./editorials/step.ts";
import { completeReport } from "./report/complete.ts";

/** How long the database may be away before the run gives up. */
const RECONNECT_MS = 20_000;
/** How much longer it may be away after a report has already waited for it. */
const SECOND_LOOK_MS = 5_000;

/**
 * The weekly run, from the clock to the heartbeat; its numbers are those of the requirement's run flow.
 *
 * Shape:  always a summary: refusals and failures of every kind are in it, with the exit status that they imply.
 * Errors: an OpsError when the database does not even answer the first questions.
 * Source: weekly report document, Run flow.
 */
export async function runWeekly(
  dependencies: WeeklyDependencies,
  options: WeeklyOptions,
): Promise<WeeklySummary> {
  const stop = createStop();
  const limit = { limitMs: dependencies.statementLimitMs, signal: stop.expired };
  const store = boundedStore(dependencies.store, limit);
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
  const startedMs = dependencies.monotonicMs();
  const summary = emptySummary({
    version: dependencies.version,
    runId: dependencies.runId,
    dryRun: options.dryRun,
  });
  const finish = (rest: Partial<WeeklySummary>): WeeklySummary => ({
    ...summary,
    ...rest,
    durationMs: Math.round(dependencies.monotonicMs() - startedMs),
  });

  const problems = await asking("check the database", dependencies.checkReadiness());
  if (problems.length > 0) {
    for (const { code, message, hint } of problems) dependencies.log.error(message, { code, hint });
    const failures = problems.map(({ code }) => ({ step: "readiness" as const, code }));
    return finish({ failures, error: problems[0]! });
  }

  const startedAt = Temporal.Instant.from(await asking("read the clock", dependencies.store.now()));
  const { start, end, week } = weekWindow(startedAt);
  const window = { start: formatInstant(start), end: formatInstant(end) };
  summary.startedAt = formatInstant(startedAt);
  summary.finishedAt = summary.startedAt;
  summary.window = { ...window, week };
  if (isReportDay(startedAt)) summary.retryableUntil = formatInstant(reportDayEnd(startedAt));
  else if (!options.dryRun) return finish(outsideMonday(summary.startedAt));

  const tally = createTally();
  tally.reports.scopes = await asking(
    "list the tenant owners",
    dependencies.store.countScopes(options.tenantId),
  );
  if (options.tenantId !== null && tally.reports.scopes === 0) return finish(notEligible(options.tenantId));
  dependencies.progress.setTotal(tally.reports.scopes);
  const run: Run = {
    dependencies,
    options,
    window,
    startedAt,
    startedMs,
    tally,
    stop,
    channels: deliveryChannels(dependencies, options, stop),
    busyScopes: [],
    busyDeliveries: [],
  };
  if (options.dryRun) return finish(await asking("check the owners", checkRecipientsAndSenders(run)));

  await reportEveryScope(run); // 1 to 12
  await lookAgainAtBusy(run, (scope) => reportScope(run, scope));
  const editorials = await editorialStep(run); // 13 and 14
  return await concludeRun(run, editorials, finish); // 15
}

/** A question that the run cannot begin without. */
async function asking<T>(what: string, answer: Promise<T>): Promise<T> {
  return await answer.catch((error: unknown) => {
    throw databaseError(error, what);
  });
}

function outsideMonday(now: string): Partial<WeeklySummary> {
  return {
    status: "refused",
    exitCode: 4,
    error: {
      code: "WEEKLY_OUTSIDE_MONDAY",
      message: `Refused to start a writing run: it is not Monday in America/Sao_Paulo (now ${now})`,
      hint: "Wait for Monday, or check readiness with opsctl weekly --dry-run",
    },
  };
}

function notEligible(tenantId: string): Partial<WeeklySummary> {
  const code = "TENANT_NOT_ELIGIBLE";
  return {
    failures: [{ step: "scope", code, tenantId }],
    error: {
      code,
      message: `Cannot report on tenant ${tenantId}: it has no eligible owner`,
      hint: "A tenant needs an owner, must not be archived, and its wallet must be active or in grace",
    },
  };
}

function deliveryChannels(
  dependencies: WeeklyDependencies,
  options: WeeklyOptions,
  stop: Stop,
): DeliveryChannel[] {
  const { appBaseUrl } = options;
  const whatsapp = {
    leftOut: options.skipWhatsapp,
    senderTenantId: options.whatsappSenderTenantId,
    appBaseUrl,
    gateway: dependencies.gateway,
    pace: dependencies.whatsappPace,
  };
  const email = {
    leftOut: options.skipEmail,
    senderTenantId: options.emailSenderTenantId,
    appBaseUrl,
    provider: dependencies.emailProvider,
    pace: dependencies.emailPace,
  };
  const channels = [
    whatsappChannel(whatsapp, dependencies.store),
    emailDeliveryChannel(email, dependencies.store),
  ];
  for (const channel of channels) channel.stop.follow(stop.signal);
  return channels;
}

/** Steps 1 to 12 for every owner, a bounded number at a time. */
async function reportEveryScope(run: Run): Promise<void> {
  const { store, log } = run.dependencies;
  const afterEach = watchMidnight(run);
  const scopes = pagesOf((after, limit) =>
    repeatWhileLost(() => store.listScopes(run.options.tenantId, after, limit), {
      deadlineMs: run.dependencies.monotonicMs() + RECONNECT_MS,
      ...run.dependencies,
      signal: run.stop.signal,
    }),
  );
  try {
    await forEachConcurrently(untilStopped(run, scopes), run.options.concurrency, async (scope) => {
      if (run.stop.reason()) return;
      if ((await reportScope(run, scope)) === "busy") rememberBusyScope(run, scope);
      run.dependencies.progress.advance(1);
      afterEach();
    });
  } catch (error) {
    log.error("The tenant owners could not be listed", { code: databaseCode(error) });
    run.stop.because(isConnectionLoss(error) ? DATABASE_LOST : SCOPES_UNREADABLE);
  }
}

async function* untilStopped<T>(run: Run, items: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const item of items) {
    if (run.stop.reason()) return;
    yield item;
  }
}

/** One owner: the report (steps 1 to 6), then WhatsApp (7 to 9), then e-mail (10 to 12). */
async function reportScope(run: Run, scope: Scope): Promise<"done" | "busy"> {
  const result = await completeReport(run, scope);
  if (result.status === "busy") return "busy";
  if (result.status === "failed") await endIfDatabaseIsGone(run);
  if (result.status !== "completed") return "done";
  const { report } = result;
  const dependencies = { ...run.dependencies, tally: run.tally, stop: run.stop };
  for (const channel of run.channels) {
    const held = await deliver(dependencies, channel, report);
    if (held) rememberBusyDelivery(run, { deliveryId: held.busy, channel, scope, reportId: report.id });
  }
  return "done";
}

/** A failed report may mean that the database is gone: then there is no use in failing all the others. */
async function endIfDatabaseIsGone(run: Run): Promise<void> {
  const { store, monotonicMs, sleep } = run.dependencies;
  const deadlineMs = monotonicMs() + SECOND_LOOK_MS;
  while (!run.stop.reason()) {
    try {
      await store.now();
      return;
    } catch (error) {
      if (!isConnectionLoss(error)) return;
      if (monotonicMs() > deadlineMs) {
        run.stop.because(DATABASE_LOST);
      }
      await sleep(500, run.stop.signal).catch(() => {});
    }
  }
}
