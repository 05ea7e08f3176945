import { redact, registerSecret } from "../../../lib/platform/secrets/redact.ts";

/** Variables that hold a secret, by their names. */
const SECRET_NAME =
  /(?:^|_)(?:SECRET|TOKEN|KEY|PASSWORD|PASSWD|CREDENTIALS?)(?:_|$)|(?:DATABASE|STATE)_URL$/i;

/** A URL with a password in it, whatever its variable is called. */
const URL_WITH_PASSWORD = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#]*:[^\s/?#]*@/i;

/**
 * The words of a command line without secrets of the environment, for an error that repeats them.
 *
 * Behaviour: such an error comes before any settings are read, so that no secret is known yet. Here every variable
 *            counts that has the name of a secret, also one that opsctl does not use.
 */
export function maskedWords(
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value.trim() === "") continue;
    if (SECRET_NAME.test(name) || URL_WITH_PASSWORD.test(value)) registerSecret(value);
  }
  return words.map(redact);
}
