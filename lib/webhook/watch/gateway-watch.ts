import type { Log } from "../../platform/log/log.ts";

/**
 * What the gateway says of the instance that sends.
 *
 * Shape: `not_open` only when the gateway itself says so; `unknown` when it cannot be reached, or its answer not read.
 */
export type GatewayState =
  | { status: "open" }
  | { status: "not_open"; cause: string }
  | { status: "unknown"; code: string };

/** Asks the gateway for the state of the instance; never throws. */
export type AskGatewayState = (signal: AbortSignal) => Promise<GatewayState>;

/**
 * The channel of the messages, as far as it can be held from outside.
 *
 * Shape: `stoppedBy` returns the code for which messages wait, or null; the watch or a delivery found it out.
 */
export type WhatsappChannel = {
  hold(reason: { code: string; cause: string }): Promise<void>;
  open(): Promise<void>;
  stoppedBy(): string | null;
};

/** What the watch over the gateway works with. */
export type GatewayWatchDependencies = {
  ask: () => AskGatewayState;
  whatsapp: WhatsappChannel;
  /** Whether this process is the one that delivers: another one's messages are not its to hold. */
  isLeading: () => boolean;
  log: Log;
  monotonicMs: () => number;
};

const CODE = "sem_instancia_gateway";

/** How often the gateway is asked. */
const LOOK_MS = 60_000;
/** How often while messages are held: the gateway reconnects within seconds, and alerts wait for it. */
const LOOK_WHILE_HELD_MS = 5_000;
/** The shortest time between two releases: a gateway that says open and sends nothing must not be tried in a loop. */
const BETWEEN_OPENINGS_MS = 5_000;

/**
 * Watches whether the gateway's instance is connected.
 *
 * Shape:     `isOpen` is null while that is not known; `forMs` is for how long it has been so.
 * Behaviour: an instance that is not open holds the messages, an open one lets them go at once. A gateway that cannot
 *            be asked is a failing peer and holds nothing. Looks that come while one is on its way share the next one,
 *            so that a storm of failures puts one question at a time.
 */
export class GatewayWatch {
  readonly #dependencies: GatewayWatchDependencies;
  #isOpen: boolean | null = null;
  #changedAtMs: number;
  #isHolding = false;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #openedAtMs = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;
  #isWanted = false;

  constructor(dependencies: GatewayWatchDependencies) {
    this.#dependencies = dependencies;
    this.#changedAtMs = dependencies.monotonicMs();
  }

  get isOpen(): boolean | null {
    return this.#isOpen;
  }

  get forMs(): number {
    return this.#dependencies.monotonicMs() - this.#changedAtMs;
  }

  /** Asks when it is time to. */
  async lookInTime(signal: AbortSignal): Promise<void> {
    const { whatsapp, monotonicMs } = this.#dependencies;
    const isHeld = this.#isHolding || whatsapp.stoppedBy() === CODE;
    const everyMs = isHeld ? LOOK_WHILE_HELD_MS : LOOK_MS;
    if (monotonicMs() - this.#lookedAtMs >= everyMs) await this.look(signal);
  }

  /** Asks now, or once more after the question that is on its way: its answer may be older than what is asked about. */
  async look(signal: AbortSignal): Promise<void> {
    this.#isWanted = true;
    while (this.#isWanted && !signal.aborted) {
      this.#looking ??= this.#ask(signal).finally(() => {
        this.#looking = null;
      });
      await this.#looking;
    }
  }

  async #ask(signal: AbortSignal): Promise<void> {
    this.#isWanted = false;
    this.#lookedAtMs = this.#dependencies.monotonicMs();
    const state = await this.#dependencies.ask()(signal);
    if (!signal.aborted) await this.#take(state);
  }

  async #take(state: GatewayState): Promise<void> {
    const { whatsapp, log } = this.#dependencies;
    const wasOpen = this.#isOpen;
    this.#isOpen = state.status === "unknown" ? null : state.status === "open";
    if (this.#isOpen !== wasOpen) this.#changedAtMs = this.#dependencies.monotonicMs();
    if (state.status === "unknown" && wasOpen !== null)
      log.warn("The state of the gateway's instance is not known", { code: state.code });
    if (state.status === "open" && wasOpen === false) log.info("The gateway's instance is connected again");
    if (!this.#dependencies.isLeading()) {
      this.#isHolding = false;
      return;
    }
    if (state.status === "not_open") {
      this.#isHolding = true;
      await whatsapp.hold({ code: CODE, cause: state.cause });
      return;
    }
    // A hold that a send began ends only when the gateway itself says that the instance is open.
    if (this.#isHolding || state.status === "open") await this.#open();
  }

  async #open(): Promise<void> {
    const { whatsapp, monotonicMs } = this.#dependencies;
    // Another refusal, such as one of our key, is not over because the instance is connected.
    if (whatsapp.stoppedBy() === CODE) {
      if (monotonicMs() - this.#openedAtMs < BETWEEN_OPENINGS_MS) return;
      this.#openedAtMs = monotonicMs();
      await whatsapp.open();
    }
    this.#isHolding = false;
  }
}
