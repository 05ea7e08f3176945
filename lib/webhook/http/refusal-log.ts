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
  return { address: plainAddress(address ?? ""), forwardedFor: plainAddress(last) };
}

/** When the last of these requests was refused for its secret; null when none was, or one was accepted since. */
export function lastRefusal({ acceptedAt, secretRefusedAt: at }: LastPosts): string | null {
  return at !== null && (acceptedAt === null || at > acceptedAt) ? at : null;
}

/**
 * Logs refused requests and rejected entries, and remembers how the last requests from other hosts ended: a Grafana with
 * another secret is refused each time, while everything on this host works.
 *
 * Behaviour: at most ten lines a minute, and at the end of each minute a count of the others; `run` counts until its
 *            signal is aborted. Nothing of a request is logged but its sender's address. A request of this host itself,
 *            which has the secret, is not remembered; one that a proxy forwards is from another host.
 */
export class RefusalLog {
  readonly #log: Log;
  readonly #nowMs: () => number;
  #lines = 0;
  #unlogged: { requests: Record<string, number>; entries: number } = { requests: {}, entries: 0 };
  #lastPosts: LastPosts = { acceptedAt: null, secretRefusedAt: null };

  constructor(log: Log, nowMs: () => number) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  get lastPosts(): LastPosts {
    return this.#lastPosts;
  }

  /** A request was answered. */
  answered(status: number, { address, forwardedFor }: Sender): void {
    if (status !== 200 && status !== 401) return;
    if (forwardedFor === null && (address === null || isLoopback(address))) return;
    const key = status === 200 ? "acceptedAt" : "secretRefusedAt";
    this.#lastPosts = { ...this.#lastPosts, [key]: new Date(this.#nowMs()).toISOString() };
  }

  /** A request was refused; if it has the secret, it is logged whatever its status is. */
  refused(status: number, code: string, sender: Sender, { hasSecret = false } = {}): void {
    if (!LOGGED.has(status) && !hasSecret) return;
    const { requests } = this.#unlogged;
    if (this.#mayWrite()) this.#log.warn("A request was refused", { status, code, ...sender });
    else requests[code] = (requests[code] ?? 0) + 1;
  }

  /** Entries of an accepted request are no alerts. */
  rejected(entries: number, sender: Sender): void {
    if (this.#mayWrite())
      this.#log.warn("Entries of an accepted request are no alerts", { entries, ...sender });
    else this.#unlogged.entries += entries;
  }

  async run(sleep: (ms: number, signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(MINUTE_MS, signal).catch(() => {});
      const { requests, entries } = this.#unlogged;
      if (entries > 0 || Object.keys(requests).length > 0)
        this.#log.warn("More was refused in the last minute", { requests, entries });
      this.#lines = 0;
      this.#unlogged = { requests: {}, entries: 0 };
    }
  }

  #mayWrite(): boolean {
    this.#lines += 1;
    return this.#lines <= LINES_A_MINUTE;
  }
}

/** IPv4 as it is usually written, also where the socket serves both families. */
function plainAddress(text: string): string | null {
  const address = text.replace(/^::ffff:(?=\d+\.)/i, "");
  return isIP(address) === 0 ? null : address;
}
