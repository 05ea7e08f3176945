import type { StartQuota } from "../../../platform/rate/token-bucket.ts";
import type { DueQuery, DueRow, Settlement, State } from "../../state/contract.ts";
import { priorityOf } from "../../state/stored.ts";
import type { AttemptResult } from "../attempts/attempt.ts";
import type { GatherDigest } from "../messages/digest-gatherer.ts";
import type { ToldRows } from "../messages/message-texts.ts";
import type { Aside } from "../unkept/aside.ts";
import { Channel } from "./channel.ts";
import { Delivery, type DeliveryDependencies } from "./delivery.ts";
import { HoldMemory } from "./hold-memory.ts";

/** What a sender works with; `rate` is absent where the peer's own answers set the pace. */
export type SenderDependencies = Omit<DeliveryDependencies, "state"> & {
  state: Pick<State, "due" | "begin" | "settle" | "membersOf" | "hold">;
  /** How many rows may be on their way at once. */
  concurrency: number;
  rate?: StartQuota;
  /** Absent where each row goes out by itself. */
  gatherDigest?: GatherDigest;
  /** Called when a row has ended, so that another may start. */
  onFree: () => void;
  /** Called each time the outbox could be read. */
  onRead?: () => void;
};

type Flight = { rows: ToldRows; ending: Promise<Settlement | null> };

/**
 * Delivers the rows of one kind, a few at once.
 *
 * Shape:     `inFlight` resolves to how the row was settled, or to null when no attempt was made or the service stopped
 *            before its end was recorded; it is null for a row that is not on its way.
 * Behaviour: `pump` starts the rows that may start now and resolves when they are on their way. A row stays on its way
 *            until its result is recorded, and with it all rows that its text tells.
 */
export class Sender implements Aside {
  readonly #dependencies: SenderDependencies;
  readonly #channel: Channel;
  readonly #delivery: Delivery;
  readonly #holdMemory: HoldMemory;
  /** By every row that is on its way; a flight of several rows is there several times. */
  readonly #flights = new Map<number, Flight>();
  readonly #giveUp = new AbortController();
  #sending = 0;
  #sendingAside = 0;
  #givesWay = () => false;
  #isOpen = true;
  #pumping: Promise<void> | null = null;
  #pumpAgain = false;

  constructor(dependencies: SenderDependencies) {
    this.#dependencies = dependencies;
    this.#channel = new Channel(dependencies);
    this.#holdMemory = new HoldMemory(dependencies);
    this.#delivery = new Delivery(dependencies, {
      channel: this.#channel,
      signal: this.#giveUp.signal,
      isOpen: () => this.#isOpen,
    });
  }

  /** The code of the refusal for which every row waits, or null. */
  get stoppedBy(): string | null {
    return this.#channel.stoppedBy;
  }

  /** How many rows could start now. */
  get startable(): number {
    if (!this.#isOpen || this.#channel.isPaused) return 0;
    const { concurrency, rate, monotonicMs } = this.#dependencies;
    const paced = rate?.available(monotonicMs()) ?? Number.POSITIVE_INFINITY;
    const most = this.#channel.isProbing ? 1 : concurrency;
    return Math.max(0, Math.min(most - this.#sending, paced));
  }

  /** Whether something that is no row could start now; rows on their way that cannot be recorded do not count. */
  get mayStart(): boolean {
    if (!this.#isOpen || this.#channel.isPaused) return false;
    const { concurrency, rate, monotonicMs } = this.#dependencies;
    const most = this.#channel.isProbing ? 1 : concurrency;
    return this.#sendingAside < most && (rate?.available(monotonicMs()) ?? 1) > 0;
  }

  /** Makes one attempt for something that is no row, as for a row; records nothing. */
  async send(rowOf: () => Promise<DueRow | null>, signal: AbortSignal): Promise<AttemptResult | null> {
    const { rate, monotonicMs, attempt } = this.#dependencies;
    rate?.take(monotonicMs());
    this.#sendingAside += 1;
    try {
      const row = await rowOf();
      if (row === null) rate?.giveBack();
      const result = row && (await attempt(row, signal));
      if (result !== null) this.#channel.observe(result);
      return result;
    } finally {
      this.#sendingAside -= 1;
    }
  }

  giveWayTo(isWaiting: () => boolean): void {
    this.#givesWay = isWaiting;
  }

  inFlight(row: number): Promise<Settlement | null> | null {
    return this.#flights.get(row)?.ending ?? null;
  }

  /** Whether a row of this fingerprint is on its way that was accepted before `row`. */
  isSending(fingerprint: string, row: number): boolean {
    return [...this.#flights].some(
      ([id, { rows }]) => id < row && rows.some(({ alert }) => alert.fingerprint === fingerprint),
    );
  }

  /** Takes up why an earlier process could not send; the next row finds out at once whether that is still so. */
  recall(code: string | null): void {
    this.#channel.recall(code);
    this.#holdMemory.recall(code);
  }

  /** Makes every row wait, for what was learnt of the peer without sending; to be said again each minute. */
  async hold(reason: { code: string; cause?: string | undefined }): Promise<void> {
    this.#channel.hold(reason);
    await this.#holdMemory.note(this.stoppedBy);
  }

  /** The peer is known to take alerts: goes on. */
  async open(): Promise<void> {
    this.#channel.open();
    await this.#holdMemory.note(this.stoppedBy);
  }

  /** Ends a pause: the next row finds out about the peer at once. */
  probe(): void {
    this.#channel.probe();
  }

  /** Starts the rows that may start now; a row for which `mayStart` returns false is left for later. */
  pump(
    query: Pick<DueQuery, "issueGraceMs">,
    mayStart: (row: DueRow) => boolean = () => true,
  ): Promise<void> {
    this.#pumpAgain = true;
    this.#pumping ??= this.#pump(query, mayStart).finally(() => {
      this.#pumping = null;
      // A call may have come between the last look and this line.
      return this.#pumpAgain ? this.pump(query, mayStart) : undefined;
    });
    return this.#pumping;
  }

  /** Starts nothing more and waits for the rows on their way; after `graceMs` they are given up. */
  async stop(graceMs: number): Promise<void> {
    this.#isOpen = false;
    const flights = [...this.#flights.values()].map(({ ending }) => ending);
    if (flights.length > 0) {
      const timer = setTimeout(() => this.#giveUp.abort(), graceMs);
      await Promise.all(flights);
      clearTimeout(timer);
    }
    await this.#holdMemory.note(this.stoppedBy);
  }

  async #pump(query: Pick<DueQuery, "issueGraceMs">, mayStart: (row: DueRow) => boolean): Promise<void> {
    await this.#holdMemory.note(this.stoppedBy);
    while (this.#pumpAgain) {
      this.#pumpAgain = false;
      if (this.startable === 0 || this.#givesWay()) return;
      // It may have begun to give way while it looked.
      for (const rows of await this.#next(query))
        if (mayStart(rows[0]) && this.startable > 0 && !this.#givesWay()) this.#start(rows);
    }
  }

  /** The sends that may start now: a row each, or several rows that one message tells. */
  async #next({ issueGraceMs }: Pick<DueQuery, "issueGraceMs">): Promise<ToldRows[]> {
    const { kind, state, gatherDigest, onRead } = this.#dependencies;
    const except = [...this.#flights.keys()];
    const rows = await state.due(kind, { limit: this.startable, except, issueGraceMs });
    onRead?.();
    const alone = rows.map((row): ToldRows => [row]);
    if (gatherDigest === undefined || !rows.some(isDigestible)) return alone;
    const [first, ...others] = await gatherDigest(except);
    if (first === undefined || others.length === 0) return alone;
    // There may be another one to tell together.
    this.#pumpAgain = true;
    return [...alone.filter(([row]) => !isDigestible(row)), [first, ...others]];
  }

  #start(rows: ToldRows): void {
    const { rate, monotonicMs, onFree } = this.#dependencies;
    rate?.take(monotonicMs());
    const ids = [...rows.map(({ id }) => id), ...rows[0].members];
    this.#sending += 1;
    const ending = this.#delivery
      .deliver(rows)
      .then(({ settlement, isSent }) => {
        // A state that records no beginnings must not use up the pace of what goes out without it, nor may look-ups.
        if (!isSent) rate?.giveBack();
        return settlement;
      })
      .finally(() => {
        this.#sending -= 1;
        for (const id of ids) this.#flights.delete(id);
        onFree();
      });
    for (const id of ids) this.#flights.set(id, { rows, ending });
  }
}

/** Whether a row may be told together with others: never tried, and not critical. */
function isDigestible({ text, alert }: DueRow): boolean {
  return text === null && priorityOf(alert) > 0;
}
