import { nameMeant } from "../../name-meant.ts";
import { knownSecret } from "./known-secrets.ts";

/**
 * A file in a directory of secrets that no command reads.
 *
 * Shape: `meant` is the secret whose name its own resembles; null for a setting that is no secret, and is read from an
 *        environment file alone.
 */
export type OddSecret = { name: string; meant: string | null };

/**
 * What a person may call a secret's file; other names belong to others: one that is encrypted (`.gpg`, `.age`), or put
 * aside (`.old`, `.bak`, a number at the end).
 */
const NAME = /^[A-Za-z][A-Za-z0-9_-]*(?<![0-9])(?:\.(?:txt|key|secret|value))?$/;
/** Looked at at most: a directory that others fill, too, may have any number. */
const MOST_LOOKED_AT = 1_000;

/**
 * Those of the files in a directory of secrets that look as if they were meant for opsctl, given the secrets that are
 * looked for there and the settings that are none.
 *
 * Shape:     `files` are all of the directory: the one that counts may be any of them.
 * Behaviour: a file beside the one that it resembles is a copy that a person keeps.
 */
export function oddSecrets(
  files: readonly string[],
  { secrets, plain }: { secrets: readonly string[]; plain: readonly string[] },
): OddSecret[] {
  const there = new Set(files);
  const strange = files.filter((name) => NAME.test(name) && knownSecret(name) === null);
  return strange
    .toSorted()
    .slice(0, MOST_LOOKED_AT)
    .flatMap((name): OddSecret[] => {
      if (plain.includes(name)) return [{ name, meant: null }];
      const [stem = ""] = name.split(".");
      const meant = secrets.includes(stem) ? stem : nameMeant(stem, secrets, { withParts: true });
      return meant === undefined || there.has(meant) ? [] : [{ name, meant }];
    });
}
