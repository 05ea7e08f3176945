import type { Log } from "../../../platform/log/log.ts";
import type { Alert } from "../../alert/alert.ts";
import type { WebhookMetrics } from "../../metrics/metrics.ts";
import type { UnkeptMemory } from "../../second-channel/unkept-memory.ts";
import type {
  AcceptedAlert,
  AcceptOutcome,
  Delivered,
  DueRow,
  State,
  TriedBefore,
} from "../../state/contract.ts";
import type { AttemptResult, LookUp, Retry } from "../attempts/attempt.ts";
import { isTooUnclear, mayHaveArrived, OVER_AFTER_MS } from "../attempts/doubt.ts";
import { NO_DETOUR } from "../messages/detour-teller.ts";
import { messageText } from "../messages/message-texts.ts";
import type { Aside } from "./aside.ts";
import type { IssueClaims } from "./issue-claims.ts";
import { type IssueAnswer, isWanted, type Telling, triedFor } from "./telling.ts";
import { Tellings } from "./tellings.ts";
import { WaitingLine } from "./waiting-line.ts";

/** What messages without a state need. */
export type UnkeptMessageDependencies = {
  state: Pick<State, "takeUp" | "settle">;
  message: Aside;
  lookUp: LookUp;
  metrics: WebhookMetrics;
  log: Log;
  nowMs: () => number;
  monotonicMs: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Told of each post of an alert, and when the gateway took it. */
  unheard?: Pick<UnkeptMemory, "posted" | "taken"> | undefined;
  /** Ends what is on its way. */
  signal: AbortSignal;
};

/** How many alerts may wait: far more than the pace lets out before their posts are over. */
const MOST_WAITING = 1_000;
const LOOK_MS = 100;

/**
 * The messages of alerts that no state keeps.
 *
 * Behaviour: one message for all posts of an alert that wait together, the most urgent alert first. One attempt for
 *            each post; after one without a clear answer, or with one of a proxy, the gateway is asked first, once it
 *            has written down what it took, and after three of the first kind none is made. `tell` returns what became
 *            of each alert, or null when not all were taken before `late`. `onTaken` makes the issue of an alert that
 *            was taken.
 */
export class UnkeptMessages {
  readonly #dependencies: UnkeptMessageDependencies;
  readonly #claims: IssueClaims;
  readonly #onTaken: (alert: Alert) => Promise<IssueAnswer>;
  readonly #line = new WaitingLine(MOST_WAITING);
  readonly #tellings: Tellings;
  readonly #stopped = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  readonly #turns = new Map<Telling, (isTaken: boolean) => void>();
  #handingOver = 0;
  #working: Promise<void> | null = null;

  constructor(
    dependencies: UnkeptMessageDependencies,
    claims: IssueClaims,
    onTaken: (alert: Alert) => Promise<IssueAnswer>,
  ) {
    this.#dependencies = dependencies;
    this.#tellings = new Tellings(dependencies.monotonicMs);
    this.#claims = claims;
    this.#onTaken = onTaken;
    dependencies.message.giveWayTo(() => this.#line.length > 0 || this.#handingOver > 0);
  }

  knows(alerts: readonly Alert[]): boolean {
    return alerts.every((alert) => {
      const telling = this.#tellings.find(alert);
      return telling !== null && telling.taken !== null;
    });
  }

  async tell(alerts: readonly Alert[], late: Promise<false>): Promise<Telling[] | null> {
    for (const alert of alerts) this.#dependencies.unheard?.posted(alert);
    const tellings = alerts.map((alert) => this.#tellings.of(alert));
    for (const telling of tellings) telling.posts += 1;
    const endings = tellings.map((telling) => this.#wanted(telling));
    const isAllTaken = await allOf(endings, late);
    for (const telling of tellings) this.#tellings.answered(telling, isAllTaken);
    this.#tellings.forgetOld();
    return isAllTaken ? tellings : null;
  }

  /**
   * Says what is kept with each alert of one hand-over, so that what may have arrived is asked for, whatever the state
   * still hears of it.
   *
   * Behaviour: of alerts with the same key the first was tried, however often it is asked: another is one more.
   */
  triedOnce(): (alert: Alert) => TriedBefore | undefined {
    const firsts = new Map<Telling, Alert>();
    return (alert) => {
      const telling = this.#tellings.size === 0 ? null : this.#tellings.find(alert);
      if (telling === null) return undefined;
      if (!firsts.has(telling)) firsts.set(telling, alert);
      return firsts.get(telling) === alert ? triedFor(telling, this.#dependencies) : undefined;
    };
  }

  /** Has the state accept requests, and tells it what became of their alerts before any of their rows is sent. */
  async handOver(
    requests: readonly (readonly Alert[])[],
    accept: () => Promise<AcceptOutcome[]>,
  ): Promise<AcceptOutcome[]> {
    const isKnown =
      this.#tellings.size > 0 && requests.flat().some((alert) => this.#tellings.find(alert) !== null);
    this.#handingOver += Number(isKnown);
    try {
      const outcomes = await accept();
      // Another post of an alert may have begun meanwhile.
      if (this.#tellings.size > 0) {
        const accepted = outcomes.flatMap((outcome) => ("accepted" in outcome ? outcome.accepted : []));
        await Promise.all(accepted.map((one) => this.#leaveToState(one)));
      }
      return outcomes;
    } finally {
      this.#handingOver -= Number(isKnown);
    }
  }

  /** Starts nothing more; resolves when what is on its way has ended. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#sending);
    await this.#working;
  }

  async #leaveToState(accepted: AcceptedAlert): Promise<void> {
    const telling = this.#tellings.find(accepted.alert);
    if (telling === null) return;
    // Another alert of this post with the same key is one more.
    this.#tellings.forget(telling);
    telling.kept = accepted;
    this.#turns.get(telling)?.(true);
    await this.#tellState(telling, accepted);
  }

  async #tellState(telling: Telling, { alert, messageRow }: AcceptedAlert): Promise<void> {
    const { state, log } = this.#dependencies;
    try {
      if (telling.taken !== null) return await state.settle(messageRow, telling.taken);
      // It may have begun after the state was given its alert.
      const tried = triedFor(telling, this.#dependencies);
      if (tried !== undefined) await state.takeUp(messageRow, tried);
    } catch (error) {
      const cause = error instanceof Error ? error.name : typeof error;
      const facts = { kind: "message", row: messageRow, fingerprint: alert.fingerprint, cause };
      log.warn("The state was not told that an alert was sent from memory: it may be sent again", facts);
    }
  }

  #wanted(telling: Telling): Promise<boolean> {
    if (telling.taken !== null) {
      this.#dependencies.unheard?.taken(telling.row.alert);
      return Promise.resolve(true);
    }
    if (telling.ending !== null) return telling.ending;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#turns.set(telling, resolve);
    telling.ending = promise.finally(() => {
      telling.ending = null;
      this.#turns.delete(telling);
    });
    void this.#whenKnown(telling).then(() => this.#join(telling, () => resolve(false)));
    return telling.ending;
  }

  /** Asked sooner, the gateway may not have written down yet what it took, and would be given it again. */
  async #whenKnown({ knownAtMs }: Telling): Promise<void> {
    const { monotonicMs, sleep } = this.#dependencies;
    const leftMs = knownAtMs - monotonicMs();
    if (leftMs > 0) await sleep(leftMs, this.#stopped.signal).catch(() => {});
  }

  #join(telling: Telling, leave: () => void): void {
    if (!isWanted(telling) || !this.#line.join(telling, leave)) {
      leave();
      return;
    }
    this.#working ??= this.#work().finally(() => {
      this.#working = null;
    });
  }

  /** Starts those whose turn it is, as fast as the pace allows. */
  async #work(): Promise<void> {
    const { message, sleep } = this.#dependencies;
    const { signal } = this.#stopped;
    // What is posted together has to be in line before the first turn.
    await Promise.resolve();
    while (this.#line.length > 0 && !signal.aborted) {
      while (message.mayStart && this.#line.length > 0) this.#start(this.#line.next()!);
      if (this.#line.length > 0) await sleep(LOOK_MS, signal).catch(() => {});
      this.#line.leaveUnwanted();
    }
    for (let left = this.#line.next(); left !== undefined; left = this.#line.next())
      await this.#end(left, null);
  }

  #start(telling: Telling): void {
    const sending = this.#send(telling)
      .catch((error: unknown) => this.#failed(telling, error))
      .then((taken) => this.#end(telling, taken))
      .finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
  }

  #failed({ row }: Telling, error: unknown): null {
    const cause = error instanceof Error ? error.name : typeof error;
    const facts = { kind: "message", fingerprint: row.alert.fingerprint, cause };
    this.#dependencies.log.error("An alert that the state does not keep cannot be used", facts);
    return null;
  }

  async #end(telling: Telling, taken: Delivered | null): Promise<void> {
    telling.taken = taken;
    this.#turns.get(telling)?.(taken !== null);
    if (taken === null) return;
    this.#dependencies.unheard?.taken(telling.row.alert);
    if (telling.kept === null) telling.issue = this.#onTaken(telling.row.alert);
    else await this.#tellState(telling, telling.kept);
  }

  async #send(telling: Telling): Promise<Delivered | null> {
    const { message, monotonicMs, signal } = this.#dependencies;
    const { row } = telling;
    const startedMs = monotonicMs();
    row.unansweredForMs = telling.unansweredAtMs === null ? null : startedMs - telling.unansweredAtMs;
    let found = null as Delivered | null;
    const result = await message.send(async () => {
      found = await this.#find(row);
      return found !== null || isTooUnclear(row) ? null : await this.#begun(telling);
    }, signal);
    if (result !== null) this.#report(telling, result, monotonicMs() - startedMs);
    return result?.status === "delivered" ? result : found;
  }

  async #find(row: DueRow): Promise<Delivered | null> {
    if (!mayHaveArrived(row)) return null;
    const answer = await this.#dependencies.lookUp(row, this.#dependencies.signal);
    return answer.status === "delivered" ? answer : null;
  }

  /** What is sent; null when no post waits for it any more. */
  async #begun(telling: Telling): Promise<DueRow | null> {
    const { row } = telling;
    const nowMs = this.#dependencies.nowMs();
    row.issueUrl = (await this.#claims.find(row.alert))?.url ?? null;
    if (!isWanted(telling)) return null;
    // What may be on the phone is looked for by its text.
    if (row.text === null || !mayHaveArrived(row)) {
      row.text = messageText([row], { nowMs, detour: NO_DETOUR });
      row.firstBegunAtMs = nowMs;
    }
    row.attempts += 1;
    // Until it has ended, it may have arrived.
    row.isUnsettled = true;
    telling.knownAtMs = this.#dependencies.monotonicMs() + OVER_AFTER_MS;
    return row;
  }

  /** Remembers that the gateway may have taken it. */
  #note(telling: Telling, { unclear, unanswered }: Retry): void {
    const { row } = telling;
    const nowMs = this.#dependencies.monotonicMs();
    telling.knownAtMs = nowMs + ((unclear ?? unanswered)?.knownAfterMs ?? 0);
    if (unclear !== null) row.unclear += 1;
    if (unanswered === undefined) return;
    telling.unansweredAtMs = nowMs;
    row.unansweredForMs = 0;
  }

  #report(telling: Telling, result: AttemptResult, tookMs: number): void {
    const { metrics, log } = this.#dependencies;
    const { row } = telling;
    const facts = { kind: "message", fingerprint: row.alert.fingerprint, attempt: row.attempts };
    row.isUnsettled = false;
    if (result.status === "delivered") {
      metrics.sent("message", tookMs);
      metrics.sentFromMemory();
      log.info("Delivered an alert from memory: the state does not keep it", facts);
      return;
    }
    if (result.status === "retry") this.#note(telling, result);
    metrics.failed("message", result.code);
    log.warn(
      "An alert that the state does not keep could not be delivered: its sender is told to send it again",
      {
        ...facts,
        code: result.code,
      },
    );
  }
}

/** Whether all are true before `late`, which is false. */
async function allOf(endings: readonly Promise<boolean>[], late: Promise<false>): Promise<boolean> {
  const all = Promise.all(endings).then((taken) => taken.every(Boolean));
  return await Promise.race([all, late]);
}
