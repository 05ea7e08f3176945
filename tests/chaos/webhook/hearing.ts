/** When critical alerts are heard, by the ledgers of both channels, and how long it took while it could be done. */
import type { EmailProvider } from "../../standins/email-provider.ts";
import type { Gateway } from "../../standins/gateway.ts";
import { HASTE } from "./hurried-clock.ts";
import { namesIn } from "./names-sent.ts";

/** A test that was held up itself does not count the time. */
const LONGEST_TICK_MS = 100;

/** What could have been done since the last tick. */
export type Circumstances = { isServing: boolean; isEmailWell: boolean };

/**
 * Listens to both channels.
 *
 * Behaviour: counts only time in which the service runs and the e-mail provider is well. After each trouble of that
 *            provider an alert's time begins anew: e-mails without a clear answer have their turns first.
 */
export class Hearing {
  readonly #unheard = new Map<string, number>();
  readonly #peers: { gateway: Gateway; email: EmailProvider };
  #workedMs = 0;
  #calmFromMs = 0;
  #seen = { messages: 0, emails: 0 };
  #lastTickMs = performance.now();
  /** The longest that an alert waited, and how many were heard by e-mail first. */
  slowestMs = 0;
  firstByEmail = 0;

  constructor(peers: { gateway: Gateway; email: EmailProvider }) {
    this.#peers = peers;
  }

  /** The service has accepted a critical alert, which the channels may have sent by now. */
  accepted(name: string): void {
    const { gateway, email } = this.#peers;
    const isSent = [...gateway.accepted, ...email.accepted].some(({ text }) => namesIn(text ?? "").has(name));
    if (!isSent) this.#unheard.set(name, this.#workedMs);
  }

  tick({ isServing, isEmailWell }: Circumstances): void {
    const now = performance.now();
    const passedMs = Math.min(now - this.#lastTickMs, LONGEST_TICK_MS) * HASTE;
    this.#lastTickMs = now;
    this.#listen();
    if (isServing && isEmailWell) this.#workedMs += passedMs;
    if (!isEmailWell) this.#calmFromMs = this.#workedMs;
    for (const since of this.#unheard.values()) this.#note(since);
  }

  #listen(): void {
    const { gateway, email } = this.#peers;
    for (const { text } of gateway.accepted.slice(this.#seen.messages))
      for (const name of namesIn(text)) this.#unheard.delete(name);
    for (const { text } of email.accepted.slice(this.#seen.emails))
      for (const name of namesIn(text ?? "")) if (this.#unheard.delete(name)) this.firstByEmail += 1;
    this.#seen = { messages: gateway.accepted.length, emails: email.accepted.length };
  }

  #note(sinceMs: number): void {
    this.slowestMs = Math.max(this.slowestMs, this.#workedMs - Math.max(sinceMs, this.#calmFromMs));
  }
}
