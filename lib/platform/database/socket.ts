import { Buffer } from "node:buffer";
import { EventEmitter } from "node:events";
import { connect, type Socket } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { isLoopback } from "../loopback.ts";
import { startLimit } from "../timeout.ts";
import { clearTextAnswer } from "./clear-text-password.ts";
import { noAnswer } from "./error.ts";
import { ErrorCodeReader } from "./error-code.ts";
import { MessageReader } from "./messages.ts";
import { rootCertificates } from "./root-certificates.ts";
import type { DatabaseAddress } from "./url.ts";

/** The SQLSTATE of a server's refusal to write because it is read-only. */
const READ_ONLY = "25006";

/** PostgreSQL's request to go on with TLS: length 8 and the code 80877103. */
const TLS_REQUEST = Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47);

/**
 * Connects a stream to the database for the driver, encrypted as the address asks.
 *
 * Behaviour: always returns a stream; after a failure it breaks at the driver's first write, because the driver forgets
 *            a connection whose maker throws and every later query would wait for ever. A stream breaks, too, after the
 *            server has refused a write as read-only: the connection leads to a replica, or to a server that was the
 *            primary before, and a new one finds the new primary. Without TLS the password leaves this host only as the
 *            answer to a challenge: a request for it in clear text ends the connection.
 */
export async function connectDatabase(
  address: DatabaseAddress,
  { limitMs, watch }: { limitMs: number; watch: StreamWatch },
): Promise<DriverStream> {
  const { signal, clear } = startLimit({ limitMs });
  try {
    const plain = await connectPlain(address, signal);
    const socket = address.tls === "disable" ? plain : await encrypt(plain, address, signal);
    const isPrivate = socket !== plain || isOnThisHost(address, plain);
    return new DriverStream(socket, watch, isPrivate ? null : clearTextAnswer(address.password));
  } catch (error) {
    return new DriverStream(error as Error);
  } finally {
    clear();
  }
}

/**
 * How a stream is watched by the pool that it belongs to.
 *
 * Shape: `answerLimitMs` is asked at each statement. `onLoss` is called when a stream breaks without the driver having
 *        closed it, if the server was ready on it once: a connection that the server refused at the start is no loss.
 *        `isStranded`: a transaction was open, and the driver will never use that connection again.
 */
export type StreamWatch = {
  answerLimitMs(): number;
  onLoss(loss: { isStranded: boolean }): void;
};

/**
 * A socket for the driver that breaks in a way that the driver survives.
 *
 * Behaviour: when the connection breaks, `error` and `close` come together. On a socket they come one after the other:
 *            a query begun between them is never answered. After a bare `close` while connecting, the driver connects
 *            again without pause and without end. Inside a transaction only `error` comes, then and after each further
 *            write: after a `close` the driver's own rollback or commit would write to nothing and end the process. A
 *            cancelled statement's own connection counts as broken. A connection breaks, too, when a statement is not
 *            answered within its limit, which begins when it is sent or the one before it is answered: in a network that
 *            drops every packet none ends by itself.
 * Errors:    STATEMENT_TIMEOUT for every statement that is under way when the limit is over.
 */
export class DriverStream extends EventEmitter {
  readonly #socket: Socket | undefined;
  readonly #watch: StreamWatch;
  readonly #session = new Session();
  readonly #withheld: Uint8Array | null;
  #isClosedByDriver = false;
  #fault: Error | undefined;
  #answerTimer: ReturnType<typeof setTimeout> | undefined;

  /** `withheld` are bytes that must not be sent: writing them breaks the connection. */
  constructor(connection: Socket | Error, watch = UNWATCHED, withheld: Uint8Array | null = null) {
    super();
    this.#watch = watch;
    this.#withheld = withheld;
    if (connection instanceof Error) {
      this.#fault = connection;
      return;
    }
    this.#socket = connection;
    const closed = () => this.#break(closedByServer());
    connection.on("data", (bytes: Buffer) => {
      if (this.#session.receive(bytes)) this.#limitAnswer();
      this.emit("data", bytes);
      if (this.#session.isReadOnly) this.#break(isReadOnly());
    });
    connection.on("drain", () => this.emit("drain"));
    connection
      .on("error", (error) => this.#break(error))
      .on("end", closed)
      .on("close", closed);
  }

  /** Whether it broke inside a transaction, so that the driver has not been told that it is closed. */
  get isStranded(): boolean {
    return this.#fault !== undefined && this.#session.isInTransaction;
  }

  get readyState(): string {
    return this.#fault === undefined ? (this.#socket?.readyState ?? "closed") : "closed";
  }

  write(bytes: Uint8Array, done?: () => void): boolean {
    const fault = this.#fault;
    if (fault === undefined && !this.#isWithheld(bytes)) {
      this.#session.send(bytes);
      if (this.#answerTimer === undefined) this.#limitAnswer();
      return this.#socket?.write(bytes, done) ?? true;
    }
    // Later, because the driver records the statement as written only after this returns.
    process.nextTick(() => (fault === undefined ? this.#break(passwordWithheld()) : this.#tell(fault)));
    return true;
  }

  end(bytes: Uint8Array): void {
    this.#isClosedByDriver = true;
    this.#socket?.end(bytes);
  }

  destroy(): void {
    this.#isClosedByDriver = true;
    clearTimeout(this.#answerTimer);
    // A stream that broke inside a transaction has not emitted `close`, and the driver's timers still run.
    if (this.#fault !== undefined) this.emit("close");
    this.#socket?.destroy();
  }

  setKeepAlive(enable: boolean, delayMs: number): void {
    this.#socket?.setKeepAlive(enable, delayMs);
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  #isWithheld(bytes: Uint8Array): boolean {
    if (this.#withheld === null) return false;
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(this.#withheld);
  }

  /** Gives the statement that is under way, if any, its whole limit. */
  #limitAnswer(): void {
    clearTimeout(this.#answerTimer);
    this.#answerTimer = this.#session.isWaited
      ? setTimeout(() => this.#break(noAnswer()), this.#watch.answerLimitMs())
      : undefined;
  }

  #break(error: Error): void {
    if (this.#fault !== undefined) return;
    this.#fault = error;
    clearTimeout(this.#answerTimer);
    this.#socket?.destroy();
    const isStranded = this.#session.isInTransaction;
    if (!this.#isClosedByDriver && this.#session.wasReady) this.#watch.onLoss({ isStranded });
    this.#tell(error);
  }

  #tell(error: Error): void {
    if (this.listenerCount("error") > 0) this.emit("error", error);
    if (!this.#session.isInTransaction || this.#isClosedByDriver) this.emit("close");
  }
}

const UNWATCHED: StreamWatch = { answerLimitMs: () => 0, onLoss: () => {} };

/** What a connection does, read from the messages in both directions; the login is left to the driver. */
class Session {
  isInTransaction = false;
  /** Whether the server has accepted the login and waited for a statement at least once. */
  wasReady = false;
  /** Whether the server has refused a write as read-only. */
  isReadOnly = false;
  #isReady = false;
  #unanswered = 0;
  /** Whether the driver has asked for a part of an answer, before it sends the rest of the statement. */
  #isHalfSent = false;
  readonly #errorCode = new ErrorCodeReader();
  readonly #fromServer = new MessageReader((type, status) => {
    if (type === "E" && this.#errorCode.end() === READ_ONLY) this.isReadOnly = true;
    if (type !== "Z") return;
    if (this.wasReady) this.#unanswered -= 1;
    this.wasReady = true;
    this.#isReady = true;
    this.isInTransaction = status !== "I".charCodeAt(0);
  }, this.#errorCode);
  readonly #fromDriver = new MessageReader((type) => {
    if (type === "Q" || type === "S") this.#unanswered += 1;
    this.#isHalfSent = type === "H";
  });

  /** Whether an answer is still to come. */
  get isWaited(): boolean {
    return this.#unanswered > 0 || this.#isHalfSent;
  }

  send(bytes: Uint8Array): void {
    if (this.wasReady) this.#fromDriver.read(bytes);
  }

  /** Whether a statement's answer, or the login's, is whole now. */
  receive(bytes: Uint8Array): boolean {
    this.#isReady = false;
    this.#fromServer.read(bytes);
    return this.#isReady;
  }
}

// Judged by the connected address, because any name can be made to lead anywhere.
function isOnThisHost({ socketPath }: DatabaseAddress, { remoteAddress }: Socket): boolean {
  return socketPath !== undefined || isLoopback(remoteAddress ?? "");
}

async function connectPlain(address: DatabaseAddress, signal: AbortSignal): Promise<Socket> {
  const { host, port, socketPath } = address;
  const socket = socketPath === undefined ? connect({ host, port }) : connect({ path: socketPath });
  // An error while nothing waits for the socket would end the process.
  socket.on("error", () => {});
  await settled(socket, "connect", signal);
  return socket;
}

async function encrypt(plain: Socket, address: DatabaseAddress, signal: AbortSignal): Promise<Socket> {
  plain.write(TLS_REQUEST);
  const [answer] = (await settled(plain, "data", signal)) as [Uint8Array];
  if (answer.length !== 1 || answer[0] !== "S".charCodeAt(0)) {
    if (address.tls === "prefer" && answer.length === 1) return plain;
    plain.destroy();
    throw failure("TLS_REFUSED", "the server does not offer TLS");
  }
  const { connect: connectTls } = await import("node:tls");
  const options = await tlsOptions(address).catch((error: unknown) => {
    plain.destroy();
    throw error;
  });
  // On a connection that has ended meanwhile the handshake would wait for ever.
  if (plain.destroyed) throw closedByServer();
  const encrypted = connectTls({ socket: plain, ...options });
  await settled(encrypted, "secureConnect", signal);
  return encrypted;
}

async function tlsOptions({ host, tls, rootCertificate }: DatabaseAddress): Promise<ConnectionOptions> {
  const ca = await rootCertificates(rootCertificate);
  // A public authority signs for anyone: where all of them are trusted, only the name proves who answers.
  const checksName = tls === "verify-full" || ca === undefined;
  const checksCertificate = tls === "verify-ca" || tls === "verify-full";
  return {
    // Both runtimes send the server this name. Without it, Deno checks the certificate for localhost.
    host,
    ...(ca === undefined ? {} : { ca }),
    // Set in both cases: a variable of the environment can turn it off.
    rejectUnauthorized: checksCertificate,
    ...(checksCertificate && checksName ? {} : { checkServerIdentity: () => undefined }),
  };
}

/** Waits for the one event that means success; an error, an end or the time limit destroys the socket. */
function settled(socket: Socket, event: string, signal: AbortSignal): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    const stop = (error: Error) => {
      unlisten();
      socket.on("error", () => {}).destroy();
      reject(error);
    };
    const onEvent = (...values: unknown[]) => {
      unlisten();
      resolve(values);
    };
    const onEnd = () => stop(closedByServer());
    const onAbort = () => stop(failure("CONNECT_TIMEOUT", "no answer in time"));
    const unlisten = () => {
      socket.off(event, onEvent).off("error", stop).off("end", onEnd);
      signal.removeEventListener("abort", onAbort);
    };
    socket.on(event, onEvent).on("error", stop).on("end", onEnd);
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    // Bun destroys the socket at once when it cannot open a Unix socket, and emits the error a moment later.
    else if (socket.destroyed) stop(socket.errored ?? closedByServer());
  });
}

/** The error of a connection that ended before its statement was answered. */
export function closedByServer(): Error {
  return failure("CONNECTION_CLOSED", "the server closed the connection");
}

/** With a severity, so that it counts as the server's own word, which it is. */
function isReadOnly(): Error {
  return Object.assign(failure(READ_ONLY, "the server is read-only"), { severity: "ERROR" });
}

function passwordWithheld(): Error {
  return failure("CLEAR_TEXT_PASSWORD", "the server asked for the password in clear text without TLS");
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
