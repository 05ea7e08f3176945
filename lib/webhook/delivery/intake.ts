import { setImmediate as nextTurn } from "node:timers/promises";
import type { Alert } from "../alert/alert.ts";
import type { WebhookMetrics } from "../metrics/metrics.ts";
import { OutageLog } from "../outage-log.ts";
import { type AlertAnswer, answersOf, type Deliveries, type Placed } from "./alert-answer.ts";
import type { Acceptance, DegradedMode } from "./degraded-mode.ts";
import type { DispatcherParts } from "./parts.ts";
import { nameOf } from "./report.ts";

/** What accepting needs. */
export type IntakeDependencies = Pick<DispatcherParts, "log" | "monotonicMs" | "sleep"> & {
  degradedMode: Pick<DegradedMode, "accept" | "answered">;
  dispatcher: Deliveries;
  metrics: Pick<WebhookMetrics, "accepted" | "duplicate">;
};

/** How long an answer waits for the rows in flight, from the commit on. */
const ANSWER_WAIT_MS = 5_000;
/**
 * How long a post waits from its arrival on: less than the 30 seconds after which senders give up, so that it is answered
 * within 25 also while large posts are parsed; and less than a send may take, so that one that times out is a 503.
 */
const POST_LIMIT_MS = 22_000;
/** How many posts may wait for their commit; one more is refused, and sent again later. */
const MOST_WAITING = 10_000;
/** How much is committed together at most: with more, the first post would wait for the last. */
const BATCH = { posts: 256, alerts: 1_000 };

type Waiting = {
  alerts: readonly Alert[];
  arrivedAtMs: number;
  resolve: (answers: Promise<AlertAnswer[] | null>) => void;
};

/**
 * Takes the alerts of posts: commits together those that wait together, and answers them.
 *
 * Behaviour: `take` resolves when its alerts are on disk and none of their rows is in flight any more, or five seconds
 *            after the commit. Alerts that are in memory have to be delivered first, within 22 seconds of the request's arrival.
 * Errors:    `take` returns null when the alerts were neither kept nor all delivered, or not in time: a full outbox, too
 *            many posts waiting, a commit whose answer was lost or is late, a service that is stopping.
 */
export class Intake {
  readonly #dependencies: IntakeDependencies;
  readonly #failures: OutageLog;
  readonly #waiting: Waiting[] = [];
  #committing: Promise<void> | null = null;
  #isOpen = true;

  constructor(dependencies: IntakeDependencies) {
    this.#dependencies = dependencies;
    this.#failures = new OutageLog({ ...dependencies, problem: "Alerts could not be accepted" });
  }

  async take(alerts: readonly Alert[], arrivedAtMs: number): Promise<AlertAnswer[] | null> {
    if (!this.#isOpen || this.#waiting.length >= MOST_WAITING) return null;
    const { sleep, monotonicMs } = this.#dependencies;
    const over = new AbortController();
    const late = sleep(arrivedAtMs + POST_LIMIT_MS - monotonicMs(), over.signal).then(() => null);
    const answers = new Promise<AlertAnswer[] | null>((resolve) => {
      this.#waiting.push({ alerts, arrivedAtMs, resolve });
      this.#committing ??= this.#commitWhileWaiting();
    });
    return await Promise.race([answers, late]).finally(() => over.abort());
  }

  /** Takes nothing more; resolves when what was taken is on disk. */
  async stop(): Promise<void> {
    this.#isOpen = false;
    await this.#committing;
  }

  async #commitWhileWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#gather();
      const posts = this.#waiting.splice(0, this.#sharedPosts());
      await this.#commit(posts);
      // A small post waits for one large post, not for all that came before it.
      if (isLarge(posts[0]!)) this.#waiting.sort((a, b) => Number(isLarge(a)) - Number(isLarge(b)));
    }
    // Nothing is awaited between the last look and this line: the next post starts this again.
    this.#committing = null;
  }

  /** Waits for as long as each turn of the event loop brings more posts, so that they share the commit. */
  async #gather(): Promise<void> {
    for (let before = 0; before < this.#waiting.length && before < BATCH.posts; ) {
      before = this.#waiting.length;
      await nextTurn();
    }
  }

  #sharedPosts(): number {
    let left = BATCH.alerts;
    const end = this.#waiting.findIndex(({ alerts }, at) => {
      left -= alerts.length;
      return at > 0 && (left < 0 || at === BATCH.posts);
    });
    return end === -1 ? this.#waiting.length : end;
  }

  async #commit(posts: readonly Waiting[]): Promise<void> {
    const { degradedMode, dispatcher, sleep } = this.#dependencies;
    const accepting = degradedMode.accept(posts.map(({ alerts }) => alerts));
    const outcomes = await accepting.catch((error: unknown) => {
      this.#failures.failed({ cause: nameOf(error) });
      return posts.map((): Acceptance => ({ refused: "state_unavailable", mayBeKept: true }));
    });
    const over = new AbortController();
    const limit = { looked: dispatcher.look(), late: sleep(ANSWER_WAIT_MS, over.signal) };
    const answers = posts.map((post, at) => this.#answer(post, outcomes[at]!, limit));
    for (const [at, { resolve }] of posts.entries()) resolve(answers[at]!);
    void Promise.allSettled(answers).then(() => over.abort());
  }

  async #answer(
    { arrivedAtMs }: Waiting,
    outcome: Acceptance,
    limit: { looked: Promise<void>; late: Promise<void> },
  ): Promise<AlertAnswer[] | null> {
    if ("refused" in outcome) return null;
    const { placed } = outcome;
    if (!placed.every(({ isDurable }) => isDurable)) return await this.#answerDegraded(placed, arrivedAtMs);
    this.#count(placed);
    return await answersOf(placed, this.#dependencies.dispatcher, limit);
  }

  async #answerDegraded(placed: readonly Placed[], arrivedAtMs: number): Promise<AlertAnswer[] | null> {
    const { dispatcher, sleep, monotonicMs } = this.#dependencies;
    const over = new AbortController();
    const late = sleep(arrivedAtMs + POST_LIMIT_MS - monotonicMs(), over.signal);
    try {
      await Promise.race([Promise.all(placed.map(({ settled }) => settled)), late]);
      if (!placed.every(isSafe)) return null;
      this.#count(placed);
      const soon = Promise.race([sleep(ANSWER_WAIT_MS, over.signal), late]);
      return await answersOf(placed, dispatcher, { looked: dispatcher.look(), late: soon });
    } finally {
      over.abort();
    }
  }

  #count(placed: readonly Placed[]): void {
    const { metrics, degradedMode } = this.#dependencies;
    degradedMode.answered(placed);
    metrics.accepted(placed.length);
    for (const { accepted } of placed) if (accepted.issue.status === "duplicate") metrics.duplicate();
  }
}

const isLarge = ({ alerts }: Waiting) => alerts.length > BATCH.alerts;

/** Whether an alert is lost with neither this process nor the gateway. */
function isSafe({ isDurable, message }: Placed): boolean {
  return isDurable || message?.status === "delivered";
}
