import { OutageLog } from "../outage-log.ts";
import { type AttemptEnd, OUTBOX_KINDS, type OutboxKind } from "../store/model.ts";
import type { State } from "../store/outbox.ts";
import type { PauseReason } from "./circuit-breaker.ts";
import { Lane } from "./lane.ts";
import type { DispatcherParts } from "./parts.ts";
import { RateLimit } from "./rate-limit.ts";
import { nameOf } from "./report.ts";

/** How fast rows go out; `digestAfterSeconds` 0: no digests. */
export type Pace = { messagesPerMinute: number; issuesPerHour: number; digestAfterSeconds: number };

const LOOK_MS = 1_000;
const PRUNE_MS = 60_000;
const MESSAGE_BURST = 10;
const ISSUE_BURST = 100;

const ROLE_LINES = {
  true: "This process delivers the outbox",
  false: "Another process delivers the outbox",
  null: "No process delivers the outbox: the state cannot say which one may",
};

/**
 * Delivers the rows of the outbox, a lane for each kind.
 *
 * Behaviour: asks each second, on a timer of its own, whether this process leads; when it begins to, the lanes go on
 *            where the process before stopped.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #lanes: Record<OutboxKind, Lane>;
  readonly #removals: OutageLog;
  readonly #stopped = new AbortController();
  /** Null while that is not known. */
  #leads: boolean | null = false;
  #pass: Promise<void> = Promise.resolve();
  #nextPass: Promise<void> | null = null;
  #keeping: Promise<void> = Promise.resolve();

  constructor(parts: DispatcherParts, { messagesPerMinute, issuesPerHour, digestAfterSeconds }: Pace) {
    this.#parts = parts;
    this.#removals = new OutageLog({ ...parts, problem: "Old rows could not be removed", level: "warn" });
    const { monotonicMs } = parts;
    const every = {
      ...{ ...parts, rate: null, mostAlone: null, after: null, stopping: this.#stopped.signal },
      keepPause: (kind: OutboxKind, code: string | null) => this.#keepPause(kind, code),
      onFree: () => void this.look(),
    };
    // No more than a third, so that a critical message need not wait until the minute ends.
    const burst = Math.min(MESSAGE_BURST, Math.ceil(messagesPerMinute / 3));
    const messages = new RateLimit({ perMinute: messagesPerMinute, burst }, monotonicMs);
    const issues = new RateLimit({ perMinute: issuesPerHour / 60, burst: ISSUE_BURST }, monotonicMs);
    const inTime = Math.floor((digestAfterSeconds * messagesPerMinute) / 60);
    const mostAlone = digestAfterSeconds === 0 ? null : inTime;
    const message = new Lane({ ...every, kind: "message", slots: 4, rate: messages, mostAlone });
    const issue = new Lane({ ...every, kind: "issue", slots: 4, rate: issues, after: message });
    this.#lanes = { message, issue, comment: new Lane({ ...every, kind: "comment", slots: 2 }) };
  }

  get isLeading(): boolean {
    return this.#leads === true;
  }

  /** False while the state cannot say which process delivers. */
  get isLeaderKnown(): boolean {
    return this.#leads !== null;
  }

  /** The codes for which lanes are paused, or null. */
  get pauses(): Readonly<Record<OutboxKind, string | null>> {
    const { message, issue, comment } = this.#lanes;
    const pausedBy = ({ breaker }: Lane) => breaker.pausedBy;
    return { message: pausedBy(message), issue: pausedBy(issue), comment: pausedBy(comment) };
  }

  /** Begins to deliver, first what earlier processes left. */
  async start(): Promise<void> {
    await this.#lead();
    await this.look();
    void this.#every(LOOK_MS, () => this.#lead());
    void this.#every(LOOK_MS, () => this.look());
    void this.#every(PRUNE_MS, () => this.#prune());
  }

  /** How a row in flight ends, as `onEnded`; null for another. */
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

  /** Lets a row of each lane that waits find out at once whether its external service takes it. */
  probe(): Promise<void> {
    for (const kind of OUTBOX_KINDS) this.#lanes[kind].breaker.probe();
    return this.look();
  }

  /**
   * Starts the rows that may start now; resolves when they are in flight, which may take several calls of the state.
   * Calls that come while one is at work share the next one. Never throws.
   */
  look(): Promise<void> {
    this.#nextPass ??= this.#pass.then(() => {
      this.#nextPass = null;
      this.#pass = this.#start();
      return this.#pass;
    });
    return this.#nextPass;
  }

  /** Starts nothing more; what is in flight may take `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped.abort();
    await Promise.all([this.#keeping, ...OUTBOX_KINDS.map((kind) => this.#lanes[kind].stop(graceMs))]);
  }

  async #start(): Promise<void> {
    await this.#lanes.message.start();
    await Promise.all([this.#lanes.issue.start(), this.#lanes.comment.start()]);
  }

  /** Keeps why a lane is paused for the next process; what cannot be kept is kept when a row finds out again. */
  #keepPause(kind: OutboxKind, code: string | null): void {
    const keep = () => this.#parts.durable.pauseLane(kind, code).catch(() => {});
    if (this.isLeading) this.#keeping = this.#keeping.then(keep);
  }

  async #lead(): Promise<void> {
    const { durable, log } = this.#parts;
    const leads = await durable.lead().catch(() => null);
    const before = this.#leads;
    if (leads && before === false) {
      const kept = await durable.lanes().catch(() => null);
      for (const kind of OUTBOX_KINDS) this.#lanes[kind].recall(kept?.[kind] ?? null);
    }
    if (this.isLeading !== (leads === true)) log.info(ROLE_LINES[`${leads}`]);
    this.#leads = leads;
    for (const kind of OUTBOX_KINDS) {
      const { breaker } = this.#lanes[kind];
      // What it found out while the state was unavailable is newer than what was kept.
      if (leads && before === null) this.#keepPause(kind, breaker.pausedBy);
      if (leads === false) breaker.recall(null);
    }
  }

  async #prune(): Promise<void> {
    if (!this.isLeading) return;
    try {
      await this.#parts.durable.prune();
      this.#removals.worked();
    } catch (error) {
      // A state that is closed while it removes: the next process goes on.
      if (!this.#stopped.signal.aborted) this.#removals.failed({ cause: nameOf(error) });
    }
  }

  async #every(ms: number, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await this.#parts.sleep(ms, signal);
      if (!signal.aborted) await work();
    }
  }
}
