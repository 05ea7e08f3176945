import { OpsError } from "../errors.ts";

/** A database error whose texts name the webhook's setting, OPSCTL_STATE_URL, instead of DATABASE_URL. */
export function aboutStateUrl({ code, message, hint, cause }: OpsError): OpsError {
  const named = (text: string) => text.replaceAll("DATABASE_URL", "OPSCTL_STATE_URL");
  return new OpsError({
    code,
    message: named(message),
    hint: hint === undefined ? undefined : named(hint),
    cause,
  });
}
