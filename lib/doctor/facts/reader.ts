import process from "node:process";
import { isRoot } from "../../platform/account/account.ts";
import { SERVICE_ACCOUNT } from "../../platform/account/service-account.ts";
import { envDirOption, secretsDirWord } from "../../platform/config/env-files/with-directories.ts";
import { OpsError } from "../../platform/errors.ts";
import { isClosedHere } from "../../platform/files/closed-here.ts";
import type { CheckContext } from "../context/check-context.ts";
import { COMMAND_FACTS } from "../context/command-facts.ts";
import type { DoctorDependencies } from "../context/dependencies.ts";
import { type CommandName, notChecked, type Verdict } from "../finding.ts";

/** The account that reads what a command needs: the command's own, or the one that a person's command becomes. */
export function readerOf(command: CommandName): string {
  return COMMAND_FACTS[command].account ?? SERVICE_ACCOUNT;
}

/** Whether a failure says only that this process is not the one to look: another account reads that file. */
export async function isForAnotherAccount(
  error: unknown,
  command: CommandName,
  context: CheckContext,
): Promise<boolean> {
  if (!(error instanceof OpsError) || error.code !== "SECRET_FILE_UNREADABLE" || isRoot()) return false;
  if (!isClosedHere(error.cause)) return false;
  const account = await context.account(readerOf(command));
  return account?.uid !== process.geteuid?.();
}

/**
 * The verdict on something of a command that this process may not look at.
 *
 * Behaviour: where the environment file is closed to it, too, that one says so for all.
 */
export async function closedVerdict(
  what: string,
  command: CommandName,
  context: CheckContext,
): Promise<Verdict> {
  const { file } = await context.environment(command);
  return notChecked(
    "ROOT_NEEDED",
    file.problem === null ? what : `${what}, see environment file`,
    asRoot(command, context),
  );
}

/** The verdict on a path at which this process cannot look: an account that may, or a person, has to. */
export function unseenVerdict(
  path: string,
  error: unknown,
  command: CommandName,
  context: CheckContext,
): Verdict {
  const text = `${path} cannot be looked at: ${(error as NodeJS.ErrnoException).code}`;
  return isClosedHere(error)
    ? notChecked("ROOT_NEEDED", text, asRoot(command, context))
    : notChecked("FILE_UNREADABLE", text, `Look at it: ls -ld ${path}`);
}

/** The command by which all of a command's needs can be looked at, where this doctor looks. */
export function asRoot(
  command: CommandName,
  { dependencies }: { dependencies: Pick<DoctorDependencies, "env" | "envDir"> },
): string {
  const { env, envDir } = dependencies;
  return `sudo ${secretsDirWord(env)}opsctl doctor ${command}${envDirOption(envDir)}`;
}

/** The line of `asRoot` for every command instead of this one; null for another line. */
export function asRootForAll(line: string, command: CommandName): string | null {
  const [, all, named, option = ""] =
    /^(sudo (?:OPSCTL_SECRETS_DIR=.+ )?opsctl doctor) (\S+)( --env-dir .*)?$/.exec(line) ?? [];
  return named === command ? `${all}${option}` : null;
}
