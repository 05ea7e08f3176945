import { createHash } from "node:crypto";
import * as v from "valibot";
import type { Log } from "../../platform/log/log.ts";
import { OutageLog } from "../../platform/log/outage-log.ts";
import type { SendOutcome } from "../../providers/send-outcome.ts";
import { alertPatience } from "../alert-patience.ts";
import type { State, UnheardAlert } from "../state/contract.ts";
import { ALERT_EMAIL_LIMIT, renderAlertEmail } from "../texts/email/alert-email.ts";
import { EmailTurns } from "./email-turns.ts";
import type { UnheardMemory } from "./unheard-memory.ts";
import type { UnkeptMemory } from "./unkept-memory.ts";

/** An e-mail of the second channel; the same `id` always has the same content. */
export type AlertEmail = { id: string; subject: string; html: string; text: string };

/** Sends an e-mail to the second channel's addresses; never throws. */
export type SendAlertEmail = (email: AlertEmail, signal: AbortSignal) => Promise<SendOutcome>;

/** What the second channel works with. */
export type SecondChannelDependencies = {
  state: Pick<State, "unheard" | "unacknowledged" | "recordEmailed" | "keptEmail" | "keepEmail">;
  /** What is known of the state's alerts while it cannot be read, and what the state keeps none of. */
  rows: UnheardMemory;
  unkept: UnkeptMemory;
  /** The gateway's ids of messages that it took and WhatsApp does not acknowledge; none while that may be an accident. */
  unacknowledged: () => readonly string[];
  /** Null while no second channel is set up. */
  send: () => SendAlertEmail | null;
  /** Whether this process is the one that tells what waits; see `Leadership`. */
  isTelling: () => boolean;
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

/** The provider knows the key of an e-mail with another content. */
const KEY_IN_USE = "invalid_idempotent_request";

/** The shortest time from one e-mail to the next. */
const BETWEEN_MS = 60_000;

const PENDING = v.object({
  email: v.object({ id: v.string(), subject: v.string(), html: v.string(), text: v.string() }),
  rows: v.array(v.number()),
});

/** An e-mail that is on its way: it is sent again as it is until the provider's answer is clear. */
type Pending = { email: AlertEmail; rows: readonly number[] };

/** Finds the alerts that have waited for so long. */
type Find = (waitedMs: number) => Promise<UnheardAlert[]>;

const UNREADABLE = "state_unavailable";

/**
 * The second way out: e-mails alerts that WhatsApp did not take.
 *
 * Behaviour: `look` sends at most one e-mail a minute, once an alert has waited for three, or was delivered and is not
 *            acknowledged; it tells the oldest of all that have waited for two. They are recorded as e-mailed
 *            only after the provider's clear yes. After an answer that proves nothing the same e-mail is sent again,
 *            with the same key, by which the provider knows it (see `EmailTurns`), also by the next process; after a refusal
 *            the next one is made anew. An alert that WhatsApp took meanwhile is not e-mailed. While the state cannot be
 *            read, what it said last counts, and what could not be recorded is recorded later; alerts that it does not keep
 *            are told, too.
 * Errors:    none thrown by `look`; what fails is logged, once for each reason.
 * Source:    design of the alarm, Second channel.
 */
export class SecondChannel {
  readonly #dependencies: SecondChannelDependencies;
  readonly #reads: OutageLog;
  readonly #records: OutageLog;
  readonly #turns = new EmailTurns<Pending>();
  #pending: Pending | null = null;
  /** Whether it is known what an earlier process had on its way. */
  #isRecalled = false;
  #nextAtMs = Number.NEGATIVE_INFINITY;
  #failure: string | null = null;
  #isBlind = false;

  constructor(dependencies: SecondChannelDependencies) {
    this.#dependencies = dependencies;
    this.#reads = new OutageLog({
      ...dependencies,
      problem: "The state cannot be read: the second channel tells what it remembers",
      over: "The second channel can read the state again",
    });
    this.#records = new OutageLog({
      ...dependencies,
      problem: "It cannot be recorded yet which alerts were e-mailed",
      over: "It is recorded which alerts were e-mailed",
    });
  }

  /** Sends what is to be sent now. */
  async look(signal: AbortSignal): Promise<void> {
    const { send: sender, monotonicMs } = this.#dependencies;
    const send = sender();
    if (send === null) return;
    try {
      await this.#recordEmailed();
      const find = await this.#finder();
      await this.#recall();
      if (monotonicMs() >= this.#nextAtMs) await this.#send(find, send, signal);
    } catch (error) {
      this.#fails(UNREADABLE, nameOf(error));
    }
  }

  /** How to find what waits: in the state, or in memory while it cannot be read. */
  async #finder(): Promise<Find> {
    const { state, rows, isTelling } = this.#dependencies;
    const read = rows.reading();
    try {
      const found = await state.unheard(0);
      read(found, isTelling());
      this.#isBlind = false;
      this.#reads.worked();
      if (!isTelling()) return async () => [];
      const unacknowledged = await this.#unacknowledged();
      const waiting: Find = found.length > 0 ? (waitedMs) => state.unheard(waitedMs) : async () => [];
      return async (waitedMs) => [...(await waiting(waitedMs)), ...unacknowledged];
    } catch (error) {
      this.#isBlind = true;
      this.#reads.failed({ cause: nameOf(error) });
      return async (waitedMs) => rows.waiting(waitedMs);
    }
  }

  /** Urgent alerts that were delivered into a connection that is dead: each has waited long enough to be told again, once. */
  async #unacknowledged(): Promise<UnheardAlert[]> {
    const { state, unacknowledged } = this.#dependencies;
    const references = unacknowledged();
    return references.length === 0 ? [] : await state.unacknowledged(references);
  }

  async #send(find: Find, send: SendAlertEmail, signal: AbortSignal): Promise<void> {
    const { rows, unkept, monotonicMs } = this.#dependencies;
    const findAll: Find = async (waitedMs) =>
      [...(await find(waitedMs)), ...unkept.waiting(waitedMs)]
        .filter(({ row }) => !rows.isTold(row))
        .sort((a, b) => a.acceptedAtMs - b.acceptedAtMs);
    if ((await findAll(UNHEARD_MS)).length === 0) {
      this.#pending = null;
      return;
    }
    const unheard = await findAll(TOLD_ALONG_MS);
    if (unheard.length === 0) return;
    const { again, others } = this.#turns.next(this.#pending, unheard);
    const pending = again ?? this.#make(others.slice(0, ALERT_EMAIL_LIMIT));
    if (pending !== this.#pending) await this.#keep(pending);
    this.#pending = pending;
    this.#nextAtMs = monotonicMs() + BETWEEN_MS;
    await this.#ended(pending, await send(pending.email, signal));
  }

  /** Takes up what an earlier process had on its way: another process may have led in between. */
  async #recall(): Promise<void> {
    const { state, isTelling } = this.#dependencies;
    if (!isTelling()) this.#isRecalled = false;
    if (this.#isRecalled || this.#isBlind || !isTelling()) return;
    try {
      this.#pending ??= pendingOf(await state.keptEmail());
      this.#isRecalled = true;
    } catch (error) {
      // Found out again with the next look; the alerts do not wait for it.
      this.#reads.failed({ cause: nameOf(error) });
    }
  }

  /** That it is heard matters more than that it comes once: what cannot be kept is sent all the same. */
  async #keep(pending: Pending | null): Promise<void> {
    if (this.#isBlind) return;
    // The numbers of what the state does not keep mean nothing to another process.
    const rows = pending?.rows.filter((row) => row >= 0) ?? [];
    const content = rows.length === 0 ? null : JSON.stringify({ email: pending?.email, rows });
    await this.#dependencies.state.keepEmail(content).catch((error: unknown) => {
      const cause = nameOf(error);
      this.#dependencies.log.warn("An e-mail on its way cannot be kept for the next process", { cause });
    });
  }

  #make(alerts: readonly UnheardAlert[]): Pending {
    const { nowMs, reason } = this.#dependencies;
    const comesLater = !this.#isBlind && alerts.every(({ row }) => row >= 0);
    const why = reason() ?? (this.#isBlind ? UNREADABLE : null);
    const parts = renderAlertEmail(alerts, { nowMs: nowMs(), reason: why, comesLater });
    const rows = alerts.map(({ row }) => row);
    const facts = alerts.map(({ row, acceptedAtMs, alert }) => [row, acceptedAtMs, alert.fingerprint]);
    return { email: { id: idOf(facts, parts), ...parts }, rows };
  }

  async #ended(pending: Pending, outcome: SendOutcome): Promise<void> {
    switch (outcome.status) {
      case "sent":
        return await this.#told(pending);
      case "unknown":
        // The provider has the key with another content: of addresses that were changed since.
        if (outcome.code === KEY_IN_USE) this.#pending = null;
        else this.#turns.unclear(pending);
        return this.#fails(outcome.code);
      case "throttled":
        this.#nextAtMs = Math.max(
          this.#nextAtMs,
          this.#dependencies.monotonicMs() + alertPatience(outcome.retryAfterMs),
        );
        break;
      case "failed":
        break;
    }
    // Refused as a whole: another one may tell the alerts that have come since.
    this.#pending = null;
    this.#fails(outcome.code);
  }

  async #told({ rows: told }: Pending): Promise<void> {
    const { rows, unkept, log } = this.#dependencies;
    rows.emailed(told.filter((row) => row >= 0));
    unkept.emailed(told);
    this.#pending = null;
    this.#failure = null;
    log.warn("WhatsApp did not take alerts: they were told by e-mail", { alerts: told.length });
    await this.#recordEmailed();
  }

  /** Records what was e-mailed, now or by a later look. */
  async #recordEmailed(): Promise<void> {
    const { state, rows } = this.#dependencies;
    const { owed } = rows;
    if (owed.length === 0) return;
    try {
      await state.recordEmailed(owed);
      rows.recorded(owed);
      this.#records.worked();
    } catch (error) {
      this.#records.failed({ cause: nameOf(error) });
      return;
    }
    // Another one may be on its way by now.
    if (this.#pending === null) await this.#keep(null);
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

/** What an earlier process kept; null when that cannot be read. */
function pendingOf(content: string | null): Pending | null {
  if (content === null) return null;
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), PENDING), content);
  return parsed.success ? parsed.output : null;
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

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
