import { OutageLog } from "../outage-log.ts";
import type { AttemptEnd, AttemptText, DueRow, OutboxKind } from "../store/model.ts";
import type { State } from "../store/outbox.ts";
import { renderDigest } from "../texts/message/digest.ts";
import { renderMessage } from "../texts/message/message-text.ts";
import { type AttemptResult, endOfAttempt, endOfLookUp, retry } from "./attempt.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import type { DispatcherParts } from "./parts.ts";
import type { RateLimit } from "./rate-limit.ts";
import { type AttemptRows, nameOf, reportEnd } from "./report.ts";

type DeliveryParts = DispatcherParts & {
  kind: OutboxKind;
  breaker: CircuitBreaker;
  rate: RateLimit | null;
  stopping: AbortSignal;
  /** Aborts what is in flight. */
  signal: AbortSignal;
};
/** `result` is null when a look-up took the place of an attempt. */
type Made = { end: AttemptEnd; result: AttemptResult | null; isSent: boolean };

const AGAIN_MS = 1_000;
/** More ids than messages can be on their way to the state. */
const MOST_GIVEN = 1_000;
const UNREADABLE = { status: "refused", code: "alert_unreadable" } as const;

/**
 * Makes the attempts of one lane: looks up what may have arrived, records the beginning, tries, records the end.
 *
 * Behaviour: a row that cannot be rendered is dead. What cannot be begun in the state is not sent. An end is recorded
 *            again each second until the state takes it: sent again, the row would be one message too many.
 */
export class Delivery {
  readonly #parts: DeliveryParts;
  readonly #beginnings: OutageLog;
  readonly #startedAtMs: number;
  /** Ids of messages that the state may not have yet. */
  readonly #given = new Set<string>();
  /** The row whose text has the recovery note, while it is in flight. */
  #noteRow: DueRow | null = null;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    const problem = "Attempts cannot be recorded, so they are not made";
    this.#beginnings = new OutageLog({ ...parts, problem, over: "Attempts are recorded again" });
    this.#startedAtMs = parts.monotonicMs();
  }

  /**
   * Resolves to how the rows ended; to null when no attempt was made, or its end was not recorded. Calls `free` once the
   * external service is done with the rows, with whether something was sent.
   */
  async deliver(
    state: State,
    rows: AttemptRows,
    free: (isSent: boolean) => void,
  ): Promise<AttemptEnd | null> {
    const { monotonicMs, sleep, stopping } = this.#parts;
    const startedMs = monotonicMs();
    const made = await this.#make(state, rows, startedMs);
    free(made?.isSent ?? false);
    // Free again at once, the same row would be looked for without an end.
    if (made === null) await sleep(AGAIN_MS, stopping);
    const isRecorded = made !== null && (await this.#record(state, rows[0].id, made.end));
    if (this.#noteRow === rows[0]) this.#noteRow = null;
    if (!isRecorded) return null;
    reportEnd(this.#parts, rows, { ...made, tookMs: monotonicMs() - startedMs });
    return made.end;
  }

  async #make(state: State, rows: AttemptRows, startedMs: number): Promise<Made | null> {
    const { attempts, breaker, log, kind, signal } = this.#parts;
    const [row] = rows;
    if (row.sent !== null) {
      const end = endOfLookUp(row, await this.#lookUp(state, row.sent), this.#facts(startedMs));
      if (end !== null) return { end, result: null, isSent: false };
    }
    let result: AttemptResult = UNREADABLE;
    let isSent = false;
    try {
      const content = row.sent ?? (await this.#contentOf(state, rows));
      if (!(await this.#begin(state, rows, content))) return null;
      isSent = true;
      result = await attempts[kind]({ ...row, text: content?.text ?? "" }, signal);
      breaker.observe(result);
      if (kind === "message" && result.status === "delivered") this.#give(result.reference);
    } catch (error) {
      log.error("An alert in the state cannot be used", { kind, row: row.id, cause: nameOf(error) });
    }
    return { end: endOfAttempt(row, result, this.#facts(startedMs)), result, isSent };
  }

  /** The message if it arrived, null if it is not found, or why that is not known now. */
  async #lookUp(state: State, sent: NonNullable<DueRow["sent"]>): Promise<AttemptResult | null> {
    const { lookUp, breaker, signal } = this.#parts;
    const found = await lookUp(sent, signal);
    if ("status" in found) {
      breaker.observe(found);
      return found;
    }
    const held = await state.heldReferences("message", found).catch(() => null);
    if (held === null) return retry("state_unavailable", "row");
    const reference = found.find((id) => !held.has(id) && !this.#given.has(id));
    if (reference === undefined) return null;
    this.#give(reference);
    return { status: "delivered", reference, url: null };
  }

  #give(reference: string | null): void {
    if (reference !== null) this.#given.add(reference);
    if (this.#given.size > MOST_GIVEN) this.#given.delete(this.#given.values().next().value!);
  }

  /** The text of a message; null for an issue or a comment. */
  async #contentOf(state: State, rows: AttemptRows): Promise<AttemptText | null> {
    const { kind, nowMs } = this.#parts;
    const [row] = rows;
    if (kind !== "message") return null;
    let note = { emailed: 0, undelivered: 0 };
    if (this.#noteRow === null) {
      this.#noteRow = row;
      note = await state.recoveryNote().catch(() => note);
    }
    const context = { nowMs: nowMs(), note };
    return {
      text: rows.length > 1 ? renderDigest(rows, context) : renderMessage(row.alert, { ...row, ...context }),
      note,
    };
  }

  /** Records that the attempt begins; false when it must not, or when that could not be recorded. */
  async #begin(state: State, [row, ...others]: AttemptRows, content: AttemptText | null): Promise<boolean> {
    const { kind, rate } = this.#parts;
    const members = row.sent === null ? others.map(({ id }) => id) : row.members;
    try {
      const hasBegun = await state.begin(row, { content, members, paceAheadMs: rate?.aheadMs ?? null });
      this.#beginnings.worked();
      return hasBegun;
    } catch (error) {
      this.#beginnings.failed({ kind, row: row.id, cause: nameOf(error) });
      return false;
    }
  }

  #facts(startedMs: number) {
    const { monotonicMs, random } = this.#parts;
    return { tookMs: monotonicMs() - startedMs, upMs: monotonicMs() - this.#startedAtMs, random };
  }

  /** False when the service stopped before the end was recorded. */
  async #record(state: State, row: number, end: AttemptEnd): Promise<boolean> {
    const { log, kind, sleep, stopping } = this.#parts;
    for (let tries = 1; ; tries += 1) {
      try {
        await state.finish(row, end);
        return true;
      } catch (error) {
        const facts = { kind, row, result: end.status, cause: nameOf(error) };
        if (tries === 1) log.error("The result of a delivery cannot be recorded yet", facts);
        if (stopping.aborted) return false;
        await sleep(AGAIN_MS, stopping);
      }
    }
  }
}
