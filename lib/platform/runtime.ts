import process from "node:process";
import type { PeerCertificate } from "node:tls";

/**
 * What one call needs from the runtime.
 *
 * Shape: `init` is spread into the call's options; `nothingWasSent(error, url)` judges the error that `fetch` threw,
 *        and is called once: afterwards this connection carries no request; `close` is called when the answer has been
 *        read.
 */
export type Connection = {
  init: RequestInit;
  nothingWasSent(error: unknown, url: URL): boolean;
  close(): void;
};

type DenoGlobal = { createHttpClient(options: object): { close(): void } };

const deno = Reflect.get(globalThis, "Deno") as DenoGlobal | undefined;
const bun: unknown = Reflect.get(globalThis, "Bun");

/**
 * A connection that serves one request and is shared with no other.
 *
 * Behaviour: when a pooled connection drops, Deno sends a POST a second time; a new connection has nothing to repeat.
 *            HTTP/1.1 only, because HTTP/2 has retries of its own.
 */
export function ownConnection(): Connection {
  if (deno !== undefined) return denoConnection(deno, { poolMaxIdlePerHost: 0, http2: false });
  return bun === undefined ? pooledConnection() : bunConnection();
}

/**
 * A connection from the runtime's pool, for reads that may be repeated, or through the Unix socket of this path.
 *
 * Behaviour: certificates are always checked. Bun would otherwise obey NODE_TLS_REJECT_UNAUTHORIZED, Deno's `fetch`
 *            does not.
 */
export function pooledConnection(unixSocket?: string): Connection {
  if (deno !== undefined && unixSocket !== undefined)
    return denoConnection(deno, { proxy: { transport: "unix", path: unixSocket } });
  const ofBun = { decompress: false, tls: { rejectUnauthorized: true }, unix: unixSocket };
  const init = (bun === undefined ? {} : ofBun) as RequestInit;
  return { init, nothingWasSent: precedesRequest, close() {} };
}

function denoConnection(runtime: DenoGlobal, options: object): Connection {
  const client = runtime.createHttpClient(options);
  const init = { client } as RequestInit;
  return { init, nothingWasSent: precedesRequest, close: () => client.close() };
}

// Bun reports a TLS fault after the request with the same EPROTO as one in the handshake. But it calls
// `checkServerIdentity` between the two and sends the request only when that has accepted the certificate: until then
// nothing was sent. Certificates are always checked, because with NODE_TLS_REJECT_UNAUTHORIZED=0 it is never called.
function bunConnection(): Connection {
  let requestMayBegin = false;
  let judged = false;
  const checkServerIdentity = (host: string, certificate: PeerCertificate): Error | undefined => {
    if (judged) return new Error("The call was given up before the handshake ended");
    // Loaded when a certificate comes: a run that only reads would wait for it before its first call.
    const refusal = process.getBuiltinModule("node:tls").checkServerIdentity(host, certificate);
    requestMayBegin = refusal === undefined;
    return refusal;
  };
  const tls = { rejectUnauthorized: true, checkServerIdentity };
  return {
    init: { keepalive: false, decompress: false, tls } as RequestInit,
    nothingWasSent(error, url) {
      judged = true;
      return url.protocol === "https:" ? !requestMayBegin : precedesRequest(error);
    },
    close() {},
  };
}

const BUN_BEFORE_REQUEST = new Set(["ECONNREFUSED", "ENOTFOUND"]);
const DENO_CONNECT_STAGE = /^error sending request for url \(\S+\): client error \(Connect\): /;
const DENO_TCP_RESET = /: tcp connect error: Connection reset/;

// Bun gives a code, Deno a cause whose text names the stage. A reset is left out on both: on a plain connection
// it looks the same before and after the request.
function precedesRequest(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  if (syscall === "getaddrinfo" || BUN_BEFORE_REQUEST.has(String(code))) return true;
  const text = error.cause instanceof Error ? error.cause.message : "";
  return DENO_CONNECT_STAGE.test(text) && !DENO_TCP_RESET.test(text);
}
