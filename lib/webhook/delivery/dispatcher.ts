import { OutageLog } from "../outage-log.ts";
import { type AttemptEnd, OUTBOX_KINDS, type OutboxKind, type State } from "../store/types.ts";
import type { Attempt } from "./attempt.ts";
import type { PauseReason } from "./circuit-breaker.ts";
import type { DeliveryParts } from "./delivery.ts";
import { Lane, type Source } from "./lane.ts";
import { RateLimit } from "./rate-limit.ts";
import { nameOf } from "./report.ts";

export type { Source } from "./lane.ts";

/** How fast things go out; `digestAfterSeconds` 0: each message by itself, however many wait. */
export type Pace = { messagesPerMinute: number; issuesPerHour: number; digestAfterSeconds: number };

/**
 * What the dispatcher touches.
 *
 * Shape: `sources` are all states whose rows are delivered; the durable one has `isOurs` of `isLeading`. `onEnded` is told
 *        of each attempt with all rows of its text, once they are no longer on their way: null when none was made, or its
 *        end was not recorded. `onDelivered` is told of each attempt that delivered.
 */
export type DispatcherParts = DeliveryParts & {
  durable: State;
  sources: () => readonly Source[];
  attempts: Record<OutboxKind, Attempt>;
  onEnded?: ((state: State, rows: readonly number[], end: AttemptEnd | null) => void) | undefined;
  onDelivered?: ((kind: OutboxKind) => void) | undefined;
};

/** How long an issue waits for the first attempt of its own message, while messages can start. */
const ISSUE_GRACE_MS = 2_000;
const LOOK_MS = 1_000;
const PRUNE_MS = 60_000;
const SLOTS: Record<OutboxKind, number> = { message: 4, issue: 4, comment: 2 };
const MESSAGE_BURST = 10;
const ISSUE_BURST = 100;

/** What is logged when this process begins or ceases to deliver, by what the state says of the role. */
const ROLE_LINES = {
  true: "This process delivers the outbox",
  false: "Another process delivers the outbox",
  null: "No process delivers the outbox: the state cannot say which one may",
} as const;

/**
 * Delivers the rows of the outbox, a lane for each kind.
 *
 * Shape:     `pauses` are the codes for which lanes are paused, or null.
 * Behaviour: asks each second, on a timer of its own, whether this process leads; when it begins to, the lanes go on
 *            where the process before stopped. An issue waits two seconds at most for its own message, and not at all
 *            while no message can start.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #lanes: Record<OutboxKind, Lane>;
  readonly #rates: Record<OutboxKind, RateLimit | null>;
  readonly #removals: OutageLog;
  readonly #stopped = new AbortController();
  /** Whether this process leads; null while the durable state cannot say who does. */
  #leads: boolean | null = null;
  #pass: Promise<void> = Promise.resolve();
  #nextPass: Promise<void> | null = null;
  #keeping: Promise<void> = Promise.resolve();

  constructor(parts: DispatcherParts, pace: Pace) {
    this.#parts = parts;
    const { monotonicMs } = parts;
    const { messagesPerMinute: perMinute, issuesPerHour, digestAfterSeconds } = pace;
    // No more than a third, so that a critical message need not wait until the minute ends.
    const burst = Math.min(MESSAGE_BURST, Math.ceil(perMinute / 3));
    this.#rates = {
      message: new RateLimit({ perMinute, burst }, monotonicMs),
      issue: new RateLimit({ perMinute: issuesPerHour / 60, burst: ISSUE_BURST }, monotonicMs),
      comment: null,
    };
    const mostAlone = digestAfterSeconds === 0 ? null : Math.floor((digestAfterSeconds * perMinute) / 60);
    this.#lanes = {
      message: this.#lane("message", mostAlone),
      issue: this.#lane("issue", null),
      comment: this.#lane("comment", null),
    };
    this.#removals = new OutageLog({ ...parts, level: "warn", problem: "Old rows could not be removed" });
  }

  get isLeading(): boolean {
    return this.#leads === true;
  }

  /** False while the durable state cannot say which process leads. */
  get isLeaderKnown(): boolean {
    return this.#leads !== null;
  }

  get pauses(): Readonly<Record<OutboxKind, string | null>> {
    const { message, issue, comment } = this.#lanes;
    const code = ({ breaker }: Lane) => breaker.pausedBy;
    return { message: code(message), issue: code(issue), comment: code(comment) };
  }

  /** Begins to deliver, first what earlier processes left. */
  async start(): Promise<void> {
    await this.#lead();
    await this.look();
    void this.#every(LOOK_MS, () => this.#lead());
    void this.#every(LOOK_MS, () => this.look());
    void this.#every(PRUNE_MS, () => this.#prune());
  }

  /** How a row ends that is on its way; to null as `onEnded`. Null for a row that is not on its way. */
  inFlight(state: State, row: number): Promise<AttemptEnd | null> | null {
    const { message, issue, comment } = this.#lanes;
    return message.inFlight(state, row) ?? issue.inFlight(state, row) ?? comment.inFlight(state, row);
  }

  /** Pauses a lane for what was learnt without a row: for 90 seconds, and longer when it is said again. */
  pause(kind: OutboxKind, reason: PauseReason): void {
    this.#lanes[kind].breaker.pause(reason);
  }

  /** The external service of a lane is known to take rows: they go on at once. */
  resume(kind: OutboxKind): Promise<void> {
    this.#lanes[kind].breaker.resume();
    return this.look();
  }

  /** Lets one row of each lane that waits find out at once whether its external service takes it. */
  probe(): Promise<void> {
    for (const kind of OUTBOX_KINDS) this.#lanes[kind].breaker.probe();
    return this.look();
  }

  /**
   * Starts the rows that may start now; resolves when they are on their way, after as many calls of the state as that
   * takes. Calls that come while one is at work share the next one. Never throws.
   */
  look(): Promise<void> {
    this.#nextPass ??= this.#pass.then(() => {
      this.#nextPass = null;
      this.#pass = this.#start();
      return this.#pass;
    });
    return this.#nextPass;
  }

  /** Starts nothing more; what is on its way may take `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped.abort();
    await Promise.all(OUTBOX_KINDS.map((kind) => this.#lanes[kind].stop(graceMs)));
    await this.#keeping;
  }

  #lane(kind: OutboxKind, mostAlone: number | null): Lane {
    const parts = this.#parts;
    return new Lane({
      ...{ ...parts, kind, mostAlone, attempt: parts.attempts[kind] },
      rate: this.#rates[kind],
      slots: SLOTS[kind],
      heldReferences: (state, references) => this.#heldReferences(state, references),
      keepPause: (code) => this.#keepPause(kind, code),
      onFree: () => void this.look(),
      onEnded(state, rows, end) {
        if (end?.status === "delivered") parts.onDelivered?.(kind);
        parts.onEnded?.(state, rows, end);
      },
    });
  }

  async #start(): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    const { message, issue, comment } = this.#lanes;
    await message.start();
    const graceMs = message.startable > 0 ? ISSUE_GRACE_MS : 0;
    await issue.start(
      graceMs,
      (state, row) => row.waitedMs >= ISSUE_GRACE_MS || !message.isBehind(state, row),
    );
    await comment.start();
  }

  /** For a row in memory all ids are free that only the durable state could say to be held. */
  async #heldReferences(state: State, references: readonly string[]): Promise<ReadonlySet<string>> {
    const all = this.#parts.sources().map(async (source) => {
      const held = source.state.heldReferences("message", references);
      return [...(await (source.state === state ? held : held.catch(() => [])))];
    });
    return new Set((await Promise.all(all)).flat());
  }

  /** Keeps for the next process why a lane is paused; what cannot be kept is kept when a row finds out again. */
  #keepPause(kind: OutboxKind, code: string | null): void {
    if (!this.isLeading) return;
    const keep = () => this.#parts.durable.pauseLane(kind, code).catch(() => {});
    this.#keeping = this.#keeping.then(keep);
  }

  async #lead(): Promise<void> {
    const leads = await this.#parts.durable.lead().catch(() => null);
    if (this.#stopped.signal.aborted) return;
    if (leads && !this.isLeading) await this.#recall();
    if (this.isLeading !== (leads === true)) this.#parts.log.info(ROLE_LINES[`${leads}`]);
    this.#leads = leads;
  }

  /** Goes on where the process before stopped. */
  async #recall(): Promise<void> {
    const kept = await this.#parts.durable.lanes().catch(nameOf);
    if (typeof kept === "string")
      this.#parts.log.warn("Lanes start slowly: it is not known what went out before", { cause: kept });
    for (const kind of OUTBOX_KINDS) {
      this.#rates[kind]?.resume(typeof kept === "string" ? null : kept[kind].paceAheadMs);
      if (typeof kept !== "string") this.#lanes[kind].breaker.recall(kept[kind].pausedBy);
    }
  }

  async #prune(): Promise<void> {
    if (!this.isLeading) return;
    try {
      await this.#parts.durable.prune();
      this.#removals.worked();
    } catch (error) {
      // The state is closed while it removes: the next process goes on.
      if (!this.#stopped.signal.aborted) this.#removals.failed({ cause: nameOf(error) });
    }
  }

  async #every(ms: number, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await this.#parts.sleep(ms, signal).catch(() => {});
      if (!signal.aborted) await work();
    }
  }
}

/** Makes the dispatcher; it delivers nothing before it is started. */
export function makeDispatcher(parts: DispatcherParts, pace: Pace): Dispatcher {
  return new Dispatcher(parts, pace);
}
