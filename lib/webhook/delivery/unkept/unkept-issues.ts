import type { Log } from "../../../platform/log/log.ts";
import type { Alert } from "../../alert/alert.ts";
import type { WebhookMetrics } from "../../metrics/metrics.ts";
import type { IssueClaim } from "../../state/contract.ts";
import { issueIdOf } from "../attempts/issue-id.ts";
import type { Aside } from "./aside.ts";
import type { IssueClaims } from "./issue-claims.ts";
import { type IssueAnswer, newTelling } from "./telling.ts";

/** What issues without a state need. */
export type UnkeptIssueDependencies = {
  issue: Aside;
  metrics: WebhookMetrics;
  log: Log;
  monotonicMs: () => number;
  /** Ends what is on its way. */
  signal: AbortSignal;
};

/**
 * The issues of alerts that no state keeps: each is tried once, when its message was taken.
 *
 * Behaviour: `failed` when it could not be created, or is not known to be: the next firing tries again, under the same
 *            id. Never throws.
 */
export class UnkeptIssues {
  readonly #dependencies: UnkeptIssueDependencies;
  readonly #claims: IssueClaims;
  readonly #underWay = new Map<string, Promise<IssueAnswer>>();
  readonly #accepting = new Set<Promise<unknown>>();

  constructor(dependencies: UnkeptIssueDependencies, claims: IssueClaims) {
    this.#dependencies = dependencies;
    this.#claims = claims;
  }

  async try(alert: Alert): Promise<IssueAnswer> {
    const { fingerprint, firing } = alert;
    if (!firing) return { issue: "not_firing" };
    const other = this.#underWay.get(fingerprint);
    if (other !== undefined) return asDuplicate(await other);
    const trying = this.#try(alert).finally(() => this.#underWay.delete(fingerprint));
    this.#underWay.set(fingerprint, trying);
    return await trying;
  }

  /** Begins no issue while the state accepts alerts that it was given before the issue was claimed. */
  async notDuring<T>(accepting: Promise<T>): Promise<T> {
    this.#accepting.add(accepting);
    return await accepting.finally(() => this.#accepting.delete(accepting));
  }

  /** Resolves when nothing is on its way. */
  async idle(): Promise<void> {
    await Promise.all(this.#underWay.values());
  }

  async #try(alert: Alert): Promise<IssueAnswer> {
    const { fingerprint } = alert;
    // From now on the state claims it under the same time; what it claimed before, it can say afterwards.
    const claimedAtMs = this.#claims.claim(fingerprint);
    await Promise.allSettled(this.#accepting);
    const known = await this.#claims.find(alert);
    if (known !== null) return answerOf("duplicate", fingerprint, known);
    if (!this.#dependencies.issue.mayStart) return { issue: "failed" };
    return await this.#create(alert, claimedAtMs).catch((error: unknown) => this.#failed(alert, error));
  }

  #failed({ fingerprint }: Alert, error: unknown): IssueAnswer {
    const cause = error instanceof Error ? error.name : typeof error;
    const facts = { kind: "issue", fingerprint, cause };
    this.#dependencies.log.error("The issue of an alert that the state does not keep cannot be made", facts);
    return { issue: "failed" };
  }

  async #create(alert: Alert, claimedAtMs: number): Promise<IssueAnswer> {
    const { issue, metrics, log, monotonicMs, signal } = this.#dependencies;
    const { fingerprint } = alert;
    const startedMs = monotonicMs();
    const { row } = newTelling(alert, { id: -1, wantedAtMs: startedMs });
    const result = await issue.send(async () => ({ ...row, kind: "issue", claimedAtMs }), signal);
    const facts = { kind: "issue", fingerprint };
    if (result === null) return { issue: "failed" };
    if (result.status !== "delivered") {
      metrics.failed("issue", result.code);
      log.warn("An issue of an alert that the state does not keep could not be created", {
        ...facts,
        code: result.code,
      });
      return { issue: "failed" };
    }
    this.#claims.created(fingerprint, { claimedAtMs, url: result.url });
    metrics.sent("issue", monotonicMs() - startedMs);
    log.info("Created an issue from memory: the state does not keep its alert", facts);
    return answerOf("created", fingerprint, { claimedAtMs });
  }
}

function answerOf(
  issue: "created" | "duplicate",
  fingerprint: string,
  { claimedAtMs }: Pick<IssueClaim, "claimedAtMs">,
): IssueAnswer {
  return { issue, issueId: issueIdOf(fingerprint, claimedAtMs) };
}

function asDuplicate(answer: IssueAnswer): IssueAnswer {
  return answer.issue === "created" ? { ...answer, issue: "duplicate" } : answer;
}
