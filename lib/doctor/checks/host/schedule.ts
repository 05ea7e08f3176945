import { Buffer } from "node:buffer";
import { readFile } from "node:fs/promises";
import type { Check } from "../../context/check.ts";
import { COMMAND_FACTS } from "../../context/command-facts.ts";
import { type CommandName, fail, notChecked, pass, warn } from "../../finding.ts";

/**
 * Puts back what is missing below /etc, which dpkg otherwise takes for the operator's wish, and nothing that was
 * edited.
 *
 * Source: dpkg(1), --force-things, confmiss; tried with dpkg 1.21 and the package of the installed version.
 */
const PUT_BACK =
  "dpkg --force-confmiss --install opsctl_<version>_<architecture>.deb, or in a clone: make install";

/** Whether the cron file has the line that starts a command. */
function cronLineCheck(command: CommandName, pattern: RegExp): Check {
  return {
    command,
    name: "cron",
    isOfHost: true,
    async run({ dependencies }) {
      const { cronFile } = dependencies.paths;
      const text = await readOrNull(cronFile);
      if (text === null)
        return [warn("CRON_MISSING", `${cronFile} does not exist: nothing starts ${command}`, PUT_BACK)];
      const lines = text.toString("utf8").split("\n");
      if (lines.some((line) => pattern.test(line.trim()))) return [pass(`${cronFile} starts ${command}`)];
      return [
        fail(
          "CRON_MISSING",
          `${cronFile} has no line that starts ${command} as it should`,
          `Correct that line in ${cronFile}, or remove the file and have it put back: ${PUT_BACK}`,
        ),
      ];
    },
  };
}

/** Whether the host is on UTC: cron reads Monday 11:00 in the host's zone. */
export function hostZoneCheck(command: CommandName): Check {
  return {
    command,
    name: "host time zone",
    isOfHost: true,
    async run({ dependencies }) {
      const file = await readOrNull(dependencies.paths.localtime);
      // Without the file the system's zone is UTC.
      if (file === null || isUtcZone(file)) return [pass("the host is on UTC")];
      return [
        warn(
          "TIME_ZONE_NOT_UTC",
          "the host is not on UTC: cron starts the weekly run at 11:00 of the host's zone",
          "timedatectl set-timezone UTC, then systemctl restart cron",
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
export function accountCheck(command: CommandName, name: string): Check {
  return {
    command,
    name: "service account",
    isOfHost: true,
    async run(context) {
      if ((await context.account(name)) !== null) return [pass(`account ${name} exists`)];
      return [
        notChecked(
          "ACCOUNT_MISSING",
          `there is no account ${name} on this host, so no file is judged as it would see it`,
          `useradd --system --user-group --no-create-home --shell /usr/sbin/nologin ${name}`,
        ),
      ];
    },
  };
}

/** The check of the cron line, for a command that cron starts. */
export function cronChecks(command: CommandName): Check[] {
  const { cronLine } = COMMAND_FACTS[command];
  return cronLine === null ? [] : [cronLineCheck(command, cronLine)];
}

async function readOrNull(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
