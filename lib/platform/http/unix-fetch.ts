import type { IncomingMessage } from "node:http";
import { unixSocketInit } from "../runtime.ts";

/**
 * `fetch` through the Unix socket at `path`; the URL's host goes only into the `Host` header.
 *
 * Behaviour: on Bun by its `fetch`; on Deno by `node:http`, because Deno's `fetch` treats the socket as a proxy and
 *            sends the whole URL as the path, which not every server takes.
 * Errors:    what the runtime throws; TypeError for a request with a body, which is not sent.
 */
export async function fetchOverUnixSocket(path: string, url: URL, init: RequestInit): Promise<Response> {
  if (init.body != null) throw new TypeError("A request through a Unix socket has no body here");
  const native = unixSocketInit(path);
  if (native !== null) return await fetch(url, { ...init, ...native });
  const { request } = await import("node:http");
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const call = request(
    {
      socketPath: path,
      path: `${url.pathname}${url.search}`,
      method: init.method ?? "GET",
      headers: { ...Object.fromEntries(new Headers(init.headers)), host: url.host },
      agent: false,
      ...(init.signal ? { signal: init.signal } : {}),
    },
    resolve,
  );
  call.on("error", reject);
  // After a switch to another protocol (101) there is no event but `close`.
  call.on("close", () => reject(new Error("The connection ended without an answer")));
  call.end();
  const answer = await promise;
  const headers = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const { Readable } = await import("node:stream");
  const status = answer.statusCode ?? 0;
  const hasBody = status !== 204 && status !== 304;
  if (!hasBody) answer.resume();
  const body = hasBody ? (Readable.toWeb(answer) as unknown as ReadableStream<Uint8Array>) : null;
  return new Response(body, { status, headers });
}
