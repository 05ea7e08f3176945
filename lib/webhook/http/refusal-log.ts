import { isIP } from "node:net";
import type { Log } from "../../platform/log/log.ts";
import { isLoopback } from "../../platform/loopback.ts";

/** Statuses of refusals that are logged: senders of alerts, or faults of ours, cause them. */
const LOGGED: ReadonlySet<number> = new Set([400, 401, 408, 413, 415, 422, 503]);
const MINUTE_MS = 60_000;
/** A sender with an old secret must not fill the log. */
const LINES_A_MINUTE = 10;

/**
 * Who sent a request.
 *
 * Shape: `address` is that of the connection, so often a proxy's; `forwardedFor` is what the last proxy says of its own
 *        connection, which only a sender that bypasses the proxy can make up; each null when there is none.
 */
export type Sender = { address: string | null; forwardedFor: string | null };

/** When a request from another host was accepted last, and when one was refused for its secret; null: not since the start. */
export type LastPosts = { acceptedAt: string | null; secretRefusedAt: string | null };

/** The sender of a request that came over a connection of `address`. */
export function senderOf(headers: Headers, address: string | null): Sender {
  const last = headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() ?? "";
  // IPv4 as it is usually written, also where the socket serves both families.
  const plain = address?.replace(/^::ffff:(?=\d+\.)/i, "") ?? null;
  return { address: plain, forwardedFor: isIP(last) === 0 ? null : last };
}

/** When the last of these requests was refused for its secret; null when none was, or one was accepted since. */
export function lastRefusal({ acceptedAt, secretRefusedAt: at }: LastPosts): string | null {
  return at !== null && (acceptedAt === null || at > acceptedAt) ? at : null;
}

/**
 * Logs refused requests and rejected entries, and remembers how the last requests from other hosts ended: a Grafana with
 * another secret is refused each time, while everything on this host works.
 *
 * Behaviour: a refusal that is no fault of a sender of alerts is logged only when the request has the secret. At most ten
 *            lines a minute, and at the end of each minute a count of the others; `run` counts until its signal is
 *            aborted. Nothing of a request is logged but its sender's address. A request of this host itself, which has
 *            the secret, is not remembered; one that a proxy forwards is from another host.
 */
export class RefusalLog {
  readonly #log: Log;
  readonly #nowMs: () => number;
  #lines = 0;
  #unlogged: { requests: Record<string, number>; entries: number } = { requests: {}, entries: 0 };
  lastPosts: LastPosts = { acceptedAt: null, secretRefusedAt: null };

  constructor(log: Log, nowMs: () => number) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** A request was answered; `code` is that of its refusal, or null. */
  answered(status: number, code: string | null, sender: Sender, hasSecret: boolean): void {
    this.#remember(status, sender);
    if (code === null || (!LOGGED.has(status) && !hasSecret)) return;
    if (this.#mayWrite()) this.#log.warn("A request was refused", { status, code, ...sender });
    else this.#unlogged.requests[code] = (this.#unlogged.requests[code] ?? 0) + 1;
  }

  /** Entries of an accepted request are no alerts. */
  rejected(entries: number, sender: Sender): void {
    const text = "Entries of an accepted request are no alerts";
    if (this.#mayWrite()) this.#log.warn(text, { entries, ...sender });
    else this.#unlogged.entries += entries;
  }

  async run(sleep: (ms: number, signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(MINUTE_MS, signal);
      if (this.#lines > LINES_A_MINUTE) this.#log.warn("More was refused in the last minute", this.#unlogged);
      this.#lines = 0;
      this.#unlogged = { requests: {}, entries: 0 };
    }
  }

  #remember(status: number, { address, forwardedFor }: Sender): void {
    const isOfThisHost = forwardedFor === null && (address === null || isLoopback(address));
    const key = status === 200 ? "acceptedAt" : status === 401 ? "secretRefusedAt" : null;
    if (key === null || isOfThisHost) return;
    this.lastPosts = { ...this.lastPosts, [key]: new Date(this.#nowMs()).toISOString() };
  }

  #mayWrite(): boolean {
    this.#lines += 1;
    return this.#lines <= LINES_A_MINUTE;
  }
}
