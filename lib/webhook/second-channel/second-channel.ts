import { createHash } from "node:crypto";
import * as v from "valibot";
import type { Log } from "../../platform/log/log.ts";
import type { SendOutcome } from "../../providers/send-outcome.ts";
import { alertPatience } from "../alert-patience.ts";
import { OutageLog } from "../outage-log.ts";
import type { State, UnheardAlert } from "../state/contract.ts";
import { ALERT_EMAIL_LIMIT, renderAlertEmail } from "../texts/email/alert-email.ts";
import { type AlertEmail, type MadeEmail, UnclearEmails } from "./unclear-emails.ts";
import type { UnheardMemory } from "./unheard-memory.ts";
import type { UnkeptMemory } from "./unkept-memory.ts";

/** Sends an e-mail to the second channel's addresses; never throws. */
export type SendAlertEmail = (email: AlertEmail, signal: AbortSignal) => Promise<SendOutcome>;

/** What the second channel works with. */
export type SecondChannelDependencies = {
  state: Pick<State, "unheard" | "unacknowledged" | "recordEmailed" | "keptEmail" | "keepEmail">;
  /** What is known of the state's alerts while it cannot be read, and what the state keeps none of. */
  rows: UnheardMemory;
  unkept: UnkeptMemory;
  /** The gateway's ids of messages that it took and WhatsApp does not acknowledge; none while that may be chance. */
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
const UNHEARD_MS = 3 * 60_000;

/** An e-mail also tells alerts that have waited this long: left to the next e-mail, they would wait four minutes. */
const TOLD_ALONG_MS = 2 * 60_000;

/** The provider knows the key of an e-mail with another content. */
const KEY_IN_USE = "invalid_idempotent_request";

/** The shortest time from one e-mail to the next, and from one send of an e-mail to its next one. */
const BETWEEN_MS = 60_000;

/** How many e-mails without a clear answer are kept for the next process: the newest ones. */
const MOST_KEPT = 5;

const KEPT = v.array(
  v.object({
    email: v.object({ id: v.string(), subject: v.string(), html: v.string(), text: v.string() }),
    rows: v.array(v.number()),
  }),
);

/** Finds the alerts that have waited at least this long. */
type Find = (waitedMs: number) => Promise<UnheardAlert[]>;

const UNREADABLE = "state_unavailable";

/**
 * The second way out: e-mails alerts that WhatsApp did not take or acknowledge.
 *
 * Behaviour: `look` makes at most one e-mail a minute, once an alert has waited for three, or was delivered and is not
 *            acknowledged; it tells the oldest of all that have waited for two. They are recorded as e-mailed only
 *            after the provider's clear yes. After an answer that proves nothing the same e-mail is sent again each
 *            minute, with the same key, by which the provider knows it, also by the next process; alerts that are in
 *            none have their own meanwhile. After a refusal the next one is made anew. An alert that WhatsApp took
 *            meanwhile is not e-mailed. While the state cannot be read, what it said last counts, and what could not be
 *            recorded is recorded later; alerts that it does not keep are told, too.
 * Errors:    none thrown by `look`; what fails is logged, once for each reason.
 * Source:    design of the alarm, Second channel.
 */
export class SecondChannel {
  readonly #dependencies: SecondChannelDependencies;
  readonly #reads: OutageLog;
  readonly #records: OutageLog;
  readonly #unclear = new UnclearEmails();
  /** Whether it is known what an earlier process had on its way. */
  #isRecalled = false;
  #nextAtMs = Number.NEGATIVE_INFINITY;
  /** The provider asks for patience until then. */
  #quietUntilMs = Number.NEGATIVE_INFINITY;
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
      if (monotonicMs() >= this.#quietUntilMs) await this.#send(find, send, signal);
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

  /** Urgent alerts that were delivered into a dead connection: each has waited long enough to be told once more. */
  async #unacknowledged(): Promise<UnheardAlert[]> {
    const { state, unacknowledged } = this.#dependencies;
    const references = unacknowledged();
    return references.length === 0 ? [] : await state.unacknowledged(references);
  }

  /** Sends a new e-mail where one is due, and then one again whose answer was not clear. */
  async #send(find: Find, send: SendAlertEmail, signal: AbortSignal): Promise<void> {
    const { rows, unkept, monotonicMs } = this.#dependencies;
    const findAll: Find = async (waitedMs) =>
      [...(await find(waitedMs)), ...unkept.waiting(waitedMs)]
        .filter(({ row }) => !rows.isTold(row))
        .sort((a, b) => a.acceptedAtMs - b.acceptedAtMs);
    const overdue = await findAll(UNHEARD_MS);
    const unheard = overdue.length === 0 ? [] : await findAll(TOLD_ALONG_MS);
    this.#unclear.forgetAllBut(unheard.map(({ row }) => row));
    if (monotonicMs() >= this.#nextAtMs && overdue.some(({ row }) => !this.#unclear.tells(row)))
      await this.#sendNew(unheard, send, signal);
    if (monotonicMs() < this.#quietUntilMs || signal.aborted) return;
    const again = this.#unclear.due(monotonicMs());
    if (again !== null) await this.#ended(again, await send(again.email, signal));
  }

  async #sendNew(unheard: readonly UnheardAlert[], send: SendAlertEmail, signal: AbortSignal): Promise<void> {
    const others = unheard.filter(({ row }) => !this.#unclear.tells(row));
    if (others.length === 0) return;
    const pending = this.#make(others.slice(0, ALERT_EMAIL_LIMIT));
    this.#nextAtMs = this.#dependencies.monotonicMs() + BETWEEN_MS;
    await this.#keep([...this.#unclear.all, pending]);
    await this.#ended(pending, await send(pending.email, signal));
  }

  /** Takes up what an earlier process had on its way: another process may have led in between. */
  async #recall(): Promise<void> {
    const { state, isTelling } = this.#dependencies;
    if (!isTelling()) this.#isRecalled = false;
    if (this.#isRecalled || this.#isBlind || !isTelling()) return;
    try {
      const now = this.#dependencies.monotonicMs();
      for (const pending of keptIn(await state.keptEmail())) this.#unclear.add(pending, now);
      this.#isRecalled = true;
    } catch (error) {
      // Found out again with the next look; the alerts do not wait for it.
      this.#reads.failed({ cause: nameOf(error) });
    }
  }

  /** A second e-mail is better than none: what cannot be kept is sent all the same. */
  async #keep(emails: readonly MadeEmail[]): Promise<void> {
    if (this.#isBlind) return;
    // The numbers of what the state does not keep mean nothing to another process.
    const kept = emails
      .map(({ email, rows }) => ({ email, rows: rows.filter((row) => row >= 0) }))
      .filter(({ rows }) => rows.length > 0)
      .slice(-MOST_KEPT);
    const content = kept.length === 0 ? null : JSON.stringify(kept);
    await this.#dependencies.state.keepEmail(content).catch((error: unknown) => {
      const cause = nameOf(error);
      this.#dependencies.log.warn("An e-mail on its way cannot be kept for the next process", { cause });
    });
  }

  #make(alerts: readonly UnheardAlert[]): MadeEmail {
    const { nowMs, reason } = this.#dependencies;
    const comesLater = !this.#isBlind && alerts.every(({ row }) => row >= 0);
    const why = reason() ?? (this.#isBlind ? UNREADABLE : null);
    const parts = renderAlertEmail(alerts, { nowMs: nowMs(), reason: why, comesLater });
    const rows = alerts.map(({ row }) => row);
    const facts = alerts.map(({ row, acceptedAtMs, alert }) => [row, acceptedAtMs, alert.fingerprint]);
    return { email: { id: idOf(facts, parts), ...parts }, rows };
  }

  async #ended(pending: MadeEmail, outcome: SendOutcome): Promise<void> {
    const now = this.#dependencies.monotonicMs();
    const wasUnclear = this.#unclear.remove(pending);
    switch (outcome.status) {
      case "sent":
        return await this.#told(pending);
      case "unknown":
        // A key that the provider has with another content, of addresses that were changed since, is of no more use.
        if (outcome.code !== KEY_IN_USE) this.#unclear.add(pending, now + BETWEEN_MS);
        break;
      case "throttled":
        this.#quietUntilMs = now + Math.max(BETWEEN_MS, alertPatience(outcome.retryAfterMs));
        // What an earlier send may have brought is not made anew.
        if (wasUnclear) this.#unclear.add(pending, this.#quietUntilMs);
        break;
      case "failed":
        // Refused as a whole: another one may tell the alerts that have come since.
        break;
    }
    this.#fails(outcome.code);
  }

  async #told({ rows: told }: MadeEmail): Promise<void> {
    const { rows, unkept, log } = this.#dependencies;
    rows.emailed(told.filter((row) => row >= 0));
    unkept.emailed(told);
    this.#failure = null;
    log.warn("Alerts that WhatsApp did not take or acknowledge were told by e-mail", { alerts: told.length });
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
    // Others may be on their way by now.
    await this.#keep(this.#unclear.all);
  }

  #fails(code: string, cause?: string): void {
    if (this.#failure !== code)
      this.#dependencies.log.error(
        "Alerts that WhatsApp did not take or acknowledge cannot be e-mailed yet",
        {
          code,
          cause,
          hint: "opsctl doctor webhook says what to do",
        },
      );
    this.#failure = code;
  }
}

/** What an earlier process kept; nothing when that cannot be read. */
function keptIn(content: string | null): MadeEmail[] {
  if (content === null) return [];
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), KEPT), content);
  return parsed.success ? parsed.output : [];
}

/**
 * The id of an e-mail, made of the alerts and the text: the provider refuses a known key with another text, and an
 * e-mail that is made anew says other times.
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
