import { isIP } from "node:net";
import type { Log } from "../../platform/log/log.ts";

/** Statuses of refusals that are logged: those that a sender's or our own fault can bring; the others are no alerts. */
const LOGGED: ReadonlySet<number> = new Set([400, 401, 408, 413, 415, 422, 503]);

/** How many lines a minute may have: a sender with an old secret must not fill the log. */
const LINES_A_MINUTE = 10;
const MINUTE_MS = 60_000;

/**
 * Who sent a request.
 *
 * Shape: `address` is that of the connection, so often a proxy's; `forwardedFor` is what the last proxy says of its own
 *        connection, which only a sender that comes past the proxy can make up; each null when there is none.
 */
export type Sender = { address: string | null; forwardedFor: string | null };

/** The sender of a request that came over a connection of `address`. */
export function senderOf(headers: Headers, address: string | null): Sender {
  const last = headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() ?? "";
  return { address: plainAddress(address ?? ""), forwardedFor: plainAddress(last) };
}

/** IPv4 as it is usually written, also where the socket serves both families. */
function plainAddress(text: string): string | null {
  const address = text.replace(/^::ffff:(?=\d+\.)/i, "");
  return isIP(address) === 0 ? null : address;
}

/**
 * Logs refused requests, and entries that were rejected inside accepted ones.
 *
 * Behaviour: at most ten lines a minute, and at the end of each minute a count of those that had none. `run` counts
 *            until its signal is aborted. Nothing of a request is logged but its sender's address.
 * Source:    design of the alarm, The alarm is watched.
 */
export class RefusalReport {
  readonly #log: Log;
  #lines = 0;
  #unsaid: { requests: Record<string, number>; entries: number } = { requests: {}, entries: 0 };

  constructor(log: Log) {
    this.#log = log;
  }

  /** A request was answered with an error; a sender that has the secret had an alert to tell, wherever it posted it. */
  refused(status: number, code: string, sender: Sender, { hasSecret = false } = {}): void {
    if (!LOGGED.has(status) && !hasSecret) return;
    const { requests } = this.#unsaid;
    if (this.#mayWrite()) this.#log.warn("A request was refused", { status, code, ...sender });
    else requests[code] = (requests[code] ?? 0) + 1;
  }

  /** Entries of an accepted request are no alerts. */
  rejected(entries: number, sender: Sender): void {
    if (this.#mayWrite())
      this.#log.warn("Entries of an accepted request are no alerts", { entries, ...sender });
    else this.#unsaid.entries += entries;
  }

  /** Writes what was left out and begins a new minute. */
  minute(): void {
    const { requests, entries } = this.#unsaid;
    if (entries > 0 || Object.keys(requests).length > 0)
      this.#log.warn("More was refused in the last minute", { requests, entries });
    this.#lines = 0;
    this.#unsaid = { requests: {}, entries: 0 };
  }

  async run(sleep: (ms: number, signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(MINUTE_MS, signal).catch(() => {});
      this.minute();
    }
  }

  #mayWrite(): boolean {
    this.#lines += 1;
    return this.#lines <= LINES_A_MINUTE;
  }
}
