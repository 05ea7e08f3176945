import type { Socket } from "node:net";

/** How long a connection may stay without a request; longer than proxies keep theirs, so that they close first. */
export const IDLE_MS = 120_000;
/** While the server ends: how long a connection that is open already may take to bring its request. */
const LAST_CHANCE_MS = 250;

type Timer = ReturnType<typeof setTimeout>;

/**
 * The open connections of a server, and how they end.
 *
 * Shape: a connection rests or carries requests; one that rests too long is closed. `end` resolves when none is left:
 *        those that rest get a moment, because a request may be under way to us, and those at work get `graceMs`.
 */
export class Connections {
  readonly #working = new Map<Socket, number>();
  readonly #resting = new Map<Socket, Timer>();
  #isEnding = false;
  #onNone: () => void = () => {};

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
    clearTimeout(this.#resting.get(socket));
    this.#resting.delete(socket);
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
    for (const socket of this.#resting.keys()) this.#rest(socket);
    const limit = setTimeout(() => this.#destroyAll(), graceMs);
    this.#tellWhenNone();
    await none;
    clearTimeout(limit);
  }

  #rest(socket: Socket): void {
    clearTimeout(this.#resting.get(socket));
    const ms = this.#isEnding ? LAST_CHANCE_MS : IDLE_MS;
    this.#resting.set(
      socket,
      setTimeout(() => socket.destroy(), ms),
    );
  }

  #forget(socket: Socket): void {
    clearTimeout(this.#resting.get(socket));
    this.#resting.delete(socket);
    this.#working.delete(socket);
    this.#tellWhenNone();
  }

  #destroyAll(): void {
    for (const socket of [...this.#resting.keys(), ...this.#working.keys()]) {
      socket.destroy();
      this.#forget(socket);
    }
  }

  #tellWhenNone(): void {
    if (this.#working.size + this.#resting.size === 0) this.#onNone();
  }
}
