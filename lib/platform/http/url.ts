import { Buffer } from "node:buffer";

/**
 * The address of one call below a configured base.
 *
 * Behaviour: `path` parts are encoded one by one, so that a name with a slash stays one part. The base may have a path
 *            and a trailing slash; its query and fragment are dropped.
 * Errors:    null when a part cannot be a part of a path (empty, "." or "..", half a character).
 */
export function peerUrl(base: URL, path: readonly string[]): URL | null {
  if (!path.every(isPart)) return null;
  const url = new URL(base);
  const parts = [url.pathname.replaceAll(/\/+/g, "/").replace(/\/$/, ""), ...path.map(encodeURIComponent)];
  url.pathname = parts.join("/");
  url.search = "";
  url.hash = "";
  return url;
}

// The URL parser reads "." and ".." as steps of the path, also when they are encoded.
function isPart(part: string): boolean {
  return part !== "" && part !== "." && part !== ".." && part.isWellFormed();
}

/**
 * A URL without its credentials, and the header that carries them instead.
 *
 * Behaviour: needed because `fetch` refuses or mangles `https://user:word@host`, differently per runtime, and errors
 *            would quote it.
 */
export function splitCredentials(url: URL): { url: URL; authorization: string | null } {
  if (url.username === "" && url.password === "") return { url, authorization: null };
  const bare = new URL(url);
  bare.username = "";
  bare.password = "";
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { url: bare, authorization: `Basic ${Buffer.from(pair, "utf8").toString("base64")}` };
}
