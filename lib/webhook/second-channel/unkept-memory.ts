import type { Alert } from "../alert/alert.ts";
import { alertKey } from "../alert/alert-key.ts";
import { type AcceptedAlert, GIVE_UP_MS, ISSUE_TTL_MS, type UnheardAlert } from "../state/contract.ts";
import { isUrgent } from "../state/stored.ts";
import type { Clocks } from "./unheard-memory.ts";

const MOST_REMEMBERED = 1_000;
/** How long after its last post an e-mailed alert is remembered, so that its next post is not e-mailed again. */
const KEEP_EMAILED_MS = ISSUE_TTL_MS;

type Remembered = { alert: UnheardAlert; sinceMs: number; wantedAtMs: number; isEmailed: boolean };

/**
 * The urgent alerts that no state keeps and WhatsApp has not taken, from their first post on.
 *
 * Shape:     their rows are negative: those of no state.
 * Behaviour: one entry for all posts of an alert, for 24 hours after the last of them, or for 30 minutes after it was
 *            e-mailed; at most 1,000.
 */
export class UnkeptMemory {
  readonly #clocks: Clocks;
  readonly #alerts = new Map<string, Remembered>();
  #lastRow = 0;

  constructor(clocks: Clocks) {
    this.#clocks = clocks;
  }

  /** An alert was posted, and the state does not keep it. */
  posted(alert: Alert): void {
    if (!isUrgent(alert)) return;
    const key = alertKey(alert);
    const now = this.#clocks.monotonicMs();
    const known = this.#alerts.get(key);
    if (known !== undefined) known.wantedAtMs = now;
    else if (this.#hasRoom()) this.#alerts.set(key, this.#entry(alert, now));
  }

  /** WhatsApp took it. */
  taken(alert: Alert): void {
    this.#alerts.delete(alertKey(alert));
  }

  /** The state keeps these and knows from now on that they wait. Returns the rows of those e-mailed already. */
  kept(alerts: readonly AcceptedAlert[]): number[] {
    if (this.#alerts.size === 0) return [];
    return alerts.flatMap(({ alert, messageRow }) => {
      const known = this.#alerts.get(alertKey(alert));
      this.taken(alert);
      return known?.isEmailed ? [messageRow] : [];
    });
  }

  /** The alerts that have waited at least this long and were not e-mailed, the oldest first. */
  waiting(waitedMs: number): UnheardAlert[] {
    this.#forgetOld();
    const latestMs = this.#clocks.monotonicMs() - waitedMs;
    return [...this.#alerts.values()]
      .filter(({ sinceMs, isEmailed }) => !isEmailed && sinceMs <= latestMs)
      .map(({ alert }) => alert);
  }

  emailed(rows: readonly number[]): void {
    const told = new Set(rows);
    for (const known of this.#alerts.values()) if (told.has(known.alert.row)) known.isEmailed = true;
  }

  #entry(alert: Alert, now: number): Remembered {
    this.#lastRow -= 1;
    const acceptedAtMs = this.#clocks.nowMs();
    const row = this.#lastRow;
    return {
      alert: { row, alert, status: "queued", acceptedAtMs, issueUrl: null },
      sinceMs: now,
      wantedAtMs: now,
      isEmailed: false,
    };
  }

  /** An alert that was e-mailed makes room for one that was not. */
  #hasRoom(): boolean {
    if (this.#alerts.size < MOST_REMEMBERED) return true;
    const told = [...this.#alerts].find(([, { isEmailed }]) => isEmailed);
    return told !== undefined && this.#alerts.delete(told[0]);
  }

  #forgetOld(): void {
    const now = this.#clocks.monotonicMs();
    for (const [key, { wantedAtMs, isEmailed }] of this.#alerts)
      if (now - wantedAtMs >= (isEmailed ? KEEP_EMAILED_MS : GIVE_UP_MS)) this.#alerts.delete(key);
  }
}
