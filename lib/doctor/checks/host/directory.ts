import { access, constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { DEFAULT_STATE_DIR } from "../../../platform/config/directories.ts";
import { SETTINGS } from "../../../platform/config/settings-table.ts";
import { octal } from "../../../platform/files/modes.ts";
import { findForeign, stepsTo } from "../../../platform/files/trusted-path.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { COMMAND_FACTS } from "../../context/command-facts.ts";
import { closedResult, isReader, unseenResult } from "../../facts/reader.ts";
import { type CheckResult, type CommandName, fail, fixAt, pass } from "../../finding.ts";

/** The directories of the service account in an installation. */
const DIRECTORIES: readonly string[] = [DEFAULT_STATE_DIR, SETTINGS.OPSCTL_LOG_DIR.default];

/**
 * Whether a command's account may make and change files in a directory, as the kernel says: with access lists, file
 * systems mounted read-only and security modules.
 *
 * Behaviour: opens nothing and tries nothing. Root may do nearly everything: it is asked after root has become the
 *            account.
 */
export async function writableResult(
  command: CommandName,
  context: CheckContext,
  path: string,
  mode: string,
): Promise<CheckResult> {
  const isOther = !(await isReader(command, context));
  if (isOther) return closedResult(`whether ${path} can be written to: ${NOT_WRITER}`, command, context);
  const owner = COMMAND_FACTS[command].account ?? "root";
  const make = `Make it a directory of ${owner} with mode ${mode}`;
  const fix = fixAt(
    path,
    DIRECTORIES,
    make,
    (known) => `install -d -o ${owner} -g ${owner} -m ${mode} ${known}`,
  );
  try {
    await access(path, constants.W_OK | constants.X_OK);
    return (await stat(path)).isDirectory()
      ? pass(`${path} can be written to`)
      : fail("DIRECTORY_MISSING", `${path} is not a directory`, `Move away what is there. ${make}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EROFS")
      return fail("DIRECTORY_CLOSED", `${path} is on a file system that is read-only`, ELSEWHERE);
  }
  // The first step on the way that keeps this process out.
  for (const step of stepsTo(path)) {
    const found = await stat(step).catch((error: NodeJS.ErrnoException) => error);
    if (!(found instanceof Error)) {
      if (found.isDirectory()) continue;
      return fail("DIRECTORY_MISSING", `${step} is not a directory`, `Move away what is there. ${make}`);
    }
    if (found.code === "EACCES")
      return fail(
        "DIRECTORY_CLOSED",
        await closedText(dirname(step)),
        "Let others pass through it: chmod o+x",
      );
    if (found.code !== "ENOENT") return await unseenResult(step, found, command, context);
    return fail("DIRECTORY_MISSING", `${step} does not exist`, fix);
  }
  return fail("DIRECTORY_CLOSED", await closedText(path), fix);
}

const NOT_WRITER = "this account is not the one that writes";
const ELSEWHERE = "Name a directory on another file system";

async function closedText(path: string): Promise<string> {
  const { mode, uid, gid } = await stat(path);
  return `${path} with mode ${octal(mode)} of uid ${uid}, gid ${gid} is closed to this account`;
}

/** The same for a directory in which no other account may write, such as the state directory. */
export async function privateResult(
  command: CommandName,
  context: CheckContext,
  path: string,
): Promise<CheckResult> {
  const writable = await writableResult(command, context, path, "0700");
  if (writable.status !== "pass") return writable;
  const found = findForeign(path);
  return found === null
    ? writable
    : fail("FILE_UNTRUSTED", `${path} will not be used: ${found.why}`, PRIVATE);
}

const PRIVATE =
  "Close it to group and others (chmod go-w), or name in OPSCTL_STATE_DIR a directory of the account with mode 0700 " +
  "whose whole way no other account may write to";
