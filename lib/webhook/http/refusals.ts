import { errorAnswer } from "./json-answer.ts";

/** Status and message of each code that the public port refuses a post with. */
const REFUSALS = {
  invalid_json: [400, "The body is not JSON in UTF-8"],
  invalid_secret: [401, "The webhook secret is absent or wrong"],
  timeout: [408, "The body did not arrive in time"],
  payload_too_large: [413, "The body must not be larger than 8,388,608 bytes"],
  unsupported_media_type: [415, "The body must be application/json, not compressed"],
  invalid_payload: [422, "There is no alert in the body that can be used"],
  internal: [503, "The request failed; send it again"],
  overloaded: [503, "Too much is being read now; send it again"],
  state_unavailable: [503, "The alerts cannot be kept now; send them again"],
} as const satisfies Record<string, readonly [status: number, message: string]>;

/** `problems` are the first ones of `problemsTotal`. */
type Details = { problems?: readonly { path: string; problem: string }[]; problemsTotal?: number };

/** The answer to a post that is refused; after a 503 it may be sent again, `retryAfterSeconds` later. */
export function refusal(
  code: keyof typeof REFUSALS,
  { retryAfterSeconds = 10, ...details }: Details & { retryAfterSeconds?: number } = {},
): Response {
  const [status, message] = REFUSALS[code];
  return errorAnswer(status, { code, message, ...details }, headersFor(status, retryAfterSeconds));
}

function headersFor(status: number, retryAfterSeconds: number): Record<string, string> {
  if (status === 401) return { "www-authenticate": "Bearer" };
  return status === 503 ? { "retry-after": String(retryAfterSeconds) } : {};
}
