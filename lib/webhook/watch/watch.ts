import type { Log } from "../../platform/log/log.ts";
import type { Ping } from "../../providers/ping.ts";
import type { Attempt } from "../delivery/attempts/attempt.ts";
import { SecondChannel, type SendAlertEmail } from "../second-channel/second-channel.ts";
import { UnheardMemory } from "../second-channel/unheard-memory.ts";
import { UnkeptMemory } from "../second-channel/unkept-memory.ts";
import type { AcceptedAlert, State } from "../state/contract.ts";
import { DeadMan } from "./dead-man.ts";
import { type AskGatewayState, GatewayWatch, type WhatsappChannel } from "./gateway-watch.ts";
import { type AskStatus, PendingMessages, UNACKNOWLEDGED_LIMIT } from "./pending-messages.ts";

/** The peers of the watch; null where none is set up. */
export type WatchPeers = {
  gatewayState: AskGatewayState;
  messageStatus: AskStatus;
  sendEmail: SendAlertEmail | null;
  ping: Ping | null;
};

/** What the watch over the alarm works with. */
export type WatchDependencies = {
  state: Pick<
    State,
    | ("unheard" | "unacknowledged" | "recordEmailed" | "keptEmail" | "keepEmail")
    | ("deliveredBetween" | "check" | "lead" | "stats")
  >;
  /** Asked for each time, so that they may be exchanged while the service runs. */
  peers: () => WatchPeers;
  whatsapp: WhatsappChannel;
  isLeading: () => boolean;
  isTelling: () => boolean;
  log: Log;
  nowMs: () => number;
  monotonicMs: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};

/**
 * What the watch knows now; null while it is not known.
 *
 * Shape: `gatewayOpen` says whether the gateway's instance is connected, `gatewayForMs` for how long it has been so.
 */
export type WatchView = {
  readonly gatewayOpen: boolean | null;
  readonly gatewayForMs: number;
  readonly pendingMessages: number | null;
  readonly newestUnacknowledged: number | null;
};

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
/** How often the second channel looks for alerts whose three minutes are over. */
const UNHEARD_LOOK_MS = 5_000;

/**
 * Watches the alarm itself: the gateway's instance, messages that stay pending, alerts that WhatsApp does not take, and
 * whether the service is well.
 *
 * Behaviour: begins with `start` and ends with `stop`; nothing that fails here ends it or keeps an alert waiting.
 */
export class Watch {
  readonly #dependencies: WatchDependencies;
  readonly #gateway: GatewayWatch;
  readonly #pending: PendingMessages;
  readonly #secondChannel: SecondChannel;
  readonly #deadMan: DeadMan;
  readonly #rows: UnheardMemory;
  /** The urgent alerts that the state does not keep, for the second channel. */
  readonly unkept: UnkeptMemory;
  readonly #stopped = new AbortController();
  #running: Promise<unknown> | null = null;
  #lastFailure: string | null = null;

  constructor(dependencies: WatchDependencies) {
    const { state, peers, whatsapp, isLeading, isTelling, log, nowMs, monotonicMs } = dependencies;
    this.#dependencies = dependencies;
    this.#gateway = new GatewayWatch({
      ask: () => peers().gatewayState,
      whatsapp,
      isLeading,
      log,
      monotonicMs,
    });
    this.#pending = new PendingMessages({ state, ask: () => peers().messageStatus });
    this.#rows = new UnheardMemory(dependencies);
    this.unkept = new UnkeptMemory(dependencies);
    this.#secondChannel = new SecondChannel({
      state,
      rows: this.#rows,
      unkept: this.unkept,
      unacknowledged: () => this.#unacknowledged(),
      send: () => peers().sendEmail,
      isTelling,
      reason: () => whatsapp.stoppedBy() ?? this.#lastFailure,
      log,
      nowMs,
      monotonicMs,
    });
    this.#deadMan = new DeadMan({
      state,
      ping: () => peers().ping,
      isLeading,
      isAcknowledged: () => this.#unacknowledged().length === 0,
      log,
      monotonicMs,
    });
  }

  get view(): WatchView {
    return {
      gatewayOpen: this.#gateway.isOpen,
      gatewayForMs: this.#gateway.forMs,
      pendingMessages: this.#pending.count,
      newestUnacknowledged: this.#pending.newest?.length ?? null,
    };
  }

  /** An attempt of a message that also tells the watch how it ended. */
  watched(attempt: Attempt): Attempt {
    return async (row, signal) => {
      const result = await attempt(row, signal);
      this.#lastFailure = result.status === "delivered" ? null : result.code;
      if (result.status === "delivered") this.#rows.delivered(row.id);
      // Not waited for: the row is to be settled now.
      if (result.status !== "delivered") void this.#safely(() => this.#gateway.look(this.#stopped.signal));
      return result;
    };
  }

  /** The state keeps these alerts. */
  accepted(alerts: readonly AcceptedAlert[]): void {
    this.#rows.accepted(alerts);
    this.#rows.emailed(this.unkept.kept(alerts));
  }

  start(): void {
    this.#running ??= Promise.all([
      this.#every(SECOND_MS, (signal) => this.#gateway.lookInTime(signal)),
      this.#every(MINUTE_MS, (signal) => this.#countPending(signal)),
      this.#every(UNHEARD_LOOK_MS, (signal) => this.#secondChannel.look(signal)),
      this.#every(MINUTE_MS, (signal) => this.#deadMan.beat(signal)),
    ]);
  }

  /** Pings at once, as when the check may have been changed: whether the new one is reached is seen in a moment. */
  async probe(): Promise<void> {
    await this.#safely(() => this.#deadMan.beat(this.#stopped.signal));
  }

  /** Ends what is on its way, too. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  /** The newest messages in a row that WhatsApp does not acknowledge, once they are too many for chance. */
  #unacknowledged(): readonly string[] {
    const newest = this.#pending.newest ?? [];
    return newest.length >= UNACKNOWLEDGED_LIMIT ? newest : [];
  }

  async #countPending(signal: AbortSignal): Promise<void> {
    if (this.#dependencies.isLeading()) await this.#pending.look(signal);
    else this.#pending.forget();
  }

  async #every(ms: number, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await this.#safely(() => work(signal));
      await this.#dependencies.sleep(ms, signal).catch(() => {});
    }
  }

  async #safely(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      const cause = error instanceof Error ? error.name : typeof error;
      this.#dependencies.log.warn("The watch over the alarm could not look", { cause });
    }
  }
}
