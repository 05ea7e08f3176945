import { EventEmitter } from "node:events";
import { readFile } from "node:fs/promises";
import { connect, isIP, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import type { DatabaseAddress } from "./database-url.ts";

/** PostgreSQL's request to go on with TLS: length 8 and the code 80877103. */
const TLS_REQUEST = Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47);

/**
 * A connected stream to the database for the driver, encrypted as the address says.
 *
 * Shape: it always answers with a stream; when connecting failed, that stream breaks at the driver's first write,
 *        since the driver forgets a connection whose maker throws and every later query would wait for ever.
 *        `onLoss` is called when a connected stream breaks without the driver having closed it.
 */
export async function connectDatabase(
  address: DatabaseAddress,
  { limitMs, onLoss }: { limitMs: number; onLoss: () => void },
): Promise<DriverStream> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(failure("CONNECT_TIMEOUT", "no answer in time")), limitMs);
  try {
    const plain = await connectPlain(address, timeout.signal);
    const socket = address.tls === "disable" ? plain : await encrypt(plain, address, timeout.signal);
    return new DriverStream(socket, onLoss);
  } catch (error) {
    return new DriverStream(error as Error);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * What the driver sees of a socket, with an end that it survives.
 *
 * Shape: however the connection breaks, `error` and `close` come at once and together. On a socket they come apart:
 *        a query begun between them is never answered. After a bare `close` while connecting, the driver connects
 *        again without pause and without end. A cancelled statement's own connection counts as broken.
 */
export class DriverStream extends EventEmitter {
  readonly #socket: Socket | undefined;
  readonly #onLoss: () => void;
  #isClosedByDriver = false;
  #isOver = false;

  constructor(connection: Socket | Error, onLoss: () => void = () => {}) {
    super();
    this.#onLoss = onLoss;
    if (connection instanceof Error) {
      this.write = () => {
        process.nextTick(() => this.#break(connection));
        return true;
      };
      return;
    }
    this.#socket = connection;
    const closed = () => this.#break(failure("CONNECTION_CLOSED", "the server closed the connection"));
    connection.on("data", (bytes) => this.emit("data", bytes));
    connection.on("drain", () => this.emit("drain"));
    connection
      .on("error", (error) => this.#break(error))
      .on("end", closed)
      .on("close", closed);
  }

  get readyState(): string {
    return this.#isOver ? "closed" : (this.#socket?.readyState ?? "closed");
  }

  write(bytes: Uint8Array, done?: () => void): boolean {
    return this.#socket?.write(bytes, done) ?? true;
  }

  end(bytes: Uint8Array): void {
    this.#isClosedByDriver = true;
    this.#socket?.end(bytes);
  }

  destroy(): void {
    this.#isClosedByDriver = true;
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

  #break(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket?.destroy();
    if (!this.#isClosedByDriver) this.#onLoss();
    if (this.listenerCount("error") > 0) this.emit("error", error);
    this.emit("close");
  }
}

async function connectPlain(address: DatabaseAddress, signal: AbortSignal): Promise<Socket> {
  const { host, port, socketPath } = address;
  const socket = socketPath === undefined ? connect({ host, port }) : connect({ path: socketPath });
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
  const tls = connectTls({ socket: plain, ...(await tlsOptions(address)) });
  await settled(tls, "secureConnect", signal);
  return tls;
}

async function tlsOptions({ host, tls, rootCertificate }: DatabaseAddress): Promise<ConnectionOptions> {
  return {
    // Without a host, Deno checks the certificate for the name localhost.
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(rootCertificate === undefined ? {} : { ca: await readFile(rootCertificate) }),
    rejectUnauthorized: tls === "verify-ca" || tls === "verify-full",
    ...(tls === "verify-full" ? {} : { checkServerIdentity: () => undefined }),
  };
}

/** Waits for the one event that means success; an error, an end or the time limit destroys the socket. */
function settled(socket: Socket, event: string, signal: AbortSignal): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    const stop = (error: Error) => {
      unlisten();
      socket.on("error", () => {});
      socket.destroy();
      reject(error);
    };
    const onEvent = (...values: unknown[]) => {
      unlisten();
      resolve(values);
    };
    const onEnd = () => stop(failure("CONNECTION_CLOSED", "the server closed the connection"));
    const onAbort = () => stop(signal.reason);
    const unlisten = () => {
      socket.off(event, onEvent).off("error", stop).off("end", onEnd);
      signal.removeEventListener("abort", onAbort);
    };
    socket.on(event, onEvent).on("error", stop).on("end", onEnd);
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
  });
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
