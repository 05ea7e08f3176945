import { OpsError } from "../errors.ts";

/** An error of the database as it concerns the webhook's state, whose setting has another name. */
export function aboutStateUrl({ code, message, hint, cause }: OpsError): OpsError {
  const named = (text: string) => text.replaceAll("DATABASE_URL", "OPSCTL_STATE_URL");
  return new OpsError({
    code,
    message: named(message),
    hint: hint === undefined ? undefined : named(hint),
    cause,
  });
}
