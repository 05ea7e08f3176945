/**
 * `opsctl doctor [command]`: whether each command has what it needs.
 *
 * Reads:  environment files, secrets, the database, modes and owners of files and directories, units, the cron file,
 *         the webhook's state (a state file only where reading it creates no other file beside it).
 * Runs:   started by root, the checks of the service account's commands run as that account, those of the collector as
 *         root.
 * Writes: nothing.
 * Calls:  every peer of the command, with calls that only read; `systemctl is-enabled` and `is-active`; `ss`.
 * Env:    that of the command, from `/etc/opsctl/<command>.env` and from this process, which wins; NO_COLOR, COLUMNS.
 * Exits:  0 no finding failed, 2 usage, also for an --env-dir that is not there, 3 a finding failed, or OPSCTL_ENV_DIR is no absolute path.
 *
 * Text:   without a command a line for each of them and the one next step, with one or with `--all` every finding.
 * JSON:   `command`, `status`, `exitCode`, `error`, `findings` (each `command`, `check`, `status`: pass, warn, fail, or
 *         not_set_up for what this host does not use, `code` of docs/codes.md, null
 *         where nothing is wrong, `reason`, `mend`: the command or line that puts it right, or
 *         null; of a warning that nothing was checked `because`: `not_checked`).
 */
import { statSync } from "node:fs";
import process from "node:process";
import { DOCTOR_COMMANDS } from "../../../lib/doctor/finding.ts";
import { DEFAULT_ENV_DIR } from "../../../lib/platform/config/env-files/command-file.ts";
import type { Environment } from "../../../lib/platform/secrets/adapter.ts";
import { defineCommand, type ValueCheck } from "../../framework/command.ts";
import { EXIT } from "../../framework/exit-status.ts";
import { outcomeOf } from "../../framework/outcome.ts";
import { standardScreen } from "../../framework/streams/screen.ts";

/** What still hangs by then, such as a name lookup or a disk, must not keep the process beyond five seconds. */
const LINGER_MS = 200;

/** A slip of the pen would else look like a host on which nothing is set up. */
const aDirectory: ValueCheck = (value) => {
  if (!value.startsWith("/")) return "expects an absolute path";
  try {
    const stats = statSync(value, { throwIfNoEntry: false });
    return stats?.isDirectory() ? undefined : "expects a directory that is there";
  } catch {
    // It is closed to this account: the checks say so.
    return undefined;
  }
};

/** The command; see the head of this file. */
export const doctor = defineCommand({
  meta: { name: "doctor", description: "Check what the commands need on this host; change nothing" },
  notes:
    "A line for each command and the next step, or every finding of the one that is named.\n" +
    "Each check has 4 seconds, all of them run at once.\n" +
    "Run it as root: the checks of a command then run as the account that runs the command.",
  args: {
    command: {
      type: "positional",
      required: false,
      description: `One of ${DOCTOR_COMMANDS.join(", ")}; all when left out`,
    },
    "env-dir": {
      type: "string",
      valueHint: "path",
      description: "Where the commands' environment files are, instead of OPSCTL_ENV_DIR, or /etc/opsctl",
    },
    all: { type: "boolean", description: "List every finding, not a line for each command" },
    json: { type: "boolean", description: "Print every finding, as one line of JSON" },
  },
  checks: {
    "env-dir": aDirectory,
  },
  values: { command: DOCTOR_COMMANDS, "env-dir": "directories" },
  example: "opsctl doctor weekly",

  async run(args, { env }) {
    const { doctorFindings } = await import("../../child-process/doctor-findings.ts");
    const { renderFindings } = await import("../../../lib/doctor/render.ts");
    const { renderSummary } = await import("../../../lib/doctor/render-summary.ts");
    const { aboutReasons } = await import("../../../lib/doctor/advice/account-says.ts");
    const { prose } = await import("../../../lib/text/terminal/prose.ts");
    const commands = DOCTOR_COMMANDS.filter((name) => name === (args.command ?? name));
    const envDir = args["env-dir"] ?? (await namedEnvDir(env));
    const { findings, saidBy } = await doctorFindings({
      commands,
      isNamed: args.command !== undefined,
      env,
      envDir,
    });
    const exitCode = findings.some(({ status }) => status === "fail") ? EXIT.notReady : EXIT.ok;
    setTimeout(() => process.exit(), LINGER_MS).unref();
    const isList = args.all === true || args.command !== undefined;
    const screen = await standardScreen(env);
    const shown = isList ? renderFindings(findings, screen) : renderSummary(findings, screen, envDir);
    const text = saidBy === null ? shown : `${shown}\n${prose([aboutReasons(saidBy)], screen)}`;
    return outcomeOf({ command: "doctor", exitCode, fields: { findings }, text });
  },
});

/**
 * The directory of the environment files; set to nothing, OPSCTL_ENV_DIR leaves it where it is installed.
 *
 * Errors: CONFIG_INVALID when it is not an absolute path: every other command refuses it, too.
 */
async function namedEnvDir(env: Environment): Promise<string> {
  const { settingsPath } = await import("../../../lib/platform/config/env-files/settings-file.ts");
  const path = settingsPath("weekly.env", env);
  return path === null ? DEFAULT_ENV_DIR : (env.OPSCTL_ENV_DIR ?? DEFAULT_ENV_DIR);
}
