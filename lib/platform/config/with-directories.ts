import type { Environment } from "../secrets/adapter.ts";
import { shellWord } from "../shell-word.ts";
import { DEFAULT_ENV_DIR } from "./settings-table.ts";

/**
 * A text in which each `sudo opsctl …` finds the environment files and the secrets that this process finds.
 *
 * Behaviour: sudo hands on no variable, so OPSCTL_SECRETS_DIR and an OPSCTL_ENV_DIR that moves the environment files, or
 *            turns them off, become part of the line; for `opsctl doctor` the latter is the option of that name.
 */
export function withDirectories(text: string, env: Environment): string {
  const { OPSCTL_ENV_DIR: envDir = DEFAULT_ENV_DIR } = env;
  const secrets = secretsDirWord(env);
  const value = envDir.trim() === "" ? "" : shellWord(envDir);
  const settings = envDir === DEFAULT_ENV_DIR ? "" : `OPSCTL_ENV_DIR=${value} `;
  return text.replaceAll(
    /\bsudo opsctl (doctor\b(?: --all| [a-z]+(?:-[a-z]+)*)?)?/g,
    (_line, doctor?: string) =>
      doctor === undefined
        ? `sudo ${secrets}${settings}opsctl `
        : `sudo ${secrets}opsctl ${doctor}${envDirOption(envDir)}`,
  );
}

/** The option of `opsctl doctor` that names the environment files' directory, where it is not the installed one. */
export function envDirOption(envDir: string): string {
  const isNamed = envDir.startsWith("/") && envDir !== DEFAULT_ENV_DIR;
  return isNamed ? ` --env-dir ${shellWord(envDir)}` : "";
}

/** What stands before `opsctl` in a line of sudo where OPSCTL_SECRETS_DIR is set; the empty text where it is not. */
export function secretsDirWord({ OPSCTL_SECRETS_DIR: directory = "" }: Environment): string {
  return directory.trim() === "" ? "" : `OPSCTL_SECRETS_DIR=${shellWord(directory.trim())} `;
}
