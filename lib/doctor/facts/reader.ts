import process from "node:process";
import { sudoLine } from "../../platform/config/sudo-line.ts";
import { type Fix, OpsError } from "../../platform/errors.ts";
import { isClosedHere } from "../../platform/files/closed-file.ts";
import { isRoot, wasRoot } from "../../platform/privileges.ts";
import type { CheckContext } from "../context/check-context.ts";
import { COMMAND_FACTS } from "../context/command-facts.ts";
import { type CheckResult, type CommandName, command, notChecked } from "../finding.ts";

/**
 * Whether this process sees what a command sees: it was started by root, or is the service account, or the host has no
 * such account.
 */
export async function isReader(of: CommandName, context: CheckContext): Promise<boolean> {
  if (isRoot() || wasRoot()) return true;
  if (COMMAND_FACTS[of].account === "root") return false;
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

/** The result on a path at which this process cannot look: an account that may, or a person, has to. */
export async function unseenResult(
  path: string,
  error: unknown,
  of: CommandName,
  context: CheckContext,
): Promise<CheckResult> {
  const text = `${path} cannot be looked at: ${(error as NodeJS.ErrnoException).code}`;
  if (isClosedHere(error) && !(await isReader(of, context))) return closedResult(text, of, context);
  return notChecked("FILE_UNREADABLE", text, "Look at it (ls -ld)");
}

/** The command by which all of a command's needs can be looked at, where this doctor looks. */
export function asRoot(of: CommandName, { dependencies }: Pick<CheckContext, "dependencies">): Fix {
  const { env, envDir } = dependencies;
  return command(sudoLine(`doctor ${of}`, { ...env, OPSCTL_ENV_DIR: envDir }));
}
