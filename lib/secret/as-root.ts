import { withEnvDir } from "../platform/config/env-files/with-env-dir.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import { shellWord } from "../platform/shell-word.ts";

/**
 * `opsctl secret` with these words, as root has to start it to look where this process looks.
 *
 * Behaviour: sudo hands on no variable, so OPSCTL_SECRETS_DIR and OPSCTL_ENV_DIR become part of the line.
 */
export function secretAsRoot(words: string, env: Environment): string {
  const line = withEnvDir(`sudo opsctl secret ${words}`, env);
  const directory = env.OPSCTL_SECRETS_DIR?.trim() ?? "";
  return directory === ""
    ? line
    : line.replace("sudo ", () => `sudo OPSCTL_SECRETS_DIR=${shellWord(directory)} `);
}
