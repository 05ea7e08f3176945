import type { Alert } from "../alert/alert.ts";
import { alertnameOf } from "../alert/name.ts";
import type { WebhookMetrics } from "../metrics/metrics.ts";
import type { AcceptedAlert, AcceptOutcome, State } from "../state/state.ts";
import type { AlertAnswer } from "../http/alert-answer.ts";
import type { Ending } from "./attempt.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { issueIdOf } from "./issue-id.ts";

/** What accepting needs. */
export type IntakeDependencies = {
  state: Pick<State, "accept">;
  dispatcher: Pick<Dispatcher, "look" | "inFlight">;
  metrics: WebhookMetrics;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** How long an answer waits for what is on its way. */
const ANSWER_WAIT_MS = 5_000;
/** Requests committed together: more would make the first one wait for the last. */
const LARGEST_BATCH = 256;
/** Requests that may wait for the disk; the sender of one more is better told to come again. */
const MOST_WAITING = 10_000;

type Waiting = { alerts: readonly Alert[]; resolve: (outcome: AcceptOutcome) => void };

/**
 * Takes the alerts of requests: those that wait together are committed together, and only then is anything sent.
 *
 * Shape:  `take` resolves when its alerts are on disk and what could start at once has ended, or five seconds later.
 * Errors: `take` answers null when nothing was kept: a full disk or outbox, too many waiting, a service that stops.
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

  /** Takes nothing more, and resolves when what was taken is on disk. */
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
    // In the same instant in which nobody waits any more: whoever comes next begins anew.
    this.#flushing = null;
  }

  /** Whatever else arrives shares the commit: waits for as long as each turn of the event loop brings more. */
  async #gather(): Promise<void> {
    for (let before = 0; before < this.#waiting.length && before < LARGEST_BATCH; ) {
      before = this.#waiting.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #answer(accepted: readonly AcceptedAlert[]): Promise<AlertAnswer[]> {
    if (!accepted.some((alert) => this.#isOnItsWay(alert)))
      return accepted.map((alert) => plainAnswer(alert));
    const over = new AbortController();
    const late = this.#dependencies.sleep(ANSWER_WAIT_MS, over.signal).then(
      () => "late" as const,
      () => "late" as const,
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

  async #answerFor(accepted: AcceptedAlert, late: Promise<"late">): Promise<AlertAnswer> {
    const { dispatcher } = this.#dependencies;
    const answer = plainAnswer(accepted);
    const { messageRow, issue } = accepted;
    const message = await ended(dispatcher.inFlight("message", messageRow), late);
    if (message === "delivered") answer.whatsapp = "sent";
    if (issue.status !== "first") return answer;
    // Its message has just ended: now it may start.
    if (message !== null && message !== "late") await dispatcher.look();
    const ending = await ended(dispatcher.inFlight("issue", issue.row), late);
    if (ending === "dead") answer.issue = "refused";
    if (ending !== "delivered") return answer;
    return { ...answer, issue: "created", issueId: issueIdOf(answer.fingerprint, issue.claimedAtMs) };
  }
}

/** The answer while nothing has been delivered. */
function plainAnswer({ alert, issue }: AcceptedAlert): AlertAnswer {
  const { labels, status, squad, fingerprint } = alert;
  const plain = { alertname: alertnameOf(labels), status, squad, fingerprint, whatsapp: "queued" as const };
  if (issue.status !== "duplicate")
    return { ...plain, issue: issue.status === "first" ? "queued" : "not_firing" };
  return { ...plain, issue: "duplicate", issueId: issueIdOf(fingerprint, issue.claimedAtMs) };
}

async function ended(flight: Promise<Ending> | null, late: Promise<"late">): Promise<Ending | "late" | null> {
  return flight === null ? null : await Promise.race([flight, late]);
}
