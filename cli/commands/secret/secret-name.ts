import { KNOWN_SECRETS, type KnownSecret, knownSecret } from "../../../lib/platform/config/known-secrets.ts";
import { nearest } from "../../../lib/platform/nearest.ts";
import type { ValueCheck } from "../../args/options.ts";

/** The names of the secrets that opsctl knows. */
export const SECRET_NAMES: readonly string[] = KNOWN_SECRETS.map(({ name }) => name);

/** A variable that looks like a secret and has its place elsewhere. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  OPSCTL_PING_URL: "belongs into the environment file of its command: each command has another one",
};

/** The name of a secret; the text about another word does not repeat it, because it may be a value. */
export const aSecret: ValueCheck = (word) => {
  if (knownSecret(word) !== null) return undefined;
  if (Object.hasOwn(ELSEWHERE, word)) return `${word} ${ELSEWHERE[word]}`;
  const near = nearest(word, SECRET_NAMES);
  return `is no secret of opsctl${near === undefined ? "; opsctl secret list shows them" : `; did you mean ${near}?`}`;
};

/** The secret of a name that was checked. */
export function secretOf(name: string): KnownSecret {
  return knownSecret(name) as KnownSecret;
}
