import type { Log } from "../../../platform/log/log.ts";
import type { Alert } from "../../alert/alert.ts";
import { alertnameOf } from "../../alert/name.ts";
import type { AlertAnswer } from "../../alert-answer.ts";
import type { WebhookMetrics } from "../../metrics/metrics.ts";
import type { UnkeptMemory } from "../../second-channel/unkept-memory.ts";
import type { AcceptOutcome, State, Tries } from "../../state/contract.ts";
import type { LookUp } from "../attempts/attempt.ts";
import { keptAnswer } from "../kept-answer.ts";
import type { Aside } from "./aside.ts";
import { IssueClaims } from "./issue-claims.ts";
import type { Telling } from "./telling.ts";
import { UnkeptIssues } from "./unkept-issues.ts";
import { UnkeptMessages } from "./unkept-messages.ts";

/** What sending without a state needs. */
export type UnkeptDependencies = {
  state: Pick<State, "issueClaim" | "rememberIssues" | "takeUp" | "settle">;
  message: Aside;
  issue: Aside;
  lookUp: LookUp;
  metrics: WebhookMetrics;
  log: Log;
  /** Told of each post of an alert, and when the gateway took it. */
  unheard?: Pick<UnkeptMemory, "posted" | "taken">;
  nowMs: () => number;
  monotonicMs: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** How long a post waits from its arrival on: senders give up after half a minute. */
const POST_LIMIT_MS = 25_000;

/**
 * Sends the alerts that the state does not keep, from memory.
 *
 * Behaviour: `take` returns answers only when the gateway took every alert of the post, within 25 seconds of its
 *            arrival; else null, and what it did take is not sent again when the post comes again within 30 minutes.
 *            Posts of the same alert that wait together are told with one message. Its issue is tried once.
 */
export class UnkeptAlerts {
  readonly #dependencies: UnkeptDependencies;
  readonly #claims: IssueClaims;
  readonly #messages: UnkeptMessages;
  readonly #issues: UnkeptIssues;
  readonly #giveUp = new AbortController();

  constructor(dependencies: UnkeptDependencies) {
    this.#dependencies = dependencies;
    const { signal } = this.#giveUp;
    this.#claims = new IssueClaims(dependencies.state, dependencies.nowMs);
    this.#issues = new UnkeptIssues({ ...dependencies, signal }, this.#claims);
    this.#messages = new UnkeptMessages({ ...dependencies, signal }, this.#claims, (alert) =>
      this.#issues.try(alert),
    );
  }

  /** Whether every alert was taken for a post that could not be answered with 200. */
  knows(alerts: readonly Alert[]): boolean {
    return this.#messages.knows(alerts);
  }

  /** `arrivedAtMs` is when the post arrived, on the monotonic clock. */
  async take(alerts: readonly Alert[], arrivedAtMs: number): Promise<AlertAnswer[] | null> {
    const { sleep, metrics, monotonicMs } = this.#dependencies;
    const over = new AbortController();
    const leftMs = Math.max(0, arrivedAtMs + POST_LIMIT_MS - monotonicMs());
    const late = sleep(leftMs, over.signal).then<false, false>(
      () => false,
      () => false,
    );
    try {
      const tellings = await this.#messages.tell(alerts, late);
      if (tellings === null) return null;
      metrics.accepted(alerts.length);
      return await Promise.all(tellings.map((telling) => this.#answer(telling, late)));
    } finally {
      over.abort();
    }
  }

  /**
   * Has the state accept requests, and tells it what it does not know of their alerts: their issues before, what became
   * of their messages afterwards; then of all other issues.
   */
  async handOver(
    requests: readonly (readonly Alert[])[],
    accept: (tries: Tries) => Promise<AcceptOutcome[]>,
  ): Promise<AcceptOutcome[]> {
    if (this.#claims.areOwedFor(requests)) await this.#claims.handOver();
    const tries: Tries = {
      issue: (fingerprint) => this.#claims.triedAtMs(fingerprint),
      message: this.#messages.triedOnce(),
    };
    const accepting = this.#messages.handOver(requests, () => accept(tries));
    const outcomes = await this.#issues.notDuring(accepting);
    if (outcomes.some((outcome) => "accepted" in outcome)) await this.#claims.handOver();
    return outcomes;
  }

  /** Starts nothing more; what is on its way may take `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    const timer = setTimeout(() => this.#giveUp.abort(), graceMs);
    // A message that was taken meanwhile begins its issue.
    await this.#messages.stop();
    await this.#issues.idle();
    clearTimeout(timer);
  }

  async #answer({ row, issue, kept }: Telling, late: Promise<false>): Promise<AlertAnswer> {
    if (kept !== null) return keptAnswer(kept);
    const { labels, status, squad, fingerprint } = row.alert;
    const plain = { alertname: alertnameOf(labels), status, squad, fingerprint, whatsapp: "sent" as const };
    const known = (await Promise.race([issue, late])) || { issue: "failed" as const };
    if (known.issue === "duplicate") this.#dependencies.metrics.duplicate();
    return { ...plain, ...known, durable: false };
  }
}
