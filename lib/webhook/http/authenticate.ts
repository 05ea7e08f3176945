import { createHash, timingSafeEqual } from "node:crypto";
import type { Secret } from "../../platform/secrets/secret.ts";

/** Which secret a request brings that may post alerts; null for one that may not. */
export type Authenticate = (headers: Headers) => "current" | "previous" | null;

/**
 * Checks requests for the secret, in `X-Webhook-Secret` or as a bearer token; the previous one is accepted until Grafana
 * has the new one.
 *
 * Behaviour: a request that sends both headers needs both to be right; the previous secret in one of them makes it
 *            `previous`. A header sent twice arrives as two values joined and is wrong. HTTP drops blanks around a
 *            header's value, so they make no difference. The comparison takes the same time for every value of the same
 *            length, whichever secret it is. An empty secret lets no one in.
 * Source:    monitoring document, Authentication.
 */
export function authenticator(secrets: { secret: Secret; previousSecret: Secret | null }): Authenticate {
  const isCurrent = comparison(secrets.secret);
  const isPrevious = comparison(secrets.previousSecret);
  return (headers) => {
    const authorization = headers.get("authorization");
    // Another scheme gives an empty token, and so a wrong secret.
    const token = authorization === null ? null : (/^Bearer +(.*)$/is.exec(authorization)?.[1] ?? "");
    const values = [headers.get("x-webhook-secret"), token].filter((value) => value !== null);
    const given = values.map((value) => digest(Buffer.from(value, "latin1")));
    // Every value is compared with both secrets, also after a wrong one.
    const current = given.map(isCurrent);
    const previous = given.map(isPrevious);
    if (given.length === 0 || given.some((_, at) => !current[at] && !previous[at])) return null;
    return current.includes(false) ? "previous" : "current";
  };
}

/** Compares with a secret; with none, or an empty one, it takes as long and nothing is equal. */
function comparison(secret: Secret | null): (given: Uint8Array) => boolean {
  const text = secret?.open() ?? "";
  const expected = digest(Buffer.from(text, "utf8"));
  return (given) => timingSafeEqual(given, expected) && text !== "";
}

function digest(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}
