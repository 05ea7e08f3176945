import type { Alert } from "../alert/alert.ts";
import { alertnameOf } from "../alert/name.ts";
import type { AlertAnswer } from "../http/alert-answer.ts";
import type { WebhookMetrics } from "../metrics/metrics.ts";
import type { AcceptedAlert, AcceptOutcome, Settlement, State } from "../state/contract.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { issueIdOf } from "./issue-id.ts";

/** What accepting needs. */
export type IntakeDependencies = {
  state: Pick<State, "accept">;
  dispatcher: Pick<Dispatcher, "look" | "inFlight">;
  metrics: WebhookMetrics;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** How long an answer waits for the rows on their way. */
const ANSWER_WAIT_MS = 5_000;
/** How many requests are committed together: with more, the first would wait for the last. */
const LARGEST_BATCH = 256;
/** How many requests may wait for the disk; the sender of one more is told to come again. */
const MOST_WAITING = 10_000;

type Waiting = { alerts: readonly Alert[]; resolve: (outcome: AcceptOutcome) => void };

/**
 * Takes the alerts of requests: commits together those that wait together, and sends only what is committed.
 *
 * Behaviour: `take` resolves when its alerts are on disk and what could start at once has ended, or five seconds later.
 * Errors:    `take` returns null when nothing was kept: a full disk or outbox, too many requests waiting, a service
 *            that is stopping.
 */
export class Intake {
  readonly #dependencies: IntakeDependencies;
  #waiting: Waiting[] = [];
  #flushing: Promise<void> | null = null;
  #isOpen = true;

  constructor(dependencies: IntakeDependencies) {
    this.#dependencies = dependencies;
  }

  async take(alerts: readonly Alert[]): Promise<AlertAnswer[] | null> {
    if (!this.#isOpen || this.#waiting.length >= MOST_WAITING) return null;
    if (alerts.length === 0) return [];
    const outcome = await new Promise<AcceptOutcome>((resolve) => {
      this.#waiting.push({ alerts, resolve });
      this.#flushing ??= this.#flush();
    });
    if ("refused" in outcome) return null;
    const { metrics, dispatcher } = this.#dependencies;
    metrics.accepted(outcome.accepted.length);
    for (const { issue } of outcome.accepted) if (issue.status === "duplicate") metrics.duplicate();
    await dispatcher.look({ issues: outcome.accepted.some(({ issue }) => issue.status === "first") });
    return await this.#answer(outcome.accepted);
  }

  /** Takes nothing more; resolves when what was taken is on disk. */
  async stop(): Promise<void> {
    this.#isOpen = false;
    await this.#flushing;
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#gather();
      const batch = this.#waiting.splice(0, LARGEST_BATCH);
      const outcomes = await this.#dependencies.state.accept(batch.map(({ alerts }) => alerts));
      for (const [at, { resolve }] of batch.entries()) resolve(outcomes[at]!);
    }
    // Nothing is awaited between the last look and this line: the next request starts a new flush.
    this.#flushing = null;
  }

  /** Waits for as long as each turn of the event loop brings more requests, so that they share the commit. */
  async #gather(): Promise<void> {
    for (let before = 0; before < this.#waiting.length && before < LARGEST_BATCH; ) {
      before = this.#waiting.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #answer(accepted: readonly AcceptedAlert[]): Promise<AlertAnswer[]> {
    if (!accepted.some((alert) => this.#isOnItsWay(alert))) return accepted.map((alert) => answerNow(alert));
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
    const answer = answerNow(accepted);
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

/** The answer while nothing has been delivered. */
function answerNow({ alert, issue }: AcceptedAlert): AlertAnswer {
  const { labels, status, squad, fingerprint } = alert;
  const plain = { alertname: alertnameOf(labels), status, squad, fingerprint, whatsapp: "queued" as const };
  if (issue.status !== "duplicate")
    return { ...plain, issue: issue.status === "first" ? "queued" : "not_firing" };
  return { ...plain, issue: "duplicate", issueId: issueIdOf(fingerprint, issue.claimedAtMs) };
}

/** How a row was settled; null when it is not on its way, or does not end before `late`. */
async function settled(
  flight: Promise<Settlement | null> | null,
  late: Promise<null>,
): Promise<Settlement | null> {
  return flight === null ? null : await Promise.race([flight, late]);
}
