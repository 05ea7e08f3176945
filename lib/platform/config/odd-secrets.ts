import { namesMeant } from "../names-meant.ts";
import { knownSecret } from "./known-secrets.ts";

/**
 * A file in a directory of secrets that no command reads.
 *
 * Shape: `meant` is the secret whose name its own resembles; null for a setting that is no secret, and is read from an
 *        environment file alone.
 */
export type OddSecret = { name: string; meant: string | null };

/** What a person may call a secret's file; other names belong to others. */
const NAME = /^[A-Za-z][A-Za-z0-9_-]*(?:\.[a-z]+)?$/;

/**
 * Those of the files in a directory of secrets that look as if they were meant for opsctl, given the secrets that are looked
 * for there and the settings that are none.
 *
 * Behaviour: a file beside the one that it resembles is a copy that somebody keeps.
 */
export function oddSecrets(
  files: readonly string[],
  { secrets, plain }: { secrets: readonly string[]; plain: readonly string[] },
): OddSecret[] {
  const strange = files.filter((name) => NAME.test(name) && knownSecret(name) === null);
  return strange.flatMap((name): OddSecret[] => {
    if (plain.includes(name)) return [{ name, meant: null }];
    const [stem = ""] = name.split(".");
    const [meant, ...others] = secrets.includes(stem) ? [stem] : namesMeant(stem, secrets);
    return meant === undefined || others.length > 0 || files.includes(meant) ? [] : [{ name, meant }];
  });
}
