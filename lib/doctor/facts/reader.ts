import process from "node:process";
import { envDirOption, secretsDirWord } from "../../platform/config/sudo-line.ts";
import { type Fix, OpsError } from "../../platform/errors.ts";
import { isClosedHere } from "../../platform/files/closed-file.ts";
import { isRoot, SERVICE_ACCOUNT, wasRoot } from "../../platform/privileges.ts";
import type { CheckContext } from "../context/check-context.ts";
import { COMMAND_FACTS } from "../context/command-facts.ts";
import type { DoctorDependencies } from "../context/dependencies.ts";
import { type CheckResult, type CommandName, command, notChecked } from "../finding.ts";

/** The account that reads what a command needs: the command's own, or the one that a person's command becomes. */
export function readerOf(of: CommandName): string {
  return COMMAND_FACTS[of].account ?? SERVICE_ACCOUNT;
}

/**
 * Whether this process sees what the reader of a command sees: it was started by root, or is that account, or the host
 * has no such account.
 */
export async function isReader(of: CommandName, context: CheckContext): Promise<boolean> {
  if (isRoot() || wasRoot()) return true;
  if (readerOf(of) !== SERVICE_ACCOUNT) return false;
  const account = await context.account();
  return account === null || account.uid === process.geteuid?.();
}

/** Whether a failure says only that this process is not the one to look: another account reads that file. */
export async function isForAnotherAccount(
  error: unknown,
  of: CommandName,
  context: CheckContext,
): Promise<boolean> {
  if (!(error instanceof OpsError) || error.code !== "SECRET_FILE_UNREADABLE") return false;
  return isClosedHere(error.cause) && !(await isReader(of, context));
}

/** The result on something of a command that this process may not look at. */
export function closedResult(what: string, of: CommandName, context: CheckContext): CheckResult {
  return { ...notChecked("ROOT_NEEDED", what, asRoot(of, context)), needsRoot: true };
}

/**
 * The same, of what is closed together with the environment file, which says so for all.
 */
export async function closedWithFile(
  what: string,
  of: CommandName,
  context: CheckContext,
): Promise<CheckResult> {
  const { file } = await context.environment(of);
  return closedResult(file.problem === null ? what : `${what}, see environment file`, of, context);
}

/** The result on a path at which this process cannot look: an account that may, or a person, has to. */
export async function unseenResult(
  path: string,
  error: unknown,
  of: CommandName,
  context: CheckContext,
): Promise<CheckResult> {
  const text = `${path} cannot be looked at: ${(error as NodeJS.ErrnoException).code}`;
  if (isClosedHere(error) && !(await isReader(of, context))) return closedResult(text, of, context);
  return notChecked("FILE_UNREADABLE", text, { text: "Look at it (ls -ld)", command: null });
}

/** The command by which all of a command's needs can be looked at, where this doctor looks. */
export function asRoot(of: CommandName, { dependencies }: Pick<CheckContext, "dependencies">): Fix {
  return command(doctorAsRoot(dependencies, ` ${of}`));
}

/** Doctor as root, where this one looks: sudo hands on no variable. */
export function doctorAsRoot(
  { env, envDir }: Pick<DoctorDependencies, "env" | "envDir">,
  words = "",
): string {
  return `sudo ${secretsDirWord(env)}opsctl doctor${words}${envDirOption(envDir)}`;
}
