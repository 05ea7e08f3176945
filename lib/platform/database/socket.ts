import { Buffer } from "node:buffer";
import { EventEmitter } from "node:events";
import { connect, type Socket } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { isLoopback } from "../loopback.ts";
import { withTimeLimit } from "../time-limit.ts";
import { clearTextAnswer } from "./clear-text-password.ts";
import { rootCertificates } from "./root-certificates.ts";
import type { DatabaseAddress } from "./url.ts";

/** The message ReadyForQuery, `Z` and its length, which one byte follows: `I` when no transaction is open. */
const READY_FOR_QUERY = [0x5a, 0, 0, 0, 5];
const READY_LENGTH = READY_FOR_QUERY.length + 1;

/**
 * The refusal of a write by a server that is read-only, in an answer: severity ERROR, SQLSTATE 25006. No row has it,
 * because no text has a zero byte.
 *
 * Source: PostgreSQL documentation, Frontend/Backend Protocol, Error and Notice Message Fields.
 */
const READ_ONLY_REFUSAL = Buffer.from("VERROR\0C25006\0", "latin1");

/** PostgreSQL's request to go on with TLS: length 8 and the code 80877103. */
const TLS_REQUEST = Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47);

/**
 * Connects a stream to the database for the driver, encrypted as the address asks.
 *
 * Behaviour: always returns a stream; after a failure it breaks at the driver's first write, because the driver forgets
 *            a connection whose maker throws and every later query would wait for ever. `onLoss` is called when a
 *            stream breaks without the driver having closed it, if the server was ready on it once: a connection that
 *            the server refused at the start is no loss. A stream breaks, too, after the server has refused a write as
 *            read-only: the connection leads to a replica, or to a server that was the primary before, and a new one
 *            finds the new primary. Without TLS the password leaves this host only as the answer to a challenge: a
 *            request for it in clear text ends the connection.
 */
export async function connectDatabase(
  address: DatabaseAddress,
  { limitMs, onLoss }: { limitMs: number; onLoss: () => void },
): Promise<DriverStream> {
  try {
    return await withTimeLimit({ limitMs }, async ({ signal }) => {
      const plain = await connectPlain(address, signal);
      const socket = address.tls === "disable" ? plain : await encrypt(plain, address, signal);
      const isPrivate = socket !== plain || isOnThisHost(address, plain);
      return new DriverStream(socket, onLoss, isPrivate ? null : clearTextAnswer(address.password));
    });
  } catch (error) {
    return new DriverStream(error as Error);
  }
}

/**
 * A socket for the driver that breaks in a way that the driver survives.
 *
 * Behaviour: when the connection breaks, `error` and `close` come together. On a socket they come one after the other:
 *            a query begun between them is never answered. After a bare `close` while connecting, the driver connects
 *            again without pause and without end. Inside a transaction only `error` comes, then and after each further
 *            write: after a `close` the driver's own rollback or commit would write to nothing and end the process. A
 *            cancelled statement's own connection counts as broken.
 */
export class DriverStream extends EventEmitter {
  readonly #socket: Socket | undefined;
  readonly #onLoss: () => void;
  readonly #transaction = new TransactionStatus();
  readonly #withheld: Uint8Array | null;
  #isClosedByDriver = false;
  #fault: Error | undefined;

  /** `withheld` are bytes that must not be sent: writing them breaks the connection. */
  constructor(connection: Socket | Error, onLoss: () => void = () => {}, withheld: Uint8Array | null = null) {
    super();
    this.#onLoss = onLoss;
    this.#withheld = withheld;
    if (connection instanceof Error) {
      this.#fault = connection;
      return;
    }
    this.#socket = connection;
    const closed = () => this.#break(closedByServer());
    connection.on("data", (bytes: Buffer) => {
      this.#transaction.read(bytes);
      this.emit("data", bytes);
      if (bytes.includes(READ_ONLY_REFUSAL)) this.#break(isReadOnly());
    });
    connection.on("drain", () => this.emit("drain"));
    connection
      .on("error", (error) => this.#break(error))
      .on("end", closed)
      .on("close", closed);
  }

  get readyState(): string {
    return this.#fault === undefined ? (this.#socket?.readyState ?? "closed") : "closed";
  }

  write(bytes: Uint8Array, done?: () => void): boolean {
    const fault = this.#fault;
    if (fault === undefined && !this.#isWithheld(bytes)) return this.#socket?.write(bytes, done) ?? true;
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

  #break(error: Error): void {
    if (this.#fault !== undefined) return;
    this.#fault = error;
    this.#socket?.destroy();
    if (!this.#isClosedByDriver && this.#transaction.wasReady) this.#onLoss();
    this.#tell(error);
  }

  #tell(error: Error): void {
    if (this.listenerCount("error") > 0) this.emit("error", error);
    if (!this.#transaction.isOpen || this.#isClosedByDriver) this.emit("close");
  }
}

/** Whether a transaction is open, read from the last message of each answer of the server. */
class TransactionStatus {
  isOpen = false;
  /** Whether the server has accepted the login and waited for a statement at least once. */
  wasReady = false;
  #tail: Uint8Array = new Uint8Array(0);

  read(bytes: Buffer): void {
    const tail = Buffer.concat([this.#tail, bytes.subarray(-READY_LENGTH)]).subarray(-READY_LENGTH);
    this.#tail = tail;
    const isReady = tail.length === READY_LENGTH && READY_FOR_QUERY.every((byte, at) => tail[at] === byte);
    if (!isReady) return;
    this.wasReady = true;
    this.isOpen = tail.at(-1) !== "I".charCodeAt(0);
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

function closedByServer(): Error {
  return failure("CONNECTION_CLOSED", "the server closed the connection");
}

/** With a severity, so that it counts as the server's own word, which it is. */
function isReadOnly(): Error {
  return Object.assign(failure("25006", "the server is read-only"), { severity: "ERROR" });
}

function passwordWithheld(): Error {
  return failure("CLEAR_TEXT_PASSWORD", "the server asked for the password in clear text without TLS");
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
