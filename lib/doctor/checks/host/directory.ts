import { access, constants, stat } from "node:fs/promises";
import { OpsError } from "../../../platform/errors.ts";
import { requireOwnDirectory } from "../../../platform/files/own-file.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { COMMAND_FACTS } from "../../context/command-facts.ts";
import { closedResult, isReader } from "../../facts/reader.ts";
import { type CheckResult, type CommandName, fail, failure, pass } from "../../finding.ts";

/**
 * Whether a command's account may make and change files in a directory, as the kernel says: with access lists, file
 * systems mounted read-only and security modules. Root, which may do nearly everything, has become the account before.
 */
export async function writableResult(
  command: CommandName,
  context: CheckContext,
  path: string,
  mode: string,
): Promise<CheckResult> {
  if (!(await isReader(command, context)))
    return closedResult(`whether the account of ${command} may write to ${path}`, command, context);
  const fix = `Make it a directory of ${COMMAND_FACTS[command].account ?? "root"} with mode ${mode}`;
  try {
    await access(path, constants.W_OK | constants.X_OK);
    if ((await stat(path)).isDirectory()) return pass(`${path} can be written to`);
    return fail("DIRECTORY_MISSING", `${path} is not a directory`, fix);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return ["ENOENT", "ENOTDIR"].includes(code)
      ? fail("DIRECTORY_MISSING", `${path} does not exist`, fix)
      : fail("DIRECTORY_CLOSED", `this account may not write to ${path} (${code})`, fix);
  }
}

/** The same for a directory in which no other account may write, such as the state directory. */
export async function privateResult(
  command: CommandName,
  context: CheckContext,
  path: string,
): Promise<CheckResult> {
  const writable = await writableResult(command, context, path, "0700");
  try {
    if (writable.status === "pass") requireOwnDirectory(path);
    return writable;
  } catch (error) {
    if (error instanceof OpsError) return failure(error);
    throw error;
  }
}
