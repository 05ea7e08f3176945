import type { Socket } from "node:net";
import { clearInterval, setInterval } from "node:timers";

/**
 * How long a connection may rest between two requests; longer than proxies keep theirs, so that they close first: a
 * request that meets a connection which is being closed is lost, and no proxy sends a POST twice. Most keep theirs for
 * 60 or 90 seconds, Caddy for 120, Google's load balancers for 600.
 */
export const IDLE_MS = 660_000;

/**
 * What a connection is doing.
 *
 * Shape: `new` has brought no whole head yet; `working` waits for an answer; `sending`: its peer has not taken in all
 *        that was written; `idle` was served and rests; `next` has begun to bring another request; `closing` has had
 *        its last answer.
 */
export type Phase = "new" | "working" | "sending" | "idle" | "next" | "closing";

/** How long a connection may stay in a phase; without a number there is no limit. */
export type PhaseLimits = Partial<Record<Phase, number>>;

const LIMITS_MS: PhaseLimits = { new: 10_000, sending: 30_000, idle: IDLE_MS, next: 10_000, closing: 1_000 };
/** How long an open connection may take to bring its request while the server ends. */
const LAST_CHANCE_MS = 250;
/** The same of one that rests: a proxy that uses it within this time learns from the answer that it was the last. */
const LAST_REST_MS = 1_000;
const LAST_LIMITS_MS: PhaseLimits = { new: LAST_CHANCE_MS, idle: LAST_REST_MS, next: LAST_CHANCE_MS };

/** The shortest time between two calls of `onCrowded`. */
const TELL_MS = 60_000;

/** Which phases give way when the server is full, in this order. */
const GIVES_WAY: readonly Phase[] = ["closing", "new", "idle"];

/**
 * How long what is overdue is kept, so that what has arrived is read: after a busy moment that may be the request of a
 * connection that rested.
 */
const UNREAD_MS = 10;

/** How often per shortest limit all connections are checked: a timer for each would cost more than the requests. */
const LOOKS = 4;

/**
 * The open connections of a server: how many there may be, how long each may stay in a phase, and how they end.
 *
 * Behaviour: when `most` are open, a new one takes the place of the oldest that has had its last answer, else of the
 *            oldest that has brought no request, else of the one that rests for longest. Where there is none of these,
 *            the new one is refused. `end` resolves when no connection is left: those without a request get a moment,
 *            because one may be on its way, and those at work get `graceMs`.
 */
export class Connections {
  readonly #most: number;
  #limitsMs: PhaseLimits;
  readonly #phaseOf = new Map<Socket, Phase>();
  /** When each entered its phase, by the monotonic clock; the oldest comes first. */
  readonly #sinceMs: Record<Phase, Map<Socket, number>> = {
    new: new Map(),
    working: new Map(),
    sending: new Map(),
    idle: new Map(),
    next: new Map(),
    closing: new Map(),
  };
  #looking: ReturnType<typeof setInterval> | null = null;
  #closedForOthers = 0;
  #toldMs = Number.NEGATIVE_INFINITY;
  readonly #onCrowded: (closed: number) => void;
  #isEnding = false;
  #onNone: () => void = () => {};

  constructor({
    most,
    limitsMs,
    onCrowded = () => {},
  }: {
    most: number;
    limitsMs?: PhaseLimits;
    onCrowded?: (closed: number) => void;
  }) {
    this.#most = most;
    this.#limitsMs = { ...LIMITS_MS, ...limitsMs };
    this.#onCrowded = onCrowded;
  }

  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Adds a connection; false when there is no place for it. */
  add(socket: Socket): boolean {
    if (this.#phaseOf.size >= this.#most && !this.#makeRoom()) return false;
    // Every error is followed by "close"; without this listener it would end the process.
    socket.on("error", () => {});
    socket.once("close", () => this.#forget(socket));
    this.#phaseOf.set(socket, "new");
    this.enter(socket, "new");
    return true;
  }

  /** The connection is in this phase from now on. */
  enter(socket: Socket, phase: Phase): void {
    const before = this.#phaseOf.get(socket);
    if (before === undefined) return;
    this.#sinceMs[before].delete(socket);
    this.#phaseOf.set(socket, phase);
    this.#sinceMs[phase].set(socket, performance.now());
    this.#watch();
  }

  async end(graceMs: number): Promise<void> {
    this.#isEnding = true;
    const none = new Promise<void>((resolve) => {
      this.#onNone = resolve;
    });
    this.#shortenLimits();
    const limit = setTimeout(() => this.#destroyAll(), graceMs);
    this.#tellWhenNone();
    await none;
    clearTimeout(limit);
    this.#unwatch();
  }

  #shortenLimits(): void {
    this.#limitsMs = { ...this.#limitsMs, ...LAST_LIMITS_MS };
    for (const phase of ["new", "idle", "next"] as const)
      for (const socket of [...this.#sinceMs[phase].keys()]) this.enter(socket, phase);
    this.#unwatch();
    this.#watch();
  }

  #watch(): void {
    if (this.#looking !== null || this.#phaseOf.size === 0) return;
    const shortestMs = Math.min(...Object.values(this.#limitsMs));
    this.#looking = setInterval(() => this.#look(), shortestMs / LOOKS).unref();
  }

  #unwatch(): void {
    if (this.#looking !== null) clearInterval(this.#looking);
    this.#looking = null;
  }

  #look(): void {
    const now = performance.now();
    this.#tellOfCrowd(now);
    if (this.#phaseOf.size === 0) this.#unwatch();
    setTimeout(() => this.#closeOverdue(now), UNREAD_MS);
  }

  #closeOverdue(now: number): void {
    for (const [phase, limitMs] of Object.entries(this.#limitsMs) as [Phase, number][])
      for (const [socket, sinceMs] of this.#sinceMs[phase]) {
        if (now - sinceMs < limitMs) break;
        socket.destroy();
      }
  }

  #tellOfCrowd(now: number): void {
    if (this.#closedForOthers === 0 || now - this.#toldMs < TELL_MS) return;
    this.#onCrowded(this.#closedForOthers);
    this.#closedForOthers = 0;
    this.#toldMs = now;
  }

  #makeRoom(): boolean {
    this.#closedForOthers += 1;
    for (const phase of GIVES_WAY)
      for (const socket of this.#sinceMs[phase].keys()) {
        socket.destroy();
        this.#forget(socket);
        return true;
      }
    return false;
  }

  #destroyAll(): void {
    for (const socket of [...this.#phaseOf.keys()]) {
      socket.destroy();
      this.#forget(socket);
    }
  }

  #forget(socket: Socket): void {
    const phase = this.#phaseOf.get(socket);
    if (phase === undefined) return;
    this.#phaseOf.delete(socket);
    this.#sinceMs[phase].delete(socket);
    this.#tellWhenNone();
  }

  #tellWhenNone(): void {
    if (this.#phaseOf.size === 0) this.#onNone();
  }
}
