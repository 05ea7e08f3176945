import { SETTINGS_FILES } from "../../../platform/config/settings-table.ts";
import { unknownSettings } from "../../../platform/config/unknown-names.ts";
import { isClosedHere } from "../../../platform/files/closed-file.ts";
import { wasRoot } from "../../../platform/privileges.ts";
import type { Check } from "../../context/check.ts";
import { COMMAND_FACTS } from "../../context/command-facts.ts";
import { asRoot } from "../../facts/reader.ts";
import { type CommandName, fail, pass, warn } from "../../finding.ts";

/** Commands that work without a file of their own: the webhook's file has what they need. */
const NEED_NO_FILE: readonly CommandName[] = ["socket-monitor"];

/** Whether a command's environment file is there, can be used, and means what it seems to. */
export function environmentFileCheck(command: CommandName): Check {
  return {
    command,
    name: "environment file",
    async run(context) {
      const { path, isThere, names, repeated, problem } = (await context.environment(command)).file;
      if (problem !== null) {
        const lines = problem.message.split("\n").map((line) => line.trim());
        // Who may not look is sent to root, which sees what the account sees.
        const isClosed = isClosedHere(problem.cause) && !wasRoot();
        const fix = isClosed ? asRoot(command, context) : (problem.hint ?? null);
        return [fail(problem.code, lines.join("; "), fix)];
      }
      const { account } = COMMAND_FACTS[command];
      if (!isThere && (account === null || NEED_NO_FILE.includes(command)))
        return [pass(`${path} is not there; this process's own environment counts`)];
      if (!isThere) {
        const reason = `${path} does not exist: what this process has in its environment was looked at`;
        return [warn("ENV_FILE_MISSING", reason, `Create it for ${account} with mode 0600, then fill it in`)];
      }
      const results = [pass(`${path} can be read`)];
      if (repeated.length > 0) {
        const reason = `${path} gives two values, of which the last counts, to ${repeated.join(", ")}`;
        results.push(warn("SETTING_REPEATED", reason, `Remove one of the two in ${path}`));
      }
      for (const unknown of unknownSettings(SETTINGS_FILES[command], names)) {
        const fix = `Correct or remove that line in ${path}`;
        results.push(warn("SETTING_UNKNOWN", `${path} sets ${unknown}`, fix));
      }
      return results;
    },
  };
}
