import { withTimeout } from "../../platform/timeout.ts";
import type { WatchDependencies } from "./watch.ts";

/** How long a critical alert may wait before the service counts as not well. */
const CRITICAL_WAITS_MS = 10 * 60_000;
const STATE_LIMIT_MS = 5_000;
/** The shortest time between two lines about pings that fail. */
const LOG_AGAIN_MS = 60 * 60_000;

/**
 * Returns a ping to a check elsewhere, which notices when the pings stop.
 *
 * Behaviour: reports a failure unless the service can accept, leads or knows who leads, and its oldest critical alert
 *            has waited for less than ten minutes. A ping that fails changes nothing.
 * Source:    design of the alarm, Dead man.
 */
export function heartbeat(dependencies: WatchDependencies): (signal: AbortSignal) => Promise<void> {
  const { clients, log, monotonicMs } = dependencies;
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  let lastTrouble: string | null = null;
  return async (signal) => {
    const { ping } = clients();
    if (ping === null) return;
    const trouble = await troubleOf(dependencies);
    if (signal.aborted) return;
    if (trouble !== null && trouble !== lastTrouble)
      log.warn("The ping says that the service is not well", { trouble });
    lastTrouble = trouble;
    const outcome = await ping(trouble === null, signal);
    if (outcome.status === "sent" || signal.aborted || monotonicMs() - loggedAtMs < LOG_AGAIN_MS) return;
    loggedAtMs = monotonicMs();
    log.warn("The ping of OPSCTL_PING_URL fails", { code: outcome.code });
  };
}

async function troubleOf({ durable, isLeading, isLeaderKnown }: WatchDependencies) {
  const read = async () => {
    await durable.check();
    return await durable.stats();
  };
  const stats = await withTimeout({ limitMs: STATE_LIMIT_MS }, read, () => null).catch(() => null);
  if (stats === null) return "cannot_accept";
  if (!isLeading() && !isLeaderKnown()) return "leader_unknown";
  return (stats.oldestCriticalAgeMs ?? 0) >= CRITICAL_WAITS_MS ? "critical_alert_waits" : null;
}
