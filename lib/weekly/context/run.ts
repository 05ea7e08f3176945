import type { WeekBounds, WeekState } from "../../ledger/week-state.ts";
import { Temporal } from "../../time/temporal.ts";
import type { Scope } from "../database/recipients.ts";
import {
  isConnectionLoss,
  REPORT_PATIENCE_MS,
  RUN_PATIENCE_MS,
  repeatWhileLost,
} from "../database/refusals.ts";
import type { DeliveryChannel } from "../delivery/channel.ts";
import type { Admission } from "../outage/admission.ts";
import type { PutBackOwners } from "../outage/put-back.ts";
import type { Throttle } from "../outage/throttle.ts";
import type { WeeklyDependencies, WeeklyOptions } from "./dependencies.ts";
import { DATABASE_LOST, DATABASE_READ_ONLY, type Stop } from "./run-stop.ts";
import type { Tally } from "./summary.ts";

/** What all steps of one run share. */
export type Run = {
  dependencies: WeeklyDependencies;
  options: WeeklyOptions;
  window: WeekBounds;
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
  /** Waits for an application that asks for fewer calls. */
  throttle: Throttle;
  /** Owners whose reports wait for the application; each is taken once more. */
  putBack: PutBackOwners;
  /** Owners whose claim failed, so that they are not taken for new ones. */
  unclaimed: Set<string>;
  /** The database's clock, a few seconds old at most. */
  recentClock(): Promise<Temporal.Instant>;
};

/** A delivery that another process was making when this run came to it. */
export type HeldDelivery = { deliveryId: string; channel: DeliveryChannel; scope: Scope; reportId: string };

/** How much longer the database may be away after a report has already waited for it. */
const SECOND_LOOK_MS = RUN_PATIENCE_MS - REPORT_PATIENCE_MS;
const LOOK_EVERY_MS = 2_000;

/** The database's clock; a run that goes on waits for a database that is away for a moment. */
export async function readClock(
  { dependencies, stop }: Pick<Run, "dependencies" | "stop">,
  patienceMs = REPORT_PATIENCE_MS,
): Promise<Temporal.Instant> {
  const now = await repeatWhileLost(dependencies.store.now, {
    ...dependencies,
    deadlineMs: dependencies.monotonicMs() + patienceMs,
    signal: stop.signal,
  });
  return Temporal.Instant.from(now);
}

/** What the ledger holds of the run's week; a run that has done its work waits for it, as for the clock. */
export async function readWeek({
  dependencies,
  stop,
  window,
}: Pick<Run, "dependencies" | "stop" | "window">): Promise<WeekState> {
  return await repeatWhileLost(() => dependencies.store.weekState(window), {
    ...dependencies,
    deadlineMs: dependencies.monotonicMs() + RUN_PATIENCE_MS,
    signal: stop.signal,
  });
}

/**
 * Stops the run when the database is gone: a report that failed for it would be followed by all the others.
 *
 * Behaviour: returns as soon as the database takes writes again; one that is read-only still answers everything else.
 */
export async function stopIfDatabaseIsGone({
  dependencies,
  stop,
}: Pick<Run, "dependencies" | "stop">): Promise<void> {
  const { store, monotonicMs, sleep } = dependencies;
  const deadlineMs = monotonicMs() + SECOND_LOOK_MS;
  while (!stop.reason()) {
    const writable = await store
      .isWritable()
      .catch((error: unknown) => (isConnectionLoss(error) ? null : true));
    if (writable) return;
    if (monotonicMs() >= deadlineMs) stop.because(writable === null ? DATABASE_LOST : DATABASE_READ_ONLY);
    else await sleep(LOOK_EVERY_MS, stop.signal).catch(() => {});
  }
}
