import type { Environment } from "../secrets/adapter.ts";
import { DEFAULT_ENV_DIR } from "./settings-table.ts";

/**
 * The line with which root runs `opsctl <words>` on the environment files and secrets that this process finds.
 *
 * Behaviour: sudo passes no variable on, so OPSCTL_SECRETS_DIR and an OPSCTL_ENV_DIR that moves the environment files, or
 *            turns them off, become part of the line; for `opsctl doctor` the latter is an option.
 */
export function sudoLine(words: string, env: Environment): string {
  const { OPSCTL_ENV_DIR: envDir = DEFAULT_ENV_DIR, OPSCTL_SECRETS_DIR: directory = "" } = env;
  const secrets = directory.trim() === "" ? "" : `OPSCTL_SECRETS_DIR=${shellWord(directory.trim())} `;
  if (/^doctor\b/.test(words)) return `sudo ${secrets}opsctl ${words}${envDirOption(envDir)}`;
  const value = envDir.trim() === "" ? "" : shellWord(envDir);
  return `sudo ${secrets}${envDir === DEFAULT_ENV_DIR ? "" : `OPSCTL_ENV_DIR=${value} `}opsctl ${words}`;
}

/** The option of `opsctl doctor` that names the environment files' directory, where it is not the installed one. */
export function envDirOption(envDir: string): string {
  const isNamed = envDir.startsWith("/") && envDir !== DEFAULT_ENV_DIR;
  return isNamed ? ` --env-dir ${shellWord(envDir)}` : "";
}

/** A text as one word of a shell: as it is where a shell reads nothing in it, else in quotes. */
function shellWord(text: string): string {
  return /^[\w.@%+,=:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
