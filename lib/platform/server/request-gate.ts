import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import type { Allowance } from "./allowance.ts";
import type { Phase } from "./connections.ts";

const HEAD_END = Buffer.from("\r\n\r\n");
const NOTHING = Buffer.alloc(0);
/** How much may come before a request: the parser limits heads, but not the blank lines before them. */
const MOST_BEFORE_REQUEST_BYTES = 32_768;
/** How much is still read after the last answer, so that the sender gets to see the answer. */
const LINGER_BYTES = 1_048_576;

/**
 * What all connections of a server may use together.
 *
 * Shape: `unreadBytes` of requests whose turn has not come; `waitingClosers`: connections whose sender goes on sending
 *        after the last answer, left open and unread until their time is over. Further ones are closed at once.
 */
export type GateAllowances = { unreadBytes: Allowance; waitingClosers: Allowance };

/**
 * A connection that gives the HTTP parser its bytes only up to the end of the request that is being answered.
 *
 * Behaviour: hands on what has arrived in pieces, cut where a head or a body may end, because the parser begins every
 *            request that it gets. While a request is answered only its body is handed on, as far as it is asked for;
 *            the rest waits, one piece here and the others in the kernel. After the last answer the connection is
 *            closed for writing at once, and what still comes is thrown away: closed with unread bytes it would be
 *            reset, and the sender would not see the answer.
 */
export class RequestGate extends Duplex {
  readonly #raw: Socket;
  readonly #allowances: GateAllowances;
  readonly #enter: (phase: Phase) => void;
  /** What has arrived and has not been handed on. */
  #held: Buffer | null = null;
  #hasSenderEnded = false;
  #isIdle = false;
  #beforeRequestBytes = 0;
  /** The last bytes handed on of an unfinished head, or of an unfinished body in chunks. */
  #tail: Buffer = NOTHING;
  /** How much of the request's body is still to come; null without a known length. */
  #bodyLeftBytes: number | null = null;
  /** Whether the last piece ended where a request ends, judged without parsing. */
  #isBetweenRequests = false;
  #heldCounted = 0;
  #lingerBytes = 0;
  #isWaitingCloser = false;
  readonly #requests = new Set<IncomingMessage>();

  /** Takes over `raw`, whose first bytes are `first`; calls `enter` with each phase. */
  constructor(raw: Socket, first: Buffer, allowances: GateAllowances, enter: (phase: Phase) => void) {
    super({ allowHalfOpen: true });
    this.#raw = raw;
    this.#held = first;
    this.#allowances = allowances;
    this.#enter = enter;
    raw.on("data", (chunk: Buffer) => this.#take(chunk));
    raw.on("end", () => this.#takeEnd());
    raw.on("close", () => this.destroy());
    this.on("resume", () => this.#handOn());
    // After this first read the parser, unless paused, parses what is pushed before `push` returns.
    this.read(0);
  }

  /** The address at the other end; node:http looks for it here. */
  get remoteAddress(): string | undefined {
    return this.#raw.remoteAddress;
  }

  /** A request of this connection has begun. */
  began(message: IncomingMessage, answer: ServerResponse): void {
    this.#requests.add(message);
    this.#beforeRequestBytes = 0;
    const length = message.headers["content-length"];
    this.#bodyLeftBytes = length === undefined ? null : Number(length);
    this.#enter("working");
    message.on("resume", () => this.#handOn());
    answer.once("close", () => {
      this.#requests.delete(message);
      this.#rest();
      this.#handOn();
    });
  }

  /** Deno sets a time limit after each answer; here `Connections` keeps the limits. */
  setTimeout(): this {
    return this;
  }

  override _read(): void {}

  override _write(chunk: Uint8Array, _encoding: string, done: (error?: Error | null) => void): void {
    this.#enter("sending");
    this.#raw.write(chunk, (error) => {
      this.#enter("working");
      done(error);
    });
  }

  /** Head and body of an answer in one packet. */
  override _writev(chunks: { chunk: Uint8Array }[], done: (error?: Error | null) => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), "buffer", done);
  }

  override _final(done: () => void): void {
    this.#held = null;
    this.#countHeld();
    this.#enter("closing");
    this.#raw.end(done);
    this.#raw.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#held = null;
    this.#countHeld();
    if (this.#isWaitingCloser) this.#allowances.waitingClosers.giveBack(1);
    this.#raw.destroy();
    done(error);
  }

  #take(chunk: Buffer): void {
    if (this.writableEnded) this.#throwAway(chunk.byteLength);
    else {
      this.#held = this.#held === null ? chunk : Buffer.concat([this.#held, chunk]);
      if (this.#isIdle) this.#enter("next");
      this.#isIdle = false;
      this.#handOn();
    }
  }

  #throwAway(bytes: number): void {
    this.#lingerBytes += bytes;
    if (this.#lingerBytes <= LINGER_BYTES) return;
    this.#isWaitingCloser ||= this.#allowances.waitingClosers.take(1);
    if (this.#isWaitingCloser) this.#raw.pause();
    else this.destroy();
  }

  #takeEnd(): void {
    this.#hasSenderEnded = true;
    this.#handOn();
  }

  #handOn(): void {
    while (this.#held !== null && this.#isReading() && this.#isWanted()) this.#handOnPiece(this.#held);
    if (this.writableEnded || this.destroyed) return;
    if (!this.#countHeld()) this.destroy();
    else if (this.#held !== null) this.#raw.pause();
    else if (!this.#hasSenderEnded) this.#raw.resume();
    else if (this.#isReading() && this.#isWanted()) this.push(null);
  }

  /** Counts the bytes that wait here; false when all connections together keep too much. */
  #countHeld(): boolean {
    const more = (this.#held?.byteLength ?? 0) - this.#heldCounted;
    if (more > 0 && !this.#allowances.unreadBytes.take(more)) return false;
    if (more < 0) this.#allowances.unreadBytes.giveBack(-more);
    this.#heldCounted += more;
    return true;
  }

  #isReading(): boolean {
    const isOpen = !this.readableEnded && !this.writableEnded && !this.destroyed;
    return isOpen && this.readableFlowing === true && this.readableLength === 0;
  }

  /** Whether the parser may get more: always between requests, else while the request's body is being read. */
  #isWanted(): boolean {
    const [current] = this.#requests;
    if (current === undefined) return true;
    if (this.#bodyLeftBytes === 0) return false;
    return !current.complete && current.readableFlowing === true && current.readableLength === 0;
  }

  #handOnPiece(held: Buffer): void {
    const end = this.#cutOf(held);
    this.#held = end === held.byteLength ? null : held.subarray(end);
    this.#beforeRequestBytes += end;
    this.push(held.subarray(0, end));
    if (this.#requests.size === 0 && this.#beforeRequestBytes > MOST_BEFORE_REQUEST_BYTES) this.destroy();
  }

  #cutOf(held: Buffer): number {
    if (this.#requests.size > 0 && this.#bodyLeftBytes !== null) {
      const end = Math.min(held.byteLength, this.#bodyLeftBytes);
      this.#bodyLeftBytes -= end;
      this.#isBetweenRequests = this.#bodyLeftBytes === 0;
      return end;
    }
    return this.#headEndIn(held) ?? held.byteLength;
  }

  /**
   * Where the head that has begun ends, in whatever pieces it came; null before its end. Blank lines before it do not
   * count.
   */
  #headEndIn(held: Buffer): number | null {
    const isBefore = this.#requests.size === 0 && this.#tail.byteLength === 0;
    const start = isBefore ? blankBytes(held) : 0;
    if (start === held.byteLength) return null;
    const seen = this.#tail.byteLength === 0 ? held : Buffer.concat([this.#tail, held]);
    const at = seen.indexOf(HEAD_END, start);
    this.#isBetweenRequests = at !== -1;
    const end = at + HEAD_END.byteLength - this.#tail.byteLength;
    this.#tail = at === -1 ? Buffer.from(seen.subarray(1 - HEAD_END.byteLength)) : NOTHING;
    return at === -1 ? null : end;
  }

  #rest(): void {
    if (this.#requests.size > 0 || this.writableEnded) return;
    this.#isIdle = this.#held === null && this.#isBetweenRequests;
    this.#enter(this.#isIdle ? "idle" : "next");
  }
}

function blankBytes(piece: Buffer): number {
  const at = piece.findIndex((byte) => byte !== 0x0d && byte !== 0x0a);
  return at === -1 ? piece.byteLength : at;
}
