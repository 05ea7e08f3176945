import { access, constants, stat } from "node:fs/promises";
import { directoryFault } from "../../../platform/files/directory-fault.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { COMMAND_FACTS } from "../../context/command-facts.ts";
import { type CheckResult, type CommandName, fail, pass } from "../../finding.ts";

/**
 * Whether a command's account may make and change files in a directory, as the kernel says: with access lists, file
 * systems mounted read-only and security modules. Root, which may do nearly everything, has become the account before;
 * any other account is the one that is asked about.
 */
export async function writableResult(
  command: CommandName,
  _context: CheckContext,
  path: string,
  mode: string,
): Promise<CheckResult> {
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
  const fault = writable.status === "pass" ? directoryFault(path) : null;
  return fault === null ? writable : fail("FILE_UNTRUSTED", `${path} will not be used: ${fault}`, PRIVATE);
}

const PRIVATE =
  "Close it to group and others (chmod go-w), or name in OPSCTL_STATE_DIR a directory of the account with mode 0700, in " +
  "one that no other account may write to";
