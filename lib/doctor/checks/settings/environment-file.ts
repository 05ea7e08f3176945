import { SETTINGS_FILES } from "../../../platform/config/settings-table.ts";
import { unknownSettings, unknownText } from "../../../platform/config/unknown-names.ts";
import type { OpsError } from "../../../platform/errors.ts";
import type { Check } from "../../context/check.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { COMMAND_FACTS } from "../../context/command-facts.ts";
import { asRoot, isForAnotherAccount } from "../../facts/reader.ts";
import { type CheckResult, type CommandName, fail, pass, warn } from "../../finding.ts";

/** Commands that work without a file of their own: the webhook's file has what they need. */
const NEED_NO_FILE: readonly CommandName[] = ["socket-monitor"];

/** Whether a command's environment file is there, can be used, and means what it seems to. */
export function environmentFileCheck(command: CommandName): Check {
  return {
    command,
    name: "environment file",
    async run(context) {
      const { path, isThere, names, repeated, problem } = (await context.environment(command)).file;
      if (problem !== null) return [await problemResult(problem, command, context)];
      const { account } = COMMAND_FACTS[command];
      if (!isThere && (account === null || NEED_NO_FILE.includes(command)))
        return [pass(`${path} is not there; this process's own environment counts`)];
      if (!isThere)
        return [
          warn(
            "ENV_FILE_MISSING",
            `${path} does not exist: what this process has in its environment was looked at`,
            `Create it for ${account} with mode 0600, then fill it in`,
          ),
        ];
      return [
        pass(`${path} can be read`),
        ...(repeated.length === 0
          ? []
          : [
              warn(
                "SETTING_REPEATED",
                `${path} gives two values, of which the last counts, to ${repeated.join(", ")}`,
                `Remove one of the two in ${path}`,
              ),
            ]),
        ...unknownSettings(SETTINGS_FILES[command], names).map((unknown) =>
          warn(
            "SETTING_UNKNOWN",
            `${path} sets ${unknownText(unknown)}`,
            `Correct or remove that line in ${path}`,
          ),
        ),
      ];
    },
  };
}

/** The result on a file that the command itself refuses, line by line. */
async function problemResult(
  error: OpsError,
  command: CommandName,
  context: CheckContext,
): Promise<CheckResult> {
  const reason = error.message
    .split("\n")
    .map((line) => line.trim())
    .join("; ");
  if (await isForAnotherAccount(error, command, context))
    return { ...fail(error.code, reason, asRoot(command, context)), needsRoot: true };
  return fail(error.code, reason, error.hint ?? null);
}
