import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

const HEAD_END = Buffer.from("\r\n\r\n");
const NOTHING = Buffer.alloc(0);
/** How long what has reached its limit stays, so that what arrived while the process was busy is read. */
const UNREAD_MS = 10;
/** How much is still read after the last answer, so that the sender gets to see the answer. */
const LINGER_BYTES = 1_048_576;

/**
 * What a connection is doing.
 *
 * Shape: `head`: the head of a request has to arrive; `working`: the request waits for its answer; `answering`: the
 *        answer is being sent; `idle`: it was served and rests; `closing`: it has had its last answer.
 */
export type ConnectionState = "head" | "working" | "answering" | "idle" | "closing";

/** How long a connection may stay in a state, in milliseconds; without a number there is no limit. */
export type StateLimits = Partial<Record<ConnectionState, number>>;

/**
 * A connection from which the HTTP parser gets one request at a time.
 *
 * Behaviour: hands on what arrives up to the end of a head, then the request's body as far as it is read; meanwhile the
 *            socket is paused and the rest stays in the kernel. A connection that stays in a state for longer than its
 *            limit is closed. After the last answer it is closed for writing at once and what still arrives is dropped:
 *            closed with unread bytes it would be reset, and the sender would not see the answer.
 */
export class Connection extends Duplex {
  readonly #socket: Socket;
  readonly #limitsMs: StateLimits;
  #state: ConnectionState = "head";
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** What has arrived and has not been handed on. */
  #received: Buffer | null = null;
  #hasSenderEnded = false;
  /** The last bytes handed on of an unfinished head, or of an unfinished body in chunks. */
  #tail: Buffer = NOTHING;
  #request: IncomingMessage | null = null;
  #isBodyWanted = false;
  /** How much of the body has not been handed on; null for one in chunks. */
  #bodyLeft: number | null = null;
  #droppedBytes = 0;

  /** Takes over `socket`; the limits are for each state, and `onBegin` is called when its first bytes have come. */
  constructor(socket: Socket, limitsMs: StateLimits, onBegin: () => void) {
    super({ allowHalfOpen: true });
    this.#socket = socket;
    this.#limitsMs = limitsMs;
    this.enter("head");
    // Every error is followed by "close"; without a listener it would end the process.
    socket.on("error", () => {});
    socket.once("data", onBegin);
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.on("end", () => {
      this.#hasSenderEnded = true;
      // Without a byte there is no parser, which would end the connection.
      if (this.readableFlowing === null) this.destroy();
      else this.#handOn();
    });
    socket.on("close", () => this.destroy());
    this.on("resume", () => this.#handOn());
    // After this first read the parser, unless paused, parses what is pushed before `push` returns.
    this.read(0);
  }

  /** What the connection is doing. */
  get state(): ConnectionState {
    return this.#state;
  }

  /** The address at the other end; node:http looks for it here. */
  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }

  /** The connection is in this state from now on. */
  enter(state: ConnectionState): void {
    this.#state = state;
    const limitMs = this.#limitsMs[state];
    if (limitMs !== undefined) this.closeAfter(limitMs);
    else clearTimeout(this.#timer);
  }

  /** Closes the connection unless it enters another state within that time. */
  closeAfter(limitMs: number): void {
    clearTimeout(this.#timer);
    if (this.destroyed) return;
    this.#timer = setTimeout(() => {
      this.#timer = setTimeout(() => this.destroy(), UNREAD_MS);
    }, limitMs);
  }

  /** A request has begun: until its answer is sent only its body is handed on, as far as it is wanted. */
  began(request: IncomingMessage, answer: ServerResponse): void {
    this.enter("working");
    const length = request.headers["content-length"];
    this.#bodyLeft = length === undefined ? null : Number(length);
    this.#request = request;
    this.#isBodyWanted = false;
    answer.once("close", () => {
      this.#request = null;
      if (this.writableEnded || this.destroyed) return;
      this.enter(this.#received === null ? "idle" : "head");
      this.#handOn();
    });
  }

  /** The request's body is read: more of it is handed on until some of it has come. */
  wantBody(): void {
    const request = this.#request;
    if (request === null) return;
    this.#isBodyWanted = true;
    request.once("data", () => {
      this.#isBodyWanted = false;
    });
    this.#handOn();
  }

  /** Deno sets a time limit after each answer; here the limits are those of the states. */
  setTimeout(): this {
    return this;
  }

  override _read(): void {}

  override _write(chunk: Uint8Array, _encoding: string, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  /** Head and body of an answer in one packet. */
  override _writev(chunks: { chunk: Uint8Array }[], done: (error?: Error | null) => void): void {
    this.#socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: () => void): void {
    this.#received = null;
    this.enter("closing");
    this.#socket.end(done);
    this.#socket.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#timer);
    this.#received = null;
    this.#socket.destroy();
    done(error);
  }

  #receive(chunk: Buffer): void {
    if (this.writableEnded) {
      this.#droppedBytes += chunk.byteLength;
      if (this.#droppedBytes > LINGER_BYTES) this.destroy();
      return;
    }
    this.#received = this.#received === null ? chunk : Buffer.concat([this.#received, chunk]);
    if (this.#state === "idle") this.enter("head");
    this.#handOn();
  }

  #handOn(): void {
    while (this.#received !== null && this.#isWanted()) {
      const end = this.#endOfPiece(this.#received);
      const piece = this.#received.subarray(0, end);
      this.#received = end === this.#received.byteLength ? null : this.#received.subarray(end);
      this.push(piece);
    }
    if (this.writableEnded || this.destroyed) return;
    if (this.#received !== null) this.#socket.pause();
    else if (!this.#hasSenderEnded) this.#socket.resume();
    else if (this.#isWanted()) this.push(null);
  }

  /** Whether the parser may get more: always between requests, else while the request's body is being read. */
  #isWanted(): boolean {
    const isOpen = !this.readableEnded && !this.writableEnded && !this.destroyed;
    if (!isOpen || this.readableFlowing !== true || this.readableLength > 0) return false;
    if (this.#request === null) return true;
    return this.#isBodyWanted && !this.#request.complete && this.#bodyLeft !== 0;
  }

  /** Where a body of known length ends, or the next blank line: behind it another request may begin. */
  #endOfPiece(received: Buffer): number {
    if (this.#request !== null && this.#bodyLeft !== null) {
      const end = Math.min(received.byteLength, this.#bodyLeft);
      this.#bodyLeft -= end;
      return end;
    }
    const seen = Buffer.concat([this.#tail, received]);
    const at = seen.indexOf(HEAD_END);
    this.#tail = at === -1 ? seen.subarray(1 - HEAD_END.byteLength) : NOTHING;
    return at === -1
      ? received.byteLength
      : at + HEAD_END.byteLength - (seen.byteLength - received.byteLength);
  }
}
