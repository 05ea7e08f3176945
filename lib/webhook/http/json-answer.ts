/** An answer whose body is JSON, and which no cache may keep. */
export function jsonAnswer(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });
}

/** What an error's answer says; `problems` may be only the first ones of `problemsTotal`. */
type AnsweredError = {
  code: string;
  message: string;
  problems?: readonly { path: string; problem: string }[];
  problemsTotal?: number;
};

/** An error's answer: `{"error":{"code","message",…}}`; codes are public. */
export function errorAnswer(
  status: number,
  error: AnsweredError,
  headers: Record<string, string> = {},
): Response {
  const response = jsonAnswer(status, { error }, headers);
  codes.set(response, error.code);
  return response;
}

const codes = new WeakMap<Response, string>();

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
  const message = `This path takes ${allow} only`;
  return errorAnswer(405, { code: "method_not_allowed", message }, { allow });
}
