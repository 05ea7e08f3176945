import { sudoLine } from "../../platform/config/sudo-line.ts";
import type { Fix } from "../../platform/errors.ts";
import type { CheckContext } from "../context/check-context.ts";
import { type CheckResult, type CommandName, command, notChecked } from "../finding.ts";

/** The result on a path at which this process cannot look. */
export async function unseenResult(
  path: string,
  error: unknown,
  _of: CommandName,
  _context: CheckContext,
): Promise<CheckResult> {
  const text = `${path} cannot be looked at: ${(error as NodeJS.ErrnoException).code}`;
  return notChecked("FILE_UNREADABLE", text, "Look at it (ls -ld), or look as root");
}

/** The command by which all of a command's needs can be looked at, where this doctor looks. */
export function asRoot(of: CommandName, { dependencies }: Pick<CheckContext, "dependencies">): Fix {
  const { env, envDir } = dependencies;
  return command(sudoLine(`doctor ${of}`, { ...env, OPSCTL_ENV_DIR: envDir }));
}
