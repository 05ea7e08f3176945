/** A peer's answer as far as it arrived. */
export type PeerAnswer = ReturnType<typeof peerAnswer>;

/**
 * An answer whose status and headers arrived.
 *
 * Shape: `text` is null when the body broke off, stalled or was too large; `json` is undefined when `text` is not JSON.
 *        Neither goes into a log, a record or an error: answers repeat addresses and telephone numbers.
 */
export function peerAnswer(response: Response, text: string | null) {
  const { status, headers } = response;
  return { status, headers, text, json: parseJson(text), requestId: requestIdOf(headers) };
}

/** One key of a JSON value, or undefined when it is not an object or has no such key of its own. */
export function member(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, unknown>)[key];
}

function parseJson(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const REQUEST_ID_HEADERS = ["x-request-id", "request-id", "x-vercel-id", "cf-ray", "x-amzn-requestid"];
const REQUEST_ID = /^[A-Za-z0-9._:+=-]{1,128}$/;

function requestIdOf(headers: Headers): string | null {
  const found = REQUEST_ID_HEADERS.map((name) => headers.get(name)).find((value) => value !== null);
  return found !== undefined && found !== null && REQUEST_ID.test(found) ? found : null;
}
