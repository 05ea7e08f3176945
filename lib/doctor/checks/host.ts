import { access, constants, readFile, stat } from "node:fs/promises";
import { type CheckResult, command, fail, notChecked, pass, warn } from "../../health/result.ts";
import { countSockets } from "../../host/count-sockets.ts";
import { type CronLine, cronLines, isSameSchedule, longestPauseMinutes } from "../../host/cron.ts";
import { directoryFault } from "../../platform/files/directory-fault.ts";
import { type Check, COMMAND_FACTS, type CommandFact, type CommandName } from "../context.ts";

/**
 * Puts back what is missing below /etc, which dpkg otherwise treats as the operator's wish, and nothing that was edited.
 *
 * Source: dpkg(1), --force-things, confmiss; tried with dpkg 1.21 and the package of the installed version.
 */
const PUT_BACK = command(
  "dpkg --force-confmiss --install opsctl_<version>_<architecture>.deb",
  "Correct it, or move it away and put it back by the package; in a clone by make install:",
);

/** The check of the cron file, for a command that cron starts. */
export function cronChecks(of: CommandName): Check[] {
  const { cron, account } = COMMAND_FACTS[of];
  if (cron === null) return [];
  const run: Check["run"] = async ({ dependencies }) => {
    const { cronFile } = dependencies.paths;
    const text = await readFile(cronFile, "utf8").catch((error: NodeJS.ErrnoException) => error);
    if (text instanceof Error) {
      const reason = `${cronFile} cannot be read (${text.code}): nothing starts ${of}`;
      return [(text.code === "ENOENT" ? warn : fail)("CRON_MISSING", reason, PUT_BACK)];
    }
    const lines = cronLines(text).filter((line) => startsCommand(line, of));
    const [first] = lines;
    if (first === undefined)
      return [fail("CRON_MISSING", `${cronFile} has no line that starts ${of}`, PUT_BACK)];
    if (lines.some(({ schedule, user }) => isInTime(schedule, cron) && user === account))
      return [pass(`${cronFile} starts ${of}`)];
    const found = `${cronFile} starts ${of} at "${first.schedule}" as ${first.user}`;
    return [fail("CRON_DIFFERS", `${found}, expected "${cron.schedule}" as ${account}`, PUT_BACK)];
  };
  return [{ command: of, name: "cron", runsAsRoot: true, run }];
}

/** Whether a line of cron starts a command, and not only a trial of it. */
function startsCommand({ command: line }: CronLine, of: CommandName): boolean {
  return new RegExp(`\\bopsctl ${of}(?![\\w-])(?!.*--(?:dry-run|help)\\b)`).test(line);
}

function isInTime(
  schedule: string,
  { schedule: expected, everyMinutes }: NonNullable<CommandFact["cron"]>,
): boolean {
  if (everyMinutes === null) return isSameSchedule(schedule, expected);
  const pause = longestPauseMinutes(schedule);
  return pause !== null && pause <= everyMinutes;
}

const NOT_UTC = warn(
  "TIME_ZONE_NOT_UTC",
  "the host is not on UTC: cron starts the weekly run at 11:00 of the host's zone",
  command("timedatectl set-timezone UTC && systemctl restart cron"),
);

/**
 * Whether the host is on UTC, by the rule in the last line of its zone's file: cron reads Monday 11:00 in the host's
 * zone. Without the file a host is on UTC.
 *
 * Source: RFC 8536, 3.3; POSIX TZ: a name and nothing but zeros.
 */
export const HOST_ZONE_CHECK: Check = {
  command: "weekly",
  name: "host time zone",
  async run({ dependencies }) {
    const file = await readFile(dependencies.paths.localtime, "latin1").catch(() => null);
    const [, rule = ""] = /^TZif[\s\S]*\n([^\n]*)\n$/.exec(file ?? "") ?? [];
    const isUtc = /^(?:[A-Za-z]{3,}|<[A-Za-z0-9+-]+>)[+-]?0+(?::0+)*$/.test(rule);
    return [file === null || isUtc ? pass("the host is on UTC") : NOT_UTC];
  },
};

const ADD = command("useradd --system --user-group --no-create-home --shell /usr/sbin/nologin opsctl");
const NO_ACCOUNT = "there is no account opsctl on this host";

/** Whether this host has the account that runs a command; without it no file of that account's is read. */
export function accountCheck(of: CommandName): Check {
  const run: Check["run"] = async (context) => {
    if ((await context.account()) !== null) return [pass("account opsctl exists")];
    const { problem } = (await context.environment(of)).file;
    if (problem?.code === "SECRET_FILE_UNTRUSTED") return [fail("ACCOUNT_MISSING", NO_ACCOUNT, ADD)];
    return [notChecked("ACCOUNT_MISSING", `${NO_ACCOUNT}: files were judged as this account sees them`, ADD)];
  };
  return { command: of, name: "service account", run };
}

/** Whether the host's sockets can be counted. */
export function socketTableCheck(of: CommandName): Check {
  const run: Check["run"] = async ({ dependencies: { env, paths } }, signal) => {
    try {
      await countSockets({ signal, env, procNet: paths.procNet });
      return [pass("ss and the kernel's counters can be read")];
    } catch (error) {
      const reason = error instanceof Error ? error.message : "the sockets cannot be counted";
      return [fail("SOCKETS_UNREADABLE", reason, command("apt-get install iproute2"))];
    }
  };
  return { command: of, name: "socket table", run };
}

/**
 * Whether a command's account may make and change files in a directory, as the kernel says: with access lists, file
 * systems mounted read-only and security modules. Root, which may do nearly everything, has become the account before;
 * any other account is the one that is asked about.
 */
export async function writableResult(of: CommandName, path: string, mode: string): Promise<CheckResult> {
  const fix = `Make it a directory of ${COMMAND_FACTS[of].account ?? "root"} with mode ${mode}`;
  try {
    await access(path, constants.W_OK | constants.X_OK);
    if ((await stat(path)).isDirectory()) return pass(`${path} can be written to`);
    return fail("DIRECTORY_MISSING", `${path} is not a directory`, fix);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "EROFS") return fail("DIRECTORY_CLOSED", `${path} is mounted read-only (${code})`, REMOUNT);
    return ["ENOENT", "ENOTDIR"].includes(code)
      ? fail("DIRECTORY_MISSING", `${path} does not exist`, fix)
      : fail("DIRECTORY_CLOSED", `this account may not write to ${path} (${code})`, fix);
  }
}

const REMOUNT = command("findmnt -T <directory>", "Mount it for writing; where it is mounted:");

/** The same for a directory in which no other account may write, such as the state directory. */
export async function privateResult(of: CommandName, path: string): Promise<CheckResult> {
  const writable = await writableResult(of, path, "0700");
  const fault = writable.status === "pass" ? directoryFault(path) : null;
  return fault === null
    ? writable
    : fail("FILE_UNTRUSTED", `${path} will not be used: ${fault.why}`, PRIVATE);
}

const PRIVATE =
  "Close it to group and others (chmod go-w), or name in OPSCTL_STATE_DIR a directory of the account with mode 0700, in " +
  "one that no other account may write to";
