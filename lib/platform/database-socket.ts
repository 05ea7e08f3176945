import { readFile } from "node:fs/promises";
import { connect, isIP, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import type { DatabaseAddress } from "./database-url.ts";

/** PostgreSQL's request to go on with TLS: length 8 and the code 80877103. */
const TLS_REQUEST = Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47);

/**
 * A connected stream to the database for the driver, encrypted as the address says.
 *
 * Shape:  it always answers with a stream. When connecting fails, that stream fails the driver's first write: the
 *         driver forgets a connection whose maker throws, and every later query would wait for ever.
 *         A server that hangs up is an error too: left to itself the driver connects again without end and without
 *         pause to a peer that accepts and closes.
 */
export async function connectDatabase(address: DatabaseAddress, limitMs: number): Promise<Duplex> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(failure("CONNECT_TIMEOUT", "no answer in time")), limitMs);
  try {
    const plain = await connectPlain(address, timeout.signal);
    const stream = address.tls === "disable" ? plain : await encrypt(plain, address, timeout.signal);
    stream.on("end", () => stream.destroy(failure("CONNECTION_CLOSED", "the server closed the connection")));
    return stream;
  } catch (error) {
    return failingStream(error as Error);
  } finally {
    clearTimeout(timer);
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

function failingStream(error: Error): Duplex {
  return new Duplex({
    read() {},
    write(_chunk, _encoding, done) {
      done(error);
    },
  });
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
