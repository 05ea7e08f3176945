import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { COMMAND_NAMES, DEFAULT_ENV_DIR } from "../../../lib/platform/config/settings-table.ts";
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

/** `opsctl doctor`: whether each command has what it needs. Writes nothing; services are called only to read. */
export const doctor = defineCommand({
  staysRoot: true,
  notes:
    "A line for each command and the next step, or every finding of the one that is named.\n" +
    "Each check has 4 seconds, all of them run at once.\n" +
    "Run it as root: it looks at what is root's first, and then as the account that runs the commands.",
  args: {
    command: argument(`One of ${COMMAND_NAMES.join(", ")}; all when left out`, {
      required: false,
      values: COMMAND_NAMES,
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
    const [{ openDoctorDependencies }, { runDoctor }, { checksFor }, { renderFindings, renderSummary }] =
      await Promise.all([
        import("../../wiring/host/doctor.ts"),
        import("../../../lib/doctor/run.ts"),
        import("../../../lib/doctor/checks/all.ts"),
        import("../../../lib/doctor/render.ts"),
      ]);
    const { envDirOption } = await import("../../../lib/platform/config/sudo-line.ts");
    const { settingsPath } = await import("../../../lib/platform/config/settings-file.ts");
    const { becomeAccount, isRoot } = await import("../../../lib/platform/privileges.ts");
    const { rootsOwnerLogin } = await import("../../../lib/platform/config/owner-login.ts");
    const commands = COMMAND_NAMES.filter((name) => name === (args.command ?? name));
    const isNamed = args.command !== undefined;
    // Set to nothing, OPSCTL_ENV_DIR turns the files off for this process, and not for cron and systemd.
    const envDir =
      args["env-dir"] ?? dirname(settingsPath("weekly.env", env) ?? join(DEFAULT_ENV_DIR, "weekly.env"));
    const rootsLogin =
      isRoot() && commands.includes("migrate")
        ? await rootsOwnerLogin(env).catch((error: unknown) => asOpsError(error, "read the owner's login"))
        : null;
    const dependencies = openDoctorDependencies({ env, envDir, rootsLogin });
    const examination = { isNamed, becomeAccount: isRoot() ? becomeAccount : null };
    const findings = await runDoctor(dependencies, checksFor(commands), examination);
    setTimeout(() => process.exit(), LINGER_MS).unref();
    return {
      exitCode: findings.some(({ status }) => status === "fail") ? EXIT.notReady : EXIT.ok,
      fields: {
        findings: findings.map(({ needsRoot: _, isNote: _n, ...finding }) => finding),
      },
      text: (screen) =>
        args.all === true || isNamed
          ? renderFindings(findings, screen)
          : renderSummary(findings, screen, envDirOption(envDir)),
    };
  },
});
