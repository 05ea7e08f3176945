import { sudoLine } from "../../platform/config/sudo-line.ts";
import type { Fix } from "../../platform/errors.ts";
import type { CheckContext } from "../context/check-context.ts";
import { type CommandName, command } from "../finding.ts";

/** The command by which all of a command's needs can be looked at, where this doctor looks. */
export function asRoot(of: CommandName, { dependencies }: Pick<CheckContext, "dependencies">): Fix {
  const { env, envDir } = dependencies;
  return command(sudoLine(`doctor ${of}`, { ...env, OPSCTL_ENV_DIR: envDir }));
}
