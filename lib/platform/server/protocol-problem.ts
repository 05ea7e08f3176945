import type { IncomingMessage } from "node:http";

const VERSIONS = new Set(["1.0", "1.1"]);

/**
 * The status that a request is refused with for how it is written; null when it is as it should be.
 *
 * Shape:  checked here, because one runtime checks it, another does not, and no one of them all of it: HTTP/1.0 or 1.1,
 *         with one `Host`, which HTTP/1.0 may leave out.
 * Source: RFC 9112, sections 2.3 and 3.2, read 2026-11-22.
 */
export function protocolProblem({ httpVersion, rawHeaders }: IncomingMessage): 400 | 505 | null {
  if (!VERSIONS.has(httpVersion)) return 505;
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length;
  return hosts > 1 || (hosts === 0 && httpVersion === "1.1") ? 400 : null;
}
