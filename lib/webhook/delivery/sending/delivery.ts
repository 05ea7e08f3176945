import type { Log } from "../../../platform/log/log.ts";
import type { WebhookMetrics } from "../../metrics/metrics.ts";
import { OutageLog } from "../../outage-log.ts";
import type { DueRow, OutboxKind, Settlement, State } from "../../state/contract.ts";
import type { Attempt, AttemptResult, LookUp, LookUpResult, Retry } from "../attempts/attempt.ts";
import {
  IN_DOUBT_CODE,
  isInDoubt,
  isTooUnclear,
  mayHaveArrived,
  mayRenewText,
  OVER_AFTER_MS,
} from "../attempts/doubt.ts";
import type { ToldRows } from "../messages/message-texts.ts";
import { type RowText, rowText } from "../messages/row-text.ts";
import type { Channel } from "./channel.ts";
import { LostSends } from "./lost-sends.ts";
import { reportSettlement } from "./report.ts";
import { decideSettlement } from "./settlement.ts";
import { TryingTime } from "./trying-time.ts";

/** What delivering a row needs. */
export type DeliveryDependencies = {
  kind: OutboxKind;
  state: Pick<State, "begin" | "settle" | "membersOf">;
  attempt: Attempt;
  /** Null where the peer knows a repetition by its id: then nothing is ever in doubt. */
  lookUp: LookUp | null;
  /** The text that tells rows, as it is now. */
  textOf: (rows: ToldRows) => string | Promise<string>;
  metrics: WebhookMetrics;
  log: Log;
  monotonicMs: () => number;
  random: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Called with the row of each send, and how it was settled: null when it was not made or not recorded. */
  onEnded?: ((row: number, settlement: Settlement | null) => void | Promise<void>) | undefined;
};

/** How a delivery ended. */
export type DeliveryEnd = { settlement: Settlement | null; isSent: boolean };

const RECORD_AGAIN_MS = 1_000;
/** A row waits so long for a peer that answers no question; then it is sent, unless it was sent too often. */
const ASKED_FOR_MS = 10 * 60_000;
/** The code of a send that the end of its process broke off. */
const CUT_OFF = "gateway_aborted";
const UNDECIDED = "state_unavailable";
const UNREADABLE = { status: "refused", code: "alert_unreadable" } as const;

/**
 * Makes the attempts of one kind: looks up what is in doubt, records that an attempt begins, tries, records its end.
 *
 * Shape:     `deliver` resolves to how the rows were settled; to null when no attempt was made, or when the service
 *            stopped before its end was recorded. `isSent` when the peer was given the message.
 * Behaviour: a row that was sent three times without a clear answer is not sent again, unless the peer proves that it
 *            has it not and had broken the connection those times. A result is recorded again and again until the state
 *            takes it: sent again, it would be one message too many.
 */
export class Delivery {
  readonly #dependencies: DeliveryDependencies;
  readonly #channel: Channel;
  readonly #signal: AbortSignal;
  readonly #isOpen: () => boolean;
  readonly #tryingTime = new TryingTime();
  readonly #beginnings: OutageLog;
  readonly #lostSends = new LostSends();

  /** `signal` ends what is on its way; while `isOpen` is false nothing is repeated. */
  constructor(
    dependencies: DeliveryDependencies,
    { channel, signal, isOpen }: { channel: Channel; signal: AbortSignal; isOpen: () => boolean },
  ) {
    this.#dependencies = dependencies;
    this.#beginnings = new OutageLog({
      ...dependencies,
      problem: "Attempts cannot be recorded, so they are not made",
      over: "Attempts are recorded again",
    });
    this.#channel = channel;
    this.#signal = signal;
    this.#isOpen = isOpen;
  }

  async deliver(rows: ToldRows): Promise<DeliveryEnd> {
    const end = await this.#deliver(rows);
    await this.#dependencies.onEnded?.(rows[0].id, end.settlement);
    return end;
  }

  async #deliver(rows: ToldRows): Promise<DeliveryEnd> {
    const { monotonicMs } = this.#dependencies;
    const startedMs = monotonicMs();
    const found = await this.#lookUp(rows[0]);
    const known = found === null ? null : this.#withoutSending(rows[0], found, startedMs);
    if (known !== null) return unsent(await this.#end(rows, known, { startedMs }));
    const made = await this.#textOf(rows, found);
    if (made === null) {
      const dead = { status: "dead", code: UNREADABLE.code } as const;
      return unsent(await this.#end(rows, dead, { startedMs, result: UNREADABLE }));
    }
    if (!(await this.#begin(rows[0], made))) return unsent(null);
    const result = await this.#try({ ...rows[0], text: made.text });
    if (result.status === "retry" && result.unclear?.isLost) this.#lostSends.add(rows[0].id);
    const settlement = this.#settlementOf(rows[0], result, startedMs);
    return { settlement: await this.#end(rows, settlement, { startedMs, result }), isSent: true };
  }

  /** What the peer says of a row that it may have; null when it cannot have it, or knows a repetition by itself. */
  async #lookUp(row: DueRow): Promise<LookUpResult | null> {
    const { lookUp, log, kind } = this.#dependencies;
    if (lookUp === null || !mayHaveArrived(row)) return null;
    const answer = await lookUp(row, this.#signal);
    if (answer.status === "delivered")
      log.info("The peer had taken an alert after all", { kind, row: row.id });
    return answer;
  }

  /** How a row ends without another send; null when it has to be sent. */
  #withoutSending(row: DueRow, answer: LookUpResult, startedMs: number): Settlement | null {
    if (answer.status === "delivered") return answer;
    if (answer.status === "undecided")
      return this.#askAgain(row, { code: UNDECIDED, peerDown: false }, startedMs);
    // In an outage it is sent again, whether the peer can be asked or not.
    if (!isInDoubt(row)) return null;
    // A peer that cannot be asked now would not be told either: a send could only be one copy more.
    if (answer.status === "unanswered" && (isTooUnclear(row) || row.triedMs < ASKED_FOR_MS))
      return this.#askAgain(row, { code: answer.code, peerDown: true }, startedMs);
    if (row.isUnsettled) return this.#askAgain(row, { code: CUT_OFF, peerDown: false }, startedMs);
    if (!isTooUnclear(row) || this.#isProvedAbsent(row, answer)) return null;
    return { status: "in_doubt", code: IN_DOUBT_CODE };
  }

  /** An answer of the peer's own may come of what it could not write down: only sends without any are made good. */
  #isProvedAbsent(row: DueRow, answer: LookUpResult): boolean {
    const unclear = row.unclear - this.#lostSends.of(row.id);
    return answer.status === "absent" && !isTooUnclear({ unclear });
  }

  /** A send of an earlier process whose end is not known may still be on its way: it is asked for when that is over. */
  #askAgain(row: DueRow, why: Pick<Retry, "code" | "peerDown">, startedMs: number): Settlement {
    const unclear = row.isUnsettled ? { knownAfterMs: OVER_AFTER_MS } : null;
    const later = { status: "retry", ...why, stopsChannel: false, retryAfterMs: null, unclear } as const;
    if (why.peerDown) this.#channel.observe(later);
    return this.#settlementOf(row, later, startedMs);
  }

  /** What the attempt sends; null when no text can be made. */
  async #textOf(rows: ToldRows, found: LookUpResult | null): Promise<RowText | null> {
    const { lookUp, log, kind } = this.#dependencies;
    try {
      const isRenewed = lookUp !== null && mayRenewText(rows[0], found);
      return await rowText(rows, { ...this.#dependencies, isRenewed });
    } catch (error) {
      log.error("An alert in the state cannot be used", { kind, row: rows[0].id, cause: nameOf(error) });
      return null;
    }
  }

  /** Records that the attempt begins; false when it must not, or when that could not be recorded. */
  async #begin(row: DueRow, { begun }: RowText): Promise<boolean> {
    const { state, log, kind, sleep } = this.#dependencies;
    try {
      const hasBegun = await state.begin(row.id, begun);
      this.#beginnings.worked();
      if (hasBegun) return true;
      log.debug("An attempt is not made: its row does not wait any more", { kind, row: row.id });
    } catch (error) {
      this.#beginnings.failed({ kind, row: row.id, cause: nameOf(error) });
    }
    // Free again at once, the same row would be looked for without an end.
    await sleep(RECORD_AGAIN_MS, this.#signal).catch(() => {});
    return false;
  }

  /** One attempt; a row with which none can be made is refused, so that it does not end the service. */
  async #try(row: DueRow): Promise<AttemptResult> {
    const { attempt, log, kind } = this.#dependencies;
    try {
      const result = await attempt(row, this.#signal);
      this.#channel.observe(result);
      return result;
    } catch (error) {
      log.error("An alert in the state cannot be used", { kind, row: row.id, cause: nameOf(error) });
      return UNREADABLE;
    }
  }

  #settlementOf(row: DueRow, result: AttemptResult, startedMs: number): Settlement {
    const { lookUp, monotonicMs, random } = this.#dependencies;
    const { openSinceMs } = this.#channel;
    const counts = result.status !== "retry" || !result.stopsChannel;
    const tried = this.#tryingTime.count(row, { startedMs, endedMs: monotonicMs(), openSinceMs, counts });
    return decideSettlement(row, result, { tried, isRepeatable: lookUp === null, random });
  }

  async #end(
    rows: ToldRows,
    settlement: Settlement,
    { startedMs, result = null }: { startedMs: number; result?: AttemptResult | null },
  ): Promise<Settlement | null> {
    const [{ id }] = rows;
    if (settlement.status === "retry") this.#tryingTime.expect(id, settlement.delayMs);
    else {
      this.#tryingTime.forget(id);
      this.#lostSends.forget(id);
    }
    if (!(await this.#record(id, settlement))) return null;
    const { monotonicMs, metrics, log, kind } = this.#dependencies;
    const cause = result?.status === "retry" ? result.cause : undefined;
    // What was only looked up failed in no attempt.
    if (result !== null && settlement.status !== "delivered") metrics.failed(kind, settlement.code);
    reportSettlement({ kind, metrics, log }, rows, { settlement, cause, tookMs: monotonicMs() - startedMs });
    return settlement;
  }

  /** Records a result, again and again until it is on disk; false when the service stopped before that. */
  async #record(row: number, settlement: Settlement): Promise<boolean> {
    const { state, log, kind, sleep } = this.#dependencies;
    for (let tries = 1; ; tries += 1) {
      try {
        await state.settle(row, settlement);
        return true;
      } catch (error) {
        const facts = { kind, row, result: settlement.status, cause: nameOf(error) };
        if (tries === 1) log.error("The result of a delivery cannot be recorded yet", facts);
        if (!this.#isOpen() || this.#signal.aborted) return false;
        await sleep(RECORD_AGAIN_MS, this.#signal).catch(() => {});
      }
    }
  }
}

function unsent(settlement: Settlement | null): DeliveryEnd {
  return { settlement, isSent: false };
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
