import { errorAnswer } from "./json-answer.ts";
import type { BodyRead } from "./read-body.ts";

/** 401: the secret is absent or wrong. */
export function invalidSecret(): Response {
  const message = "The webhook secret is absent or wrong";
  return errorAnswer(401, { code: "invalid_secret", message }, { "www-authenticate": "Bearer" });
}

/** 400, 408, 413, 415 or 503: the body was not read. */
export function unreadBody(problem: Extract<BodyRead, { problem: string }>["problem"]): Response {
  return UNREAD[problem]();
}

/** 422: no usable alert in the body; `problems` are the first ones of `problemsTotal`. */
export function invalidPayload(
  problems: readonly { path: string; problem: string }[],
  problemsTotal: number,
): Response {
  const message = "There is no alert in the body that can be used";
  return errorAnswer(422, { code: "invalid_payload", message, problems, problemsTotal });
}

/** 503: the alerts were not stored; a service that stops is back in a moment. */
export function stateUnavailable(isStopping: boolean): Response {
  const message = "The alerts cannot be kept now; send them again";
  return errorAnswer(503, { code: "state_unavailable", message }, retryAfter(isStopping ? 1 : 10));
}

/** 503: the request failed for a reason that the log tells. */
export function internal(): Response {
  return errorAnswer(503, { code: "internal", message: "The request failed; send it again" }, retryAfter(10));
}

const UNREAD = {
  unsupported_media_type: () =>
    errorAnswer(415, {
      code: "unsupported_media_type",
      message: "The body must be application/json, not compressed",
    }),
  payload_too_large: () =>
    errorAnswer(413, {
      code: "payload_too_large",
      message: "The body must not be larger than 8,388,608 bytes",
    }),
  invalid_json: () => errorAnswer(400, { code: "invalid_json", message: "The body is not JSON in UTF-8" }),
  timeout: () => errorAnswer(408, { code: "timeout", message: "The body did not arrive in time" }),
  overloaded: () =>
    errorAnswer(
      503,
      { code: "overloaded", message: "Too much is being read now; send it again" },
      retryAfter(10),
    ),
};

function retryAfter(seconds: number): Record<string, string> {
  return { "retry-after": String(seconds) };
}
