/** Makes an answer with a JSON body that no cache may keep. */
export function jsonAnswer(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });
}

const LATER = { "retry-after": "10" };
/** Status, message and headers of each code that a request is refused with; codes are public. */
const REFUSALS = {
  invalid_json: [400, "The body is not JSON in UTF-8"],
  invalid_secret: [401, "The webhook secret is absent or wrong", { "www-authenticate": "Bearer" }],
  not_found: [404, "There is nothing at this path"],
  method_not_allowed: [405, "This path does not take the method"],
  timeout: [408, "The body did not arrive in time"],
  payload_too_large: [413, "The body must not be larger than 8,388,608 bytes"],
  unsupported_media_type: [415, "The body must be application/json, not compressed"],
  host_not_loopback: [421, "This port answers only for localhost, 127.0.0.1 and [::1]"],
  invalid_payload: [422, "There is no alert in the body that can be used"],
  internal: [503, "The request failed; send it again", LATER],
  overloaded: [503, "Too much is being read now; send it again", LATER],
  state_unavailable: [503, "The alerts cannot be kept now; send them again", LATER],
} as const satisfies Record<string, readonly [status: number, message: string, headers?: object]>;

/** Why a request is refused. */
export type RefusalCode = keyof typeof REFUSALS;

const codes = new WeakMap<Response, string>();

/** The answer to a refused request: `{"error":{"code","message",…}}`; `details` replace the message, or follow it. */
export function refusal(
  code: RefusalCode,
  details: object = {},
  headers: Record<string, string> = {},
): Response {
  const [status, message, ofCode] = REFUSALS[code];
  const error = { code, message, ...details };
  const response = jsonAnswer(status, { error }, { ...ofCode, ...headers });
  codes.set(response, code);
  return response;
}

/** The answer for a method that a path does not take. */
export function methodNotAllowed(allow: string): Response {
  return refusal("method_not_allowed", { message: `This path takes ${allow} only` }, { allow });
}

/** The code of a refusal, without reading its body; null for another answer. */
export function codeOfAnswer(response: Response): string | null {
  return codes.get(response) ?? null;
}
