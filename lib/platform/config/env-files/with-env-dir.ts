import type { Environment } from "../../secrets/adapter.ts";
import { shellWord } from "../../shell-word.ts";
import { DEFAULT_ENV_DIR } from "./command-file.ts";

/**
 * A text in which each `sudo opsctl …` finds the environment files that this process has.
 *
 * Behaviour: sudo hands on no variable, so where OPSCTL_ENV_DIR moves the environment files, or turns them off, it
 *            becomes part of the line; for `opsctl doctor` the option of that name.
 */
export function withEnvDir(text: string, { OPSCTL_ENV_DIR: directory }: Environment): string {
  if (directory === undefined || directory === DEFAULT_ENV_DIR) return text;
  const value = directory.trim() === "" ? "" : shellWord(directory);
  return text.replaceAll(
    /\bsudo opsctl (doctor\b(?: --all| [a-z]+(?:-[a-z]+)*)?)?/g,
    (_line, doctor?: string) =>
      doctor === undefined
        ? `sudo OPSCTL_ENV_DIR=${value} opsctl `
        : `sudo opsctl ${doctor}${envDirOption(directory)}`,
  );
}

/** The option of `opsctl doctor` that names the environment files' directory, where it is not the installed one. */
export function envDirOption(envDir: string): string {
  const isNamed = envDir.startsWith("/") && envDir !== DEFAULT_ENV_DIR;
  return isNamed ? ` --env-dir ${shellWord(envDir)}` : "";
}
