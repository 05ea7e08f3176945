import type { WatchDependencies } from "./dependencies.ts";

/** How long a critical alert may wait before the service counts as not well. */
const CRITICAL_WAITS_MS = 10 * 60_000;

/**
 * Returns a ping to a check elsewhere, which notices when the pings stop.
 *
 * Behaviour: reports a failure unless the service can accept, leads or knows who leads, and its oldest critical alert
 *            has waited for less than ten minutes. A ping that fails changes nothing, and is logged once.
 * Source:    design of the alarm, Dead man.
 */
export function heartbeat(dependencies: WatchDependencies): (signal: AbortSignal) => Promise<void> {
  const { clients, log } = dependencies;
  let last: { problem: string | null; failure: string | null } = { problem: null, failure: null };
  return async (signal) => {
    const { ping } = clients();
    if (ping === null) return;
    const problem = await problemOf(dependencies);
    const outcome = await ping(problem === null, signal);
    if (signal.aborted) return;
    const failure = outcome.status === "sent" ? null : outcome.code;
    if (problem !== null && problem !== last.problem)
      log.warn("The ping says that the service is not well", { problem });
    if (failure !== null && failure !== last.failure)
      log.warn("The ping of OPSCTL_PING_URL fails", { code: failure });
    last = { problem, failure };
  };
}

async function problemOf({ durable, dispatcher }: WatchDependencies) {
  const read = durable.check().then(() => durable.stats());
  const stats = await read.catch(() => null);
  if (stats === null) return "cannot_accept";
  if (!dispatcher.isLeaderKnown) return "leader_unknown";
  return (stats.oldestCriticalAgeMs ?? 0) >= CRITICAL_WAITS_MS ? "critical_alert_waits" : null;
}
