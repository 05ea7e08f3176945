import { createHash, timingSafeEqual } from "node:crypto";
import type { Secret } from "../../platform/secrets/secret.ts";

/** Whether a request may post alerts. */
export type Authenticate = (headers: Headers) => boolean;

/**
 * Checks requests for the secret: in `X-Webhook-Secret`, or as a bearer token.
 *
 * Behaviour: a request that sends both headers needs both to be right. A header sent twice arrives as two values joined
 *            and is wrong. HTTP drops blanks around a header's value, so they make no difference. The comparison takes
 *            the same time for every value of the same length. An empty secret lets no one in.
 * Source:    monitoring document, Authentication.
 */
export function authenticator(secret: Secret): Authenticate {
  const expected = digest(Buffer.from(secret.open(), "utf8"));
  const isEmpty = secret.open() === "";
  return (headers) => {
    const own = headers.get("x-webhook-secret");
    const authorization = headers.get("authorization");
    const given = [own, authorization === null ? null : bearerOf(authorization)].filter(
      (value) => value !== null,
    );
    // Every value is compared, also after a wrong one.
    const verdicts = given.map((value) => timingSafeEqual(digest(Buffer.from(value, "latin1")), expected));
    return !isEmpty && verdicts.length > 0 && verdicts.every((isRight) => isRight);
  };
}

/** The token; empty, and so a wrong secret, for another scheme. */
function bearerOf(authorization: string): string {
  return /^Bearer +(.*)$/is.exec(authorization)?.[1] ?? "";
}

function digest(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}
