import { withDirectories } from "../platform/config/env-files/with-directories.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import { DEFAULT_SECRETS_DIR } from "../platform/secrets/adapter.ts";
import { shellWord } from "../platform/shell-word.ts";

/**
 * Why root does nothing in a directory that an environment file of the account names: it is the system's, it is free
 * and root does not know it, or it has an owner already.
 */
export type DirectoryRefusal = "system" | "unknown" | "taken";

/**
 * What root is told instead of a line that changes something in such a directory; null where root vouches for it.
 *
 * Behaviour: the account can write any path into its own files. A person who chose the place says so by naming it in
 *            the environment of `opsctl secret list`; a line that is copied must not change what has an owner.
 */
export function refusedDirectory(
  directory: string,
  refusal: DirectoryRefusal | null,
  env: Environment,
): string | null {
  if (refusal === null) return null;
  const word = shellWord(directory);
  const wrong = `Correct OPSCTL_SECRETS_DIR: ${word} is named in an environment file that others than root can change, so the account opsctl itself may have chosen it; secrets belong in ${DEFAULT_SECRETS_DIR}`;
  if (refusal === "system" || word !== directory) return wrong;
  if (refusal === "taken")
    return `${wrong}. Only if you chose it yourself, look at it (ls -ld ${word}) and put it right by hand`;
  const list = withDirectories("sudo opsctl secret list", { ...env, OPSCTL_SECRETS_DIR: directory });
  return `${wrong}. Only if you chose it yourself, this tells the line: ${list}`;
}
