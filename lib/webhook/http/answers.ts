/** Makes an answer with a JSON body that no cache may keep. */
export function jsonAnswer(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });
}

/** The body of an error's answer; `problems` may be only the first ones of `problemsTotal`. */
type AnsweredError = {
  code: string;
  message: string;
  problems?: readonly { path: string; problem: string }[];
  problemsTotal?: number;
};

const codes = new WeakMap<Response, string>();

/** Makes an error's answer: `{"error":{"code","message",…}}`; codes are public. */
export function errorAnswer(
  status: number,
  error: AnsweredError,
  headers: Record<string, string> = {},
): Response {
  const response = jsonAnswer(status, { error }, headers);
  codes.set(response, error.code);
  return response;
}

/** The code of an error's answer, without reading its body; null for another answer. */
export function codeOfAnswer(response: Response): string | null {
  return codes.get(response) ?? null;
}

/** The answer for a path that does not exist. */
export function notFound(): Response {
  return errorAnswer(404, { code: "not_found", message: "There is nothing at this path" });
}

/** The answer for a method that a path does not take. */
export function methodNotAllowed(allow: string): Response {
  return errorAnswer(
    405,
    { code: "method_not_allowed", message: `This path takes ${allow} only` },
    { allow },
  );
}

/** Status and message of each code that the public port refuses a request with. */
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

/** The answer to a refused request; after a 503 it may be sent again, `retryAfterSeconds` later (10 by default). */
export function refusal(
  code: keyof typeof REFUSALS,
  details: Pick<AnsweredError, "problems" | "problemsTotal"> & { retryAfterSeconds?: number } = {},
): Response {
  const { retryAfterSeconds = 10, ...problems } = details;
  const [status, message] = REFUSALS[code];
  const retry: Record<string, string> = status === 503 ? { "retry-after": String(retryAfterSeconds) } : {};
  const headers = status === 401 ? { "www-authenticate": "Bearer" } : retry;
  return errorAnswer(status, { code, message, ...problems }, headers);
}
