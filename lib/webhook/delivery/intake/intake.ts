import type { Alert } from "../../alert/alert.ts";
import type { AlertAnswer } from "../../alert-answer.ts";
import type { WebhookMetrics } from "../../metrics/metrics.ts";
import type { AcceptedAlert, AcceptOutcome, Settlement, State } from "../../state/contract.ts";
import { issueIdOf } from "../attempts/issue-id.ts";
import type { Dispatcher } from "../dispatcher.ts";
import { keptAnswer } from "../kept-answer.ts";
import type { UnkeptAlerts } from "../unkept/unkept-alerts.ts";
import { AcceptQueue } from "./accept-queue.ts";

/** What accepting needs. */
export type IntakeDependencies = {
  state: Pick<State, "accept">;
  dispatcher: Pick<Dispatcher, "look" | "inFlight">;
  /** What goes out while the state keeps nothing. */
  unkept: Pick<UnkeptAlerts, "knows" | "take" | "handOver">;
  /** Told of what the state keeps. */
  onAccepted?: (alerts: readonly AcceptedAlert[]) => void;
  monotonicMs: () => number;
  metrics: WebhookMetrics;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** How long an answer waits for the rows on their way. */
const ANSWER_WAIT_MS = 5_000;
/** A request with more alerts is committed by itself, and the others do not wait behind several of that size. */
const MOST_SHARED_ALERTS = 256;
const SHARED = { requests: 256, alerts: 1_000, turnsBefore: 0 };
/** From its connection to its answer a small request takes some ten turns of the event loop. */
const ALONE = { requests: 1, alerts: Number.POSITIVE_INFINITY, turnsBefore: 20 };
/** How many requests may wait for the disk; the sender of one more is told to come again. */
const MOST_WAITING = 10_000;

/**
 * Takes the alerts of requests: commits together those that wait together, and sends only what is committed.
 *
 * Behaviour: `take` resolves when its alerts are on disk and what could start at once has ended, or five seconds later.
 *            What the state certainly does not keep is sent from memory.
 * Errors:    `take` returns null when the alerts were neither kept nor all sent: a full outbox, a full disk while the
 *            gateway does not take them, too many requests waiting, a service that is stopping.
 */
export class Intake {
  readonly #dependencies: IntakeDependencies;
  readonly #shared: AcceptQueue;
  readonly #alone: AcceptQueue;
  #isOpen = true;

  constructor(dependencies: IntakeDependencies) {
    this.#dependencies = dependencies;
    const { state, unkept } = dependencies;
    const accept: State["accept"] = (requests) =>
      unkept.handOver(requests, (tries) => state.accept(requests, tries));
    this.#shared = new AcceptQueue(accept, SHARED);
    this.#alone = new AcceptQueue(accept, ALONE);
  }

  async take(alerts: readonly Alert[]): Promise<AlertAnswer[] | null> {
    if (!this.#isOpen || this.#shared.waiting + this.#alone.waiting >= MOST_WAITING) return null;
    if (alerts.length === 0) return [];
    const { unkept, monotonicMs } = this.#dependencies;
    const arrivedAtMs = monotonicMs();
    // Kept as well, they would be told twice.
    if (unkept.knows(alerts)) return await unkept.take(alerts, arrivedAtMs);
    const queue = alerts.length > MOST_SHARED_ALERTS ? this.#alone : this.#shared;
    const outcome = await queue.add(alerts);
    if ("refused" in outcome) return mayBeSent(outcome) ? await unkept.take(alerts, arrivedAtMs) : null;
    const { metrics, dispatcher, onAccepted } = this.#dependencies;
    onAccepted?.(outcome.accepted);
    metrics.accepted(outcome.accepted.length);
    for (const { issue } of outcome.accepted) if (issue.status === "duplicate") metrics.duplicate();
    await dispatcher.look({ issues: outcome.accepted.some(({ issue }) => issue.status === "first") });
    return await this.#answer(outcome.accepted);
  }

  /** Takes nothing more; resolves when what was taken is on disk. */
  async stop(): Promise<void> {
    this.#isOpen = false;
    await Promise.all([this.#shared.idle(), this.#alone.idle()]);
  }

  async #answer(accepted: readonly AcceptedAlert[]): Promise<AlertAnswer[]> {
    if (!accepted.some((alert) => this.#isOnItsWay(alert))) return accepted.map(keptAnswer);
    const over = new AbortController();
    const late = this.#dependencies.sleep(ANSWER_WAIT_MS, over.signal).then(
      () => null,
      () => null,
    );
    try {
      return await Promise.all(accepted.map((alert) => this.#answerFor(alert, late)));
    } finally {
      over.abort();
    }
  }

  #isOnItsWay({ messageRow, issue }: AcceptedAlert): boolean {
    const { dispatcher } = this.#dependencies;
    if (dispatcher.inFlight("message", messageRow) !== null) return true;
    return issue.status === "first" && dispatcher.inFlight("issue", issue.row) !== null;
  }

  async #answerFor(accepted: AcceptedAlert, late: Promise<null>): Promise<AlertAnswer> {
    const { dispatcher } = this.#dependencies;
    const answer = keptAnswer(accepted);
    const { messageRow, issue } = accepted;
    const message = await settled(dispatcher.inFlight("message", messageRow), late);
    if (message?.status === "delivered") answer.whatsapp = "sent";
    if (issue.status !== "first") return answer;
    // The issue waited for its message, which has just ended.
    if (message !== null) await dispatcher.look();
    const settlement = await settled(dispatcher.inFlight("issue", issue.row), late);
    if (settlement?.status === "dead") answer.issue = "refused";
    if (settlement?.status !== "delivered") return answer;
    return { ...answer, issue: "created", issueId: issueIdOf(answer.fingerprint, issue.claimedAtMs) };
  }
}

/** Whether a refused request may go out from memory: certainly not kept, for another reason than too much waiting. */
function mayBeSent(outcome: Exclude<AcceptOutcome, { accepted: unknown }>): boolean {
  return outcome.refused === "state_unavailable" && outcome.mayBeKept !== true;
}

/** How a row was settled; null when it is not on its way, or does not end before `late`. */
async function settled(
  flight: Promise<Settlement | null> | null,
  late: Promise<null>,
): Promise<Settlement | null> {
  return flight === null ? null : await Promise.race([flight, late]);
}
