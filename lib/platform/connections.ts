import type { Socket } from "node:net";
import { clearInterval, setInterval } from "node:timers";

/** How long a connection may stay without a request; longer than proxies keep theirs, so that they close first. */
export const IDLE_MS = 120_000;
/** While the server ends: how long a connection that is open already may take to bring its request. */
const LAST_CHANCE_MS = 250;

/** How often they are looked at in such a time: a timer for each of them would cost more than the requests themselves. */
const LOOKS = 24;

type Timer = ReturnType<typeof setInterval>;

/**
 * The open connections of a server, and how they end.
 *
 * Shape: a connection rests or carries requests; one that rests too long is closed. `end` resolves when none is left:
 *        those that rest get a moment, because a request may be under way to us, and those at work get `graceMs`.
 */
export class Connections {
  readonly #working = new Map<Socket, number>();
  /** Since when each rests, by the monotonic clock. */
  readonly #restingSinceMs = new Map<Socket, number>();
  #looking: Timer;
  #isEnding = false;
  #onNone: () => void = () => {};

  constructor(idleMs = IDLE_MS) {
    this.#looking = this.#closeThoseThatRest(idleMs);
  }

  get isEnding(): boolean {
    return this.#isEnding;
  }

  add(socket: Socket): void {
    // Whatever breaks a connection ends in "close"; without a listener it would end the process.
    socket.on("error", () => {});
    socket.once("close", () => this.#forget(socket));
    this.#rest(socket);
  }

  /** A request has begun on the connection; the answer's end is told to the function that this returns. */
  began(socket: Socket): () => void {
    this.#restingSinceMs.delete(socket);
    this.#working.set(socket, (this.#working.get(socket) ?? 0) + 1);
    return () => {
      const left = (this.#working.get(socket) ?? 0) - 1;
      if (left > 0) this.#working.set(socket, left);
      else if (this.#working.delete(socket) && !socket.destroyed) this.#rest(socket);
      this.#tellWhenNone();
    };
  }

  async end(graceMs: number): Promise<void> {
    this.#isEnding = true;
    const none = new Promise<void>((resolve) => {
      this.#onNone = resolve;
    });
    for (const socket of this.#restingSinceMs.keys()) this.#rest(socket);
    clearInterval(this.#looking);
    this.#looking = this.#closeThoseThatRest(LAST_CHANCE_MS);
    const limit = setTimeout(() => this.#destroyAll(), graceMs);
    this.#tellWhenNone();
    await none;
    clearTimeout(limit);
    clearInterval(this.#looking);
  }

  #closeThoseThatRest(limitMs: number): Timer {
    const look = () => {
      const now = performance.now();
      for (const [socket, sinceMs] of this.#restingSinceMs) if (now - sinceMs >= limitMs) socket.destroy();
    };
    return setInterval(look, limitMs / LOOKS).unref();
  }

  #rest(socket: Socket): void {
    this.#restingSinceMs.set(socket, performance.now());
  }

  #forget(socket: Socket): void {
    this.#restingSinceMs.delete(socket);
    this.#working.delete(socket);
    this.#tellWhenNone();
  }

  #destroyAll(): void {
    for (const socket of [...this.#restingSinceMs.keys(), ...this.#working.keys()]) {
      socket.destroy();
      this.#forget(socket);
    }
  }

  #tellWhenNone(): void {
    if (this.#working.size + this.#restingSinceMs.size === 0) this.#onNone();
  }
}
