import { hash } from "node:crypto";
import * as v from "valibot";
import type { SendOutcome } from "../../providers/send-outcome.ts";
import type { State } from "../store/outbox.ts";
import type { Escalation } from "../store/reads.ts";
import { ALERT_EMAIL_LIMIT, renderAlertEmail } from "../texts/email.ts";
import type { WatchClients, WatchDependencies } from "./dependencies.ts";

/** How long WhatsApp may fail to take an alert before it is e-mailed. */
const DUE_MS = 3 * 60_000;
/** How long an alert has waited that goes along with one that is due: left to the next e-mail, it would wait four minutes. */
const ALONG_MS = 2 * 60_000;
/** The shortest time from one send to the next. */
const BETWEEN_MS = 60_000;
/** After so many sends without a clear answer another e-mail is made: the content may be the reason. */
const MOST_UNCLEAR = 10;

/** An alert that waits in a state; `sinceMs` is on the monotonic clock. */
type Waiting = Escalation & { state: State; sinceMs: number };

/** The same alert also has this key where another state took it over, under another number. */
const keyOf = ({ acceptedAtMs, alert }: Escalation) =>
  JSON.stringify([alert.fingerprint, acceptedAtMs, alert.status]);

/** What waits in a state, by its row; as it was at the last look when the state could not be read. */
type Found = { rows: ReadonlyMap<number, Waiting>; isRead: boolean };

/** A pending e-mail; the same `id` always has the same content. `unclear` counts its sends without a clear answer. */
type Pending = { id: string; subject: string; text: string; alerts: readonly Waiting[]; unclear: number };

const TEXTS = { id: v.string(), subject: v.string(), text: v.string() };
const KEPT = v.pipe(v.string(), v.parseJson(), v.object({ ...TEXTS, rows: v.array(v.number()) }));

/**
 * E-mails alerts that WhatsApp does not take: the result looks once, and sends what is to be sent then.
 *
 * Shape:     `lastFailure` returns the code for which the newest message was not delivered, or null.
 * Behaviour: sends at most one e-mail a minute, once an alert has waited for three, with the oldest of all that have
 *            waited for two. An e-mail without a clear answer is sent again each minute, with the same key, also by the
 *            next process, before one with further alerts; after ten of them one with all that wait takes its place. An
 *            alert is recorded as e-mailed after the provider's clear yes. While a state cannot be read, what it had at
 *            the last look counts.
 * Errors:    those of the states when something cannot be recorded; what can be sent was sent then.
 * Source:    design of the alarm, Fallback channel.
 */
export function emailFallback(dependencies: WatchDependencies, lastFailure: () => string | null) {
  const { sources, durable, clients, dispatcher, log, nowMs, monotonicMs } = dependencies;
  let found = new Map<State, Found>();
  let pending: Pending | null = null;
  /** E-mailed, and not yet recorded. */
  let unrecorded: readonly Waiting[] = [];
  let ledLast = false;
  let nextAtMs = Number.NEGATIVE_INFINITY;
  let lastCode: string | null = null;

  /** While nobody can say who leads, the process that led last e-mails the durable state's alerts. */
  const ours = (): State[] => {
    if (dispatcher.isLeaderKnown) ledLast = dispatcher.isLeading;
    return sources().flatMap(({ state }) => (state !== durable || ledLast ? state : []));
  };

  const all = () => [...new Set([...found.values()].flatMap(({ rows }) => [...rows.values()]))];

  const read = async (state: State, known: ReadonlyMap<string, Waiting>): Promise<Found> => {
    const [now, rows] = [monotonicMs(), new Map<number, Waiting>()];
    try {
      for (const waitedMs of [0, ALONG_MS, DUE_MS]) {
        for (const each of await state.escalations(waitedMs)) {
          const one = rows.get(each.row) ?? known.get(keyOf(each)) ?? { ...each, state, sinceMs: now };
          const sinceMs = Math.min(one.sinceMs, now - waitedMs);
          rows.set(each.row, Object.assign(one, each, { state, sinceMs }));
        }
        if (rows.size === 0) break;
      }
      return { rows, isRead: true };
    } catch {
      // The lanes log that it cannot be read.
      return { rows: found.get(state)?.rows ?? rows, isRead: false };
    }
  };

  /** Takes up the e-mail of an earlier process. */
  const recall = async (): Promise<void> => {
    const mine = found.get(durable);
    if (pending !== null || !dispatcher.isLeading || !mine?.isRead || mine.rows.size === 0) return;
    const kept = v.safeParse(KEPT, await durable.pendingEmail());
    if (!kept.success) return;
    const { rows, ...email } = kept.output;
    pending = { ...email, alerts: rows.flatMap((row) => mine.rows.get(row) ?? []), unclear: 0 };
  };

  const make = (alerts: readonly Waiting[]): Pending => {
    const isRead = [...found.values()].every((each) => each.isRead);
    const reason = dispatcher.pauses.message ?? lastFailure() ?? (isRead ? null : "state_unavailable");
    const comesLater = isRead && alerts.every(({ state }) => state === durable);
    const parts = renderAlertEmail(alerts, { nowMs: nowMs(), reason, comesLater });
    const facts = alerts.map(({ row, acceptedAtMs, alert }) => [row, acceptedAtMs, alert.fingerprint]);
    const { from, to } = clients().email ?? {};
    return { id: hash("sha256", JSON.stringify([facts, parts, from, to])), ...parts, alerts, unclear: 0 };
  };

  /** The e-mail to send next; null when nothing is due and none is pending. */
  const next = (): Pending | null => {
    const now = monotonicMs();
    const waiting = all()
      .filter((one) => !unrecorded.includes(one))
      .sort((a, b) => a.acceptedAtMs - b.acceptedAtMs);
    const alerts = waiting.filter(({ sinceMs }) => now - sinceMs >= ALONG_MS).slice(0, ALERT_EMAIL_LIMIT);
    // WhatsApp may have taken all its alerts meanwhile.
    if (pending !== null && waiting.some((one) => pending?.alerts.includes(one))) return pending;
    return alerts.some((one) => now - one.sinceMs >= DUE_MS) ? make(alerts) : null;
  };

  /** Keeps the pending e-mail for the next process, or that there is none. */
  const keep = async (): Promise<void> => {
    if (!found.get(durable)?.isRead) return;
    const { alerts = [], unclear, ...email } = pending ?? {};
    const rows = alerts.filter(({ state }) => state === durable).map(({ row }) => row);
    await durable.keepEmail(pending && JSON.stringify({ ...email, rows }));
  };

  /** Records what was e-mailed, now or at a later look. */
  const record = async (): Promise<void> => {
    const states = sources().map(async ({ state }) => {
      const rows = unrecorded.filter((one) => one.state === state).map(({ row }) => row);
      if (rows.length > 0) await state.recordEmailed(rows);
      unrecorded = unrecorded.filter((one) => one.state !== state);
    });
    await Promise.all(states);
  };

  const ended = async (email: Pending, outcome: SendOutcome): Promise<void> => {
    if (outcome.status === "sent") {
      [pending, lastCode] = [null, null];
      unrecorded = [...unrecorded, ...email.alerts];
      log.warn("Alerts that WhatsApp did not take were sent by e-mail", { alerts: email.alerts.length });
      return await record();
    }
    const { status, code } = outcome;
    const hint = "opsctl doctor webhook says what to do";
    if (lastCode !== code)
      log.error("Alerts that WhatsApp did not take cannot be e-mailed yet", { code, hint });
    lastCode = code;
    email.unclear += 1;
    // The provider may know the key with another content, as after the addresses were changed.
    const isOver = status === "failed" || code === "invalid_idempotent_request";
    if (!isOver && email.unclear < MOST_UNCLEAR) return;
    pending = null;
    await keep();
  };

  const send = async (email: NonNullable<WatchClients["email"]>, signal: AbortSignal): Promise<void> => {
    pending = next();
    if (pending === null) return;
    nextAtMs = monotonicMs() + BETWEEN_MS;
    const { client, ...addresses } = email;
    const current = pending;
    const { id: deliveryId, subject, text } = current;
    const none = { fromName: null, replyTo: null, html: null, unsubscribe: null };
    try {
      await keep();
    } finally {
      // One that cannot be kept is sent anyway: a second copy is better than none.
      const outcome = await client.sendEmail({ ...none, ...addresses, subject, text, deliveryId }, signal);
      if (outcome.status === "sent" || !signal.aborted) await ended(current, outcome);
    }
  };

  return async (signal: AbortSignal): Promise<void> => {
    const { email } = clients();
    if (email === null) return;
    try {
      await record();
    } finally {
      const seen = [...all(), ...(pending?.alerts ?? []), ...unrecorded];
      const known = new Map(seen.map((one) => [keyOf(one), one]));
      const each = ours().map(async (state) => [state, await read(state, known)] as const);
      found = new Map(await Promise.all(each));
      await recall();
      if (monotonicMs() >= nextAtMs && !signal.aborted) await send(email, signal);
    }
  };
}
