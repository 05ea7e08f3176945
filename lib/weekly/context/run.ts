import type { WeekState } from "../../ledger/week-state.ts";
import { isReportDay } from "../../time/report-day.ts";
import { Temporal } from "../../time/temporal.ts";
import type { Scope } from "../database/recipients.ts";
import { isConnectionLoss, repeatWhileLost } from "../database/refusals.ts";
import type { WindowBounds } from "../database/reports.ts";
import type { DeliveryChannel } from "../delivery/channel.ts";
import type { Admission } from "../outage/admission.ts";
import type { PutBackOwners } from "../outage/put-back.ts";
import type { WeeklyDependencies, WeeklyOptions } from "./dependencies.ts";
import { DATABASE_LOST, MONDAY_ENDED, type Stop } from "./run-stop.ts";
import type { Tally } from "./summary.ts";

/** What all steps of one run share. */
export type Run = {
  dependencies: WeeklyDependencies;
  options: WeeklyOptions;
  window: WindowBounds;
  startedAt: Temporal.Instant;
  startedMs: number;
  tally: Tally;
  stop: Stop;
  channels: DeliveryChannel[];
  /** Held by another process when this run came to them; looked at once more at the end. */
  busyScopes: Scope[];
  busyDeliveries: HeldDelivery[];
  /** When the next owner may be claimed. */
  admission: Admission;
  /** Owners whose reports wait for the application; each is taken once more. */
  putBack: PutBackOwners;
  /** Owners whose claim failed, so that they are not taken for new ones. */
  unclaimed: Set<string>;
  /** The database's clock, a few seconds old at most. */
  recentClock(): Promise<Temporal.Instant>;
};

/** A delivery that another process was making when this run came to it. */
export type HeldDelivery = { deliveryId: string; channel: DeliveryChannel; scope: Scope; reportId: string };

/** How long the clock may be out of reach before what needs it is given up. */
const CLOCK_MS = 20_000;
/** How much longer the database may be away after a report has already waited for it. */
const SECOND_LOOK_MS = 5_000;

/**
 * Null while a further call may begin, else the code of why not: the run was stopped, or Monday has ended.
 *
 * Source: the database's clock, asked anew each time.
 */
export async function refusalToBegin(run: Pick<Run, "dependencies" | "stop">): Promise<string | null> {
  if (!run.stop.reason()) {
    const now = await readClock(run);
    if (!isReportDay(now)) run.stop.because(MONDAY_ENDED);
  }
  return run.stop.reason()?.code ?? null;
}

/** The same for one of many calls that follow each other: the clock's last reading may be a few seconds old. */
export async function refusalToCall(run: Pick<Run, "stop" | "recentClock">): Promise<string | null> {
  if (!run.stop.reason() && !isReportDay(await run.recentClock())) run.stop.because(MONDAY_ENDED);
  return run.stop.reason()?.code ?? null;
}

/** The database's clock; a run that goes on waits a while for a database that is briefly away. */
export async function readClock({
  dependencies,
  stop,
}: Pick<Run, "dependencies" | "stop">): Promise<Temporal.Instant> {
  const deadlineMs = dependencies.monotonicMs() + CLOCK_MS;
  const now = await repeatWhileLost(dependencies.store.now, {
    ...dependencies,
    deadlineMs,
    signal: stop.signal,
  });
  return Temporal.Instant.from(now);
}

/** What the ledger holds of the run's week; a run that goes on waits a while, as for the clock. */
export async function readWeek({
  dependencies,
  stop,
  window,
}: Pick<Run, "dependencies" | "stop" | "window">): Promise<WeekState> {
  return await repeatWhileLost(() => dependencies.store.weekState(window), {
    ...dependencies,
    deadlineMs: dependencies.monotonicMs() + CLOCK_MS,
    signal: stop.signal,
  });
}

/** Stops the run when the database is gone: a report that failed for it would be followed by all the others. */
export async function stopIfDatabaseIsGone({
  dependencies,
  stop,
}: Pick<Run, "dependencies" | "stop">): Promise<void> {
  const { store, monotonicMs, sleep } = dependencies;
  const deadlineMs = monotonicMs() + SECOND_LOOK_MS;
  while (!stop.reason()) {
    try {
      await store.now();
      return;
    } catch (error) {
      if (!isConnectionLoss(error)) return;
      if (monotonicMs() > deadlineMs) stop.because(DATABASE_LOST);
      await sleep(500, stop.signal).catch(() => {});
    }
  }
}
