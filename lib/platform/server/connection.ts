import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/** How much the parser gets first of what arrives: a few small requests at most begin before one is refused. */
const FIRST_BYTES = 256;

/** For how many milliseconds a connection may wait for a request's head, be idle, or stay after its last answer. */
export type StateLimits = Record<"head" | "idle" | "closing", number>;

/** Where a request came from: the address at the other end of its connection, null when it has gone. */
export type Origin = { address: string | null };

/**
 * A connection for the HTTP parser, with the back-pressure and the time limits that the runtimes lack.
 *
 * Behaviour: while a request is at work the parser gets no more than the body that is read of it; the rest stays in the
 *            kernel. After its last answer the connection is closed for writing and stays for a moment: closed with
 *            unread bytes it would be reset, and the sender would not see the answer.
 */
export class Connection extends Duplex {
  state: keyof StateLimits | "working" = "head";
  readonly origin: Origin;
  readonly #socket: Socket;
  readonly #limitsMs: StateLimits;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The requests that have no answer, null for one that could not be parsed; the first is at work. */
  readonly #begun: { message: IncomingMessage | null; answer: () => Promise<void> | void }[] = [];
  #isBodyWanted = false;
  #hasSenderEnded = false;

  /** Takes over `socket`; `onBegin` is called when its first bytes have come. */
  constructor(socket: Socket, limitsMs: StateLimits, onBegin: () => void) {
    super({ allowHalfOpen: true, readableHighWaterMark: 1 });
    this.#socket = socket;
    this.#limitsMs = limitsMs;
    this.origin = { address: socket.remoteAddress ?? null };
    this.#enter("head");
    // Every error is followed by "close"; without a listener it would end the process.
    socket.on("error", () => {});
    socket.once("data", () => {
      onBegin();
      this.on("data", () => (this.#isWanted() ? this.resume() : this.pause()));
    });
    socket.on("data", (chunk: Buffer) => {
      if (this.state === "idle") this.#enter("head");
      this.push(chunk.subarray(0, FIRST_BYTES));
      if (chunk.length > FIRST_BYTES) this.push(chunk.subarray(FIRST_BYTES));
      if (this.readableLength > 0) socket.pause();
    });
    socket.on("end", () => {
      this.#hasSenderEnded = true;
      // Without a byte there is no parser, which would end the connection.
      if (this.readableFlowing === null) this.destroy();
      else this.resume();
    });
    socket.on("close", () => this.destroy());
  }

  /** Deno sets a time limit after each answer; here the limits are those of the states. */
  setTimeout = (): this => this;

  /** Closes the connection unless it enters another state within that time. */
  closeAfter(limitMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.destroy(), limitMs);
  }

  /** The parser has read the head of a request: `answer` is called after those before it; a failure closes. */
  begin(message: IncomingMessage | null, answer: () => Promise<void> | void): void {
    if (this.#begun.push({ message, answer }) === 1) this.#work().catch(() => this.destroy());
  }

  /** The parser cannot read on: in the body of a request, which is refused at once, or behind all that were begun. */
  breakOff(answer: () => void): void {
    if (this.#begun.every(({ message }) => message?.complete)) this.begin(null, answer);
    else answer();
  }

  /** The body of the request at work is read. */
  wantBody(): void {
    this.#isBodyWanted = true;
    this.resume();
  }

  /** The parser resumes reading after each request, whether or not that is answered. */
  override resume(): this {
    if (!this.#isWanted()) return this;
    if (this.#hasSenderEnded && this.readableLength === 0) this.push(null);
    return super.resume();
  }

  override _read(): void {
    if (!this.writableEnded) this.#socket.resume();
  }

  /** Head and body of an answer in one packet. */
  override _writev(chunks: { chunk: Uint8Array }[], done: (error?: Error | null) => void): void {
    this.#socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: () => void): void {
    this.#enter("closing");
    this.#socket.end(done);
    // What has been read is dropped.
    this.removeAllListeners("data");
    super.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#timer);
    this.#socket.destroy();
    done(error);
  }

  #enter(state: keyof StateLimits): void {
    this.state = state;
    this.closeAfter(this.#limitsMs[state]);
  }

  async #work(): Promise<void> {
    clearTimeout(this.#timer);
    this.state = "working";
    for (let next = this.#begun[0]; next !== undefined; next = this.#begun[0]) {
      this.#isBodyWanted = false;
      await next.answer();
      this.#begun.shift();
      if (this.writableEnded || this.destroyed) return;
    }
    this.#enter(this.readableLength === 0 ? "idle" : "head");
    this.resume();
  }

  /** Whether the parser may get more: always between requests, else of a body whose reader has taken what came. */
  #isWanted(): boolean {
    const message = this.#begun[0]?.message;
    if (message === undefined) return !this.writableEnded;
    return message !== null && this.#isBodyWanted && !message.complete && message.readableLength === 0;
  }
}
