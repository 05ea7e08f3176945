import { OpsError } from "../errors.ts";

/** A database error whose texts name `variable` instead of DATABASE_URL. */
export function aboutUrl({ code, message, hint, cause }: OpsError, variable: string): OpsError {
  return new OpsError({
    code,
    message: namedUrl(message, variable),
    hint: hint === undefined ? undefined : namedUrl(hint, variable),
    cause,
  });
}

/** A text about DATABASE_URL that names `variable` instead. */
function namedUrl(text: string, variable: string): string {
  return text.replace(/\bDATABASE_URL\b/g, variable);
}

/** A database error whose texts name the webhook's setting, OPSCTL_STATE_URL, instead of DATABASE_URL. */
export function aboutStateUrl(error: OpsError): OpsError {
  return aboutUrl(error, "OPSCTL_STATE_URL");
}
