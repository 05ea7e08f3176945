import { createHash } from "node:crypto";
import type { Log } from "../../platform/log/log.ts";
import type { SendOutcome } from "../../providers/send-outcome.ts";
import type { State, UnheardAlert } from "../state/contract.ts";
import { ALERT_EMAIL_LIMIT, renderAlertEmail } from "../texts/email/alert-email.ts";

/** An e-mail of the second channel; the same `id` always has the same content. */
export type AlertEmail = { id: string; subject: string; html: string; text: string };

/** Sends an e-mail to the second channel's addresses; never throws. */
export type SendAlertEmail = (email: AlertEmail, signal: AbortSignal) => Promise<SendOutcome>;

/** What the second channel works with. */
export type SecondChannelDependencies = {
  state: Pick<State, "unheard" | "recordEmailed">;
  /** Null while no second channel is set up. */
  send: () => SendAlertEmail | null;
  /** Whether this process is the one that delivers. */
  isLeading: () => boolean;
  /** The code of what stands against WhatsApp now, or null. */
  reason: () => string | null;
  log: Log;
  /** The clock that people read. */
  nowMs: () => number;
  monotonicMs: () => number;
};

/** How long WhatsApp may fail to take an alert before it goes out by e-mail. */
export const UNHEARD_MS = 3 * 60_000;

/** An e-mail tells those, too, that have waited for so long: left to the next one, they would wait for four minutes. */
const TOLD_ALONG_MS = 2 * 60_000;

/** The shortest time from one e-mail to the next. */
const BETWEEN_MS = 60_000;

/** An e-mail that is on its way: it is sent again as it is until the provider's answer is clear. */
type Pending = { email: AlertEmail; rows: readonly number[]; isAccepted: boolean };

/**
 * The second way out: e-mails alerts that WhatsApp did not take.
 *
 * Behaviour: `look` sends at most one e-mail a minute, once an alert has waited for three; it tells the oldest of all
 *            that have waited for two. They are recorded as e-mailed
 *            only after the provider's clear yes. After an answer that proves nothing the same e-mail is sent again,
 *            with the same key, by which the provider knows it; after a refusal the next one is made anew. An alert that
 *            WhatsApp took meanwhile is not e-mailed.
 * Errors:    none thrown by `look`; what fails is logged, once for each reason.
 * Source:    design of the alarm, Second channel.
 */
export class SecondChannel {
  readonly #dependencies: SecondChannelDependencies;
  #pending: Pending | null = null;
  #nextAtMs = Number.NEGATIVE_INFINITY;
  #failure: string | null = null;

  constructor(dependencies: SecondChannelDependencies) {
    this.#dependencies = dependencies;
  }

  /** Sends what is to be sent now. */
  async look(signal: AbortSignal): Promise<void> {
    const send = this.#dependencies.send();
    if (send === null || !this.#dependencies.isLeading()) return;
    try {
      if (this.#pending?.isAccepted) await this.#record(this.#pending);
      if (this.#dependencies.monotonicMs() >= this.#nextAtMs) await this.#send(send, signal);
    } catch (error) {
      this.#fails("state_unavailable", error instanceof Error ? error.name : typeof error);
    }
  }

  async #send(send: SendAlertEmail, signal: AbortSignal): Promise<void> {
    const { state, monotonicMs } = this.#dependencies;
    if ((await state.unheard(UNHEARD_MS)).length === 0) {
      this.#pending = null;
      return;
    }
    const unheard = await state.unheard(TOLD_ALONG_MS);
    if (unheard.length === 0) return;
    const pending = this.#stillToSend(unheard) ?? this.#make(unheard.slice(0, ALERT_EMAIL_LIMIT));
    this.#pending = pending;
    this.#nextAtMs = monotonicMs() + BETWEEN_MS;
    await this.#ended(pending, await send(pending.email, signal));
  }

  /** The e-mail on its way, while one of its alerts is still unheard. */
  #stillToSend(unheard: readonly UnheardAlert[]): Pending | null {
    const rows = new Set(unheard.map(({ row }) => row));
    return this.#pending?.rows.some((row) => rows.has(row)) ? this.#pending : null;
  }

  #make(alerts: readonly UnheardAlert[]): Pending {
    const { nowMs, reason } = this.#dependencies;
    const parts = renderAlertEmail(alerts, { nowMs: nowMs(), reason: reason() });
    const rows = alerts.map(({ row }) => row);
    const facts = alerts.map(({ row, acceptedAtMs, alert }) => [row, acceptedAtMs, alert.fingerprint]);
    return { email: { id: idOf(facts, parts), ...parts }, rows, isAccepted: false };
  }

  async #ended(pending: Pending, outcome: SendOutcome): Promise<void> {
    switch (outcome.status) {
      case "sent":
        this.#pending = { ...pending, isAccepted: true };
        return await this.#record(pending);
      case "unknown":
        return this.#fails(outcome.code);
      case "throttled":
        this.#nextAtMs = Math.max(this.#nextAtMs, this.#dependencies.monotonicMs() + outcome.retryAfterMs);
        break;
      case "failed":
        break;
    }
    // Refused as a whole: another one may tell the alerts that have come since.
    this.#pending = null;
    this.#fails(outcome.code);
  }

  async #record({ rows }: Pending): Promise<void> {
    const { state, log } = this.#dependencies;
    await state.recordEmailed(rows);
    this.#pending = null;
    this.#failure = null;
    log.warn("WhatsApp did not take alerts: they were told by e-mail", { alerts: rows.length });
  }

  #fails(code: string, cause?: string): void {
    if (this.#failure !== code)
      this.#dependencies.log.error("Alerts that WhatsApp did not take cannot be e-mailed yet", {
        code,
        cause,
        hint: "opsctl doctor webhook says what to do",
      });
    this.#failure = code;
  }
}

/**
 * The id of an e-mail, made of the alerts and the text: the provider refuses a known key with another text, and after a
 * restart the text says other times.
 */
function idOf(facts: unknown, parts: { subject: string; html: string; text: string }): string {
  const { subject, html, text } = parts;
  return createHash("sha256")
    .update(JSON.stringify([facts, subject, html, text]))
    .digest("hex");
}
