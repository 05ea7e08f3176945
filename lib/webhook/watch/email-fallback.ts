import { hash } from "node:crypto";
import * as v from "valibot";
import type { SendOutcome } from "../../providers/send-outcome.ts";
import type { Escalation, State } from "../store/types.ts";
import { ALERT_EMAIL_LIMIT, renderAlertEmail } from "../texts/email.ts";
import type { WatchClients, WatchDependencies } from "./watch.ts";

/** How long WhatsApp may fail to take an alert before it is e-mailed. */
const DUE_MS = 3 * 60_000;
/** How long an alert has waited that goes along with one that is due: left to the next e-mail, it would wait four minutes. */
const ALONG_MS = 2 * 60_000;
/** The shortest time from one send to the next. */
const BETWEEN_MS = 60_000;
/** The longest that the provider alone may have us wait. */
const LONGEST_WAIT_MS = 5 * 60_000;
/** The provider knows the key of an e-mail with another content, as after its addresses were changed. */
const KEY_IN_USE = "invalid_idempotent_request";

/** `lastFailure` returns the code for which the newest message was not delivered, or null. */
type FallbackDependencies = WatchDependencies & { lastFailure: () => string | null };

/** An alert that waits in a state; `sinceMs` is on the monotonic clock. */
type Waiting = Escalation & { state: State; sinceMs: number };

/** What waits in a state, by its row; as it was at the last look when the state could not be read. */
type Found = { rows: ReadonlyMap<number, Waiting>; isRead: boolean };

/** An e-mail on its way; the same `id` always has the same content. */
type Pending = { id: string; subject: string; text: string; alerts: readonly Waiting[] };

const TEXTS = { id: v.string(), subject: v.string(), text: v.string() };
const KEPT = v.pipe(v.string(), v.parseJson(), v.object({ ...TEXTS, rows: v.array(v.number()) }));

/**
 * E-mails alerts that WhatsApp does not take.
 *
 * Behaviour: sends at most one e-mail a minute, once an alert has waited for three, with the oldest of all that have
 *            waited for two. An e-mail without a clear answer is sent again each minute, with the same key, also by the
 *            next process; one with further alerts takes its place. An alert is recorded as e-mailed after the
 *            provider's clear yes. While a state cannot be read, what it had at the last look counts.
 * Errors:    those of the states when something cannot be recorded; what can be sent was sent then.
 * Source:    design of the alarm, Fallback channel.
 */
export class EmailFallback {
  readonly #dependencies: FallbackDependencies;
  #found = new Map<State, Found>();
  #pending: Pending | null = null;
  /** E-mailed, and not yet recorded. */
  #unrecorded: readonly Waiting[] = [];
  #ledLast = false;
  #nextAtMs = Number.NEGATIVE_INFINITY;
  #failure: string | null = null;

  constructor(dependencies: FallbackDependencies) {
    this.#dependencies = dependencies;
  }

  /** Sends what is to be sent now. */
  async look(signal: AbortSignal): Promise<void> {
    const { clients, monotonicMs } = this.#dependencies;
    const { email } = clients();
    if (email === null) return;
    try {
      await this.#record();
    } finally {
      const found = this.#ours().map(async (state) => [state, await this.#read(state)] as const);
      this.#found = new Map(await Promise.all(found));
      await this.#recall();
      if (monotonicMs() >= this.#nextAtMs && !signal.aborted) await this.#send(email, signal);
    }
  }

  /** While nobody can say who leads, the process that led last e-mails the durable state's alerts. */
  #ours(): State[] {
    const { sources, durable, isLeading, isLeaderKnown } = this.#dependencies;
    if (isLeading() || isLeaderKnown()) this.#ledLast = isLeading();
    const states = sources().map(({ state }) => state);
    return states.filter((state) => state !== durable || this.#ledLast);
  }

  async #read(state: State): Promise<Found> {
    const known = this.#found.get(state)?.rows ?? new Map<number, Waiting>();
    const now = this.#dependencies.monotonicMs();
    const rows = new Map<number, Waiting>();
    try {
      for (const waitedMs of [0, ALONG_MS, DUE_MS]) {
        const escalations = await state.escalations(waitedMs);
        for (const each of escalations) {
          const one = rows.get(each.row) ?? known.get(each.row) ?? { ...each, state, sinceMs: now };
          const sinceMs = Math.min(one.sinceMs, now - waitedMs);
          rows.set(each.row, Object.assign(one, each, { sinceMs }));
        }
        if (escalations.length === 0) break;
      }
      return { rows, isRead: true };
    } catch {
      // The lanes log that it cannot be read.
      return { rows: known, isRead: false };
    }
  }

  /** Takes up the e-mail of an earlier process. */
  async #recall(): Promise<void> {
    const { durable, isLeading } = this.#dependencies;
    const found = this.#found.get(durable);
    if (this.#pending !== null || !isLeading() || !found?.isRead || found.rows.size === 0) return;
    const kept = v.safeParse(KEPT, await durable.pendingEmail());
    if (!kept.success) return;
    const { rows, ...email } = kept.output;
    this.#pending = { ...email, alerts: rows.flatMap((row) => found.rows.get(row) ?? []) };
  }

  /** The e-mail to send next; null when nothing is due and none is on its way. */
  #next(): Pending | null {
    const now = this.#dependencies.monotonicMs();
    const waiting = [...this.#found.values()]
      .flatMap(({ rows }) => [...rows.values()])
      .filter((one) => !this.#unrecorded.includes(one))
      .sort((a, b) => a.acceptedAtMs - b.acceptedAtMs);
    const alerts = waiting.filter(({ sinceMs }) => now - sinceMs >= ALONG_MS).slice(0, ALERT_EMAIL_LIMIT);
    const isPending = (one: Waiting) => this.#pending?.alerts.includes(one) ?? false;
    if (alerts.some((one) => now - one.sinceMs >= DUE_MS && !isPending(one))) return this.#make(alerts);
    // WhatsApp may have taken all its alerts meanwhile.
    return waiting.some(isPending) ? this.#pending : null;
  }

  #make(alerts: readonly Waiting[]): Pending {
    const { durable, lane, lastFailure, nowMs } = this.#dependencies;
    const isRead = [...this.#found.values()].every((found) => found.isRead);
    const reason = lane.pausedBy() ?? lastFailure() ?? (isRead ? null : "state_unavailable");
    const comesLater = isRead && alerts.every(({ state }) => state === durable);
    const parts = renderAlertEmail(alerts, { nowMs: nowMs(), reason, comesLater });
    const facts = alerts.map(({ row, acceptedAtMs, alert }) => [row, acceptedAtMs, alert.fingerprint]);
    return { id: hash("sha256", JSON.stringify([facts, parts])), ...parts, alerts };
  }

  async #send(email: NonNullable<WatchClients["email"]>, signal: AbortSignal): Promise<void> {
    const next = this.#next();
    this.#pending = next;
    if (next === null) return;
    this.#nextAtMs = this.#dependencies.monotonicMs() + BETWEEN_MS;
    const { client, ...addresses } = email;
    const { id: deliveryId, subject, text, alerts } = next;
    const none = { fromName: null, replyTo: null, html: null, unsubscribe: null };
    try {
      await this.#keep(next);
    } finally {
      // One that cannot be kept is sent anyway: a second copy is better than none.
      const outcome = await client.sendEmail({ ...none, ...addresses, subject, text, deliveryId }, signal);
      if (outcome.status === "sent" || !signal.aborted) await this.#ended(alerts, outcome);
    }
  }

  /** Keeps an e-mail for the next process; null: none is on its way. */
  async #keep(pending: Pending | null): Promise<void> {
    const { durable } = this.#dependencies;
    if (!this.#found.get(durable)?.isRead) return;
    const { alerts = [], ...email } = pending ?? {};
    const rows = alerts.filter(({ state }) => state === durable).map(({ row }) => row);
    await durable.keepEmail(pending && JSON.stringify({ ...email, rows }));
  }

  async #ended(alerts: readonly Waiting[], outcome: SendOutcome): Promise<void> {
    const { log, monotonicMs } = this.#dependencies;
    if (outcome.status === "sent") {
      [this.#pending, this.#failure] = [null, null];
      this.#unrecorded = [...this.#unrecorded, ...alerts];
      log.warn("Alerts that WhatsApp did not take were sent by e-mail", { alerts: alerts.length });
      return await this.#record();
    }
    const { status, code } = outcome;
    const hint = "opsctl doctor webhook says what to do";
    if (this.#failure !== code)
      log.error("Alerts that WhatsApp did not take cannot be e-mailed yet", { code, hint });
    this.#failure = code;
    if (status === "throttled")
      this.#nextAtMs = monotonicMs() + Math.max(BETWEEN_MS, Math.min(outcome.retryAfterMs, LONGEST_WAIT_MS));
    if (status !== "failed" && code !== KEY_IN_USE) return;
    this.#pending = null;
    await this.#keep(null);
  }

  /** Records what was e-mailed, now or at a later look. */
  async #record(): Promise<void> {
    const record = async ({ state }: { state: State }) => {
      const rows = this.#unrecorded.filter((one) => one.state === state).map(({ row }) => row);
      if (rows.length > 0) await state.recordEmailed(rows);
      this.#unrecorded = this.#unrecorded.filter((one) => one.state !== state);
    };
    await Promise.all(this.#dependencies.sources().map(record));
  }
}
