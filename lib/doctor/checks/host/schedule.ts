import { Buffer } from "node:buffer";
import { readFile } from "node:fs/promises";
import { type CronLine, cronLines, isSameSchedule, longestPauseMinutes } from "../../../host/cron.ts";
import type { Check } from "../../context/check.ts";
import { COMMAND_FACTS, type CronFact } from "../../context/command-facts.ts";
import { type CommandName, command, fail, notChecked, pass, warn } from "../../finding.ts";

/**
 * Puts back what is missing below /etc, which dpkg otherwise takes for the operator's wish, and nothing that was
 * edited.
 *
 * Source: dpkg(1), --force-things, confmiss; tried with dpkg 1.21 and the package of the installed version.
 */
const PUT_BACK = command(
  "dpkg --force-confmiss --install opsctl_<version>_<architecture>.deb",
  "Put it back by the package; in a clone by make install:",
);

/** The check of the cron file, for a command that cron starts. */
export function cronChecks(of: CommandName): Check[] {
  const { cron, account } = COMMAND_FACTS[of];
  if (cron === null) return [];
  return [
    {
      command: of,
      name: "cron",
      runsAsRoot: true,
      async run({ dependencies }) {
        const { cronFile } = dependencies.paths;
        const text = await readOrNull(cronFile).catch((error: NodeJS.ErrnoException) => error);
        if (text instanceof Error)
          return [fail("CRON_MISSING", `${cronFile} cannot be read: ${text.code}`, MOVE_AWAY)];
        if (text === null)
          return [warn("CRON_MISSING", `${cronFile} does not exist: nothing starts ${of}`, PUT_BACK)];
        const lines = cronLines(text.toString("utf8")).filter((line) => startsCommand(line, of));
        const [first] = lines;
        if (first === undefined)
          return [fail("CRON_MISSING", `${cronFile} has no line that starts ${of}`, CORRECT)];
        if (lines.some(({ schedule, user }) => isInTime(schedule, cron) && user === account))
          return [pass(`${cronFile} starts ${of}`)];
        const { schedule, user } = first;
        const expected = `expected "${cron.schedule}" as ${account}`;
        return [
          fail("CRON_DIFFERS", `${cronFile} starts ${of} at "${schedule}" as ${user}, ${expected}`, CORRECT),
        ];
      },
    },
  ];
}

const MOVE_AWAY = { ...PUT_BACK, text: `Move away what is there. ${PUT_BACK.text}` };
const CORRECT = { ...PUT_BACK, text: `Correct that line, or remove the file. ${PUT_BACK.text}` };

/** Whether a line of cron starts a command, and not only a trial of it. */
export function startsCommand({ command: line }: CronLine, of: CommandName): boolean {
  return new RegExp(`\\bopsctl ${of}(?![\\w-])(?!.*--(?:dry-run|help)\\b)`).test(line);
}

function isInTime(schedule: string, { schedule: expected, everyMinutes }: CronFact): boolean {
  if (everyMinutes === null) return isSameSchedule(schedule, expected);
  const pause = longestPauseMinutes(schedule);
  return pause !== null && pause <= everyMinutes;
}

/** Whether the host is on UTC: cron reads Monday 11:00 in the host's zone. */
export function hostZoneCheck(of: CommandName): Check {
  return {
    command: of,
    name: "host time zone",
    async run({ dependencies }) {
      const file = await readOrNull(dependencies.paths.localtime);
      // Without the file the system's zone is UTC.
      if (file === null || isUtcZone(file)) return [pass("the host is on UTC")];
      return [
        warn(
          "TIME_ZONE_NOT_UTC",
          "the host is not on UTC: cron starts the weekly run at 11:00 of the host's zone",
          command("timedatectl set-timezone UTC && systemctl restart cron"),
        ),
      ];
    },
  };
}

/**
 * Whether a file of the time zone database stands for UTC the whole year.
 *
 * Behaviour: reads the rule in the file's last line; a file of the oldest version has no such line and counts as
 *            another zone.
 * Source:    RFC 8536, 3.3; POSIX TZ: a name and nothing but zeros.
 */
export function isUtcZone(file: Uint8Array): boolean {
  const text = Buffer.from(file).toString("latin1");
  if (!text.startsWith("TZif")) return false;
  const rule = /\n([^\n]*)\n$/.exec(text)?.[1] ?? "";
  return /^(?:[A-Za-z]{3,}|<[A-Za-z0-9+-]+>)[+-]?0+(?::0+)*$/.test(rule);
}

/** Whether this host has the account that runs a command. */
export function accountCheck(of: CommandName): Check {
  return {
    command: of,
    name: "service account",
    async run(context) {
      if ((await context.account()) !== null) return [pass("account opsctl exists")];
      return [
        notChecked(
          "ACCOUNT_MISSING",
          "there is no account opsctl on this host, so every file was judged as this account sees it",
          command("useradd --system --user-group --no-create-home --shell /usr/sbin/nologin opsctl"),
        ),
      ];
    },
  };
}

async function readOrNull(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
