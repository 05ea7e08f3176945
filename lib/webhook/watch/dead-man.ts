import type { Log } from "../../platform/log/log.ts";
import { withTimeout } from "../../platform/timeout.ts";
import type { Ping } from "../../providers/ping.ts";
import type { State } from "../state/contract.ts";

/** What the ping works with. */
export type DeadManDependencies = {
  state: Pick<State, "check" | "lead" | "stats">;
  /** Null while no ping is set up. */
  ping: () => Ping | null;
  isLeading: () => boolean;
  /** False while WhatsApp acknowledges none of the newest messages. */
  isAcknowledged: () => boolean;
  log: Log;
  monotonicMs: () => number;
};

/** Why the service is not well. */
export type Trouble = "cannot_accept" | "leader_unknown" | "critical_alert_waits" | "messages_unacknowledged";

/** How long a critical alert may wait before the service counts as not well. */
const CRITICAL_WAITS_MS = 10 * 60_000;
const STATE_LIMIT_MS = 5_000;
/** The shortest time between two lines about pings that fail. */
const TELL_MS = 60 * 60_000;

/**
 * Tells a check elsewhere that the service is well, so that its silence is noticed.
 *
 * Behaviour: well while it can accept, leads or knows who leads, its oldest critical alert has waited for less than ten
 *            minutes, and WhatsApp acknowledges the messages. A ping that fails changes nothing and is logged at most
 *            once an hour.
 * Source:    design of the alarm, Dead man.
 */
export class DeadMan {
  readonly #dependencies: DeadManDependencies;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  #trouble: Trouble | null = null;

  constructor(dependencies: DeadManDependencies) {
    this.#dependencies = dependencies;
  }

  /** Pings once. */
  async beat(signal: AbortSignal): Promise<void> {
    const ping = this.#dependencies.ping();
    if (ping === null) return;
    const trouble = await this.#troubleNow();
    if (signal.aborted) return;
    if (trouble !== null && trouble !== this.#trouble)
      this.#dependencies.log.warn("The ping says that the service is not well", { trouble });
    this.#trouble = trouble;
    const outcome = await ping(trouble === null, signal);
    if (outcome.status === "failed" && !signal.aborted) this.#tell(outcome.code);
  }

  async #troubleNow(): Promise<Trouble | null> {
    const { state, isLeading, isAcknowledged } = this.#dependencies;
    if (!(await inTime(() => state.check()))) return "cannot_accept";
    // A process that does not lead knows by this call that another one does; it throws when no one can say.
    if (!isLeading() && !(await inTime(() => state.lead()))) return "leader_unknown";
    let oldestMs: number | null = null;
    const isRead = await inTime(async () => {
      oldestMs = (await state.stats()).oldestCriticalAgeMs;
    });
    if (!isRead) return "cannot_accept";
    if ((oldestMs ?? 0) >= CRITICAL_WAITS_MS) return "critical_alert_waits";
    return isAcknowledged() ? null : "messages_unacknowledged";
  }

  #tell(code: string): void {
    const { log, monotonicMs } = this.#dependencies;
    const now = monotonicMs();
    if (now - this.#toldAtMs < TELL_MS) return;
    this.#toldAtMs = now;
    log.warn("The ping of OPSCTL_PING_URL fails", { code });
  }
}

async function inTime(work: () => Promise<unknown>): Promise<boolean> {
  try {
    return await withTimeout(
      { limitMs: STATE_LIMIT_MS },
      async () => {
        await work();
        return true;
      },
      () => false,
    );
  } catch {
    return false;
  }
}
