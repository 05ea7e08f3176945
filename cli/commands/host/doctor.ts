/**
 * `opsctl doctor [command]`: whether each command has what it needs. Nothing is written; services are called only to
 * read. Ends with 3 when a check failed.
 *
 * Text:   without a command a line for each of them and the one next step, with one or with `--all` every finding.
 * JSON:   `findings` (each `command`, `check`, `status`: pass, warn, fail, or not_set_up for what this host does not use,
 *         `code` of docs/codes.md, null where nothing is wrong, `reason`, `fix`: `text` and `command` that put it right,
 *         each of them or all of it null; of a warning that nothing was checked `because`: `not_checked`).
 */
import { statSync } from "node:fs";
import process from "node:process";
import { type CommandName, DOCTOR_COMMANDS, type Finding } from "../../../lib/doctor/finding.ts";
import { DEFAULT_ENV_DIR } from "../../../lib/platform/config/settings-table.ts";
import { OpsError } from "../../../lib/platform/errors.ts";
import type { Environment } from "../../../lib/platform/secrets/adapter.ts";
import { argument, flag, option, type ValueCheck } from "../../args/options.ts";
import { defineCommand } from "../../framework/command.ts";
import { EXIT } from "../../framework/exit-status.ts";
import { asOpsError } from "../../framework/failure.ts";

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
  notes:
    "A line for each command and the next step, or every finding of the one that is named.\n" +
    "Each check has 4 seconds, all of them run at once.\n" +
    "Run it as root: it looks at what is root's first, and then as the account that runs the commands.",
  args: {
    command: argument(`One of ${DOCTOR_COMMANDS.join(", ")}; all when left out`, {
      required: false,
      values: DOCTOR_COMMANDS,
    }),
    "env-dir": option(
      "path",
      "Where the commands' environment files are, instead of OPSCTL_ENV_DIR, or /etc/opsctl",
      { values: "directories", check: aDirectory },
    ),
    all: flag("List every finding, not a line for each command"),
    json: flag("Print every finding, as one line of JSON"),
  },
  example: "opsctl doctor weekly",

  async run(args, { env }) {
    const { renderFindings, renderSummary } = await import("../../../lib/doctor/render.ts");
    const { doctorAsRoot } = await import("../../../lib/doctor/facts/reader.ts");
    const { envDirOption } = await import("../../../lib/platform/config/sudo-line.ts");
    const commands = DOCTOR_COMMANDS.filter((name) => name === (args.command ?? name));
    const envDir = args["env-dir"] ?? (await namedEnvDir(env));
    const isNamed = args.command !== undefined;
    const findings = await examine(commands, { env, envDir, isNamed });
    setTimeout(() => process.exit(), LINGER_MS).unref();
    const next = { option: envDirOption(envDir), asRoot: doctorAsRoot({ env, envDir }) };
    return {
      exitCode: findings.some(({ status }) => status === "fail") ? EXIT.notReady : EXIT.ok,
      fields: {
        findings: findings.map(({ needsRoot: _, needsDoctor: _d, isNote: _n, ...finding }) => finding),
      },
      text: (screen) =>
        args.all === true || isNamed
          ? renderFindings(findings, screen)
          : renderSummary(findings, screen, next),
    };
  },
});

/** Runs the checks; root reads its own login for `migrate` before, and becomes the account on the way. */
async function examine(
  commands: readonly CommandName[],
  { env, envDir, isNamed }: { env: Environment; envDir: string; isNamed: boolean },
): Promise<Finding[]> {
  const [{ openDoctorDependencies }, { runDoctor }, { checksFor }, privileges, { readRootsLogin }] =
    await Promise.all([
      import("../../wiring/host/doctor.ts"),
      import("../../../lib/doctor/run.ts"),
      import("../../../lib/doctor/checks/all.ts"),
      import("../../../lib/platform/privileges.ts"),
      import("../../../lib/doctor/context/roots-login.ts"),
    ]);
  const checks = checksFor(commands);
  if (!privileges.isRoot())
    return await runDoctor(openDoctorDependencies({ env, envDir }), checks, { isNamed });
  const { findServiceAccount } = openDoctorDependencies({ env, envDir });
  const account = await findServiceAccount().catch((error: unknown) => asOpsError(error, "find the account"));
  const rootsLogin = commands.includes("migrate") ? await readRootsLogin(env) : null;
  const findAccount = async () => {
    if (account instanceof OpsError) throw account;
    return account;
  };
  const leaveRoot = () => {
    if (account instanceof OpsError) throw account;
    if (account !== null) privileges.becomeAccount(account);
  };
  const dependencies = openDoctorDependencies({ env, envDir, rootsLogin, findAccount });
  return await runDoctor(dependencies, checks, { isNamed, leaveRoot: account === null ? null : leaveRoot });
}

/**
 * The directory of the environment files; set to nothing, OPSCTL_ENV_DIR leaves it where it is installed.
 *
 * Errors: CONFIG_INVALID when it is not an absolute path: every other command refuses it, too.
 */
async function namedEnvDir(env: Environment): Promise<string> {
  const { settingsPath } = await import("../../../lib/platform/config/settings-file.ts");
  const path = settingsPath("weekly.env", env);
  return path === null ? DEFAULT_ENV_DIR : (env.OPSCTL_ENV_DIR ?? DEFAULT_ENV_DIR);
}
