import { OpsError } from "../../errors.ts";

/** A database error whose texts name `variable` instead of DATABASE_URL. */
export function aboutUrl({ code, message, hint, cause }: OpsError, variable: string): OpsError {
  const named = (text: string) => text.replace(/\bDATABASE_URL\b/g, variable);
  return new OpsError({
    code,
    message: named(message),
    hint: hint === undefined ? undefined : named(hint),
    cause,
  });
}

/** A database error whose texts name the webhook's setting, OPSCTL_STATE_URL, instead of DATABASE_URL. */
export function aboutStateUrl(error: OpsError): OpsError {
  return aboutUrl(error, "OPSCTL_STATE_URL");
}
