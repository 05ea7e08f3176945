import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import process from "node:process";
import { trustedUids } from "../../platform/account/account.ts";
import type { EnvFileFault } from "../../platform/config/env-file.ts";
import { oddSettings, oddSettingTexts } from "../../platform/config/odd-settings.ts";
import { OPEN_TO_OTHERS } from "../../platform/files/modes.ts";
import type { Check } from "../context/check.ts";
import type { CheckContext } from "../context/check-context.ts";
import { COMMAND_FACTS } from "../context/command-facts.ts";
import type { HostPaths } from "../context/dependencies.ts";
import { accessOf, octal, openingLine } from "../facts/access.ts";
import { type EnvironmentFile, isWritableByOthers } from "../facts/environment.ts";
import { asRoot, readerOf } from "../facts/reader.ts";
import { type CommandName, fail, pass, type Verdict, warn } from "../finding.ts";

/** Told at most. */
const MOST_REPEATED = 20;
/** What it needs stands in the webhook's file. */
const HAS_ANOTHER_FILE: readonly CommandName[] = ["socket-monitor"];

/** Whether the environment file of a command exists, is closed to others, and can be read by its account. */
export function environmentFileCheck(command: CommandName): Check {
  return {
    command,
    name: "environment file",
    async run(context) {
      const { file } = await context.environment(command);
      const { path, stats, problem } = file;
      if (problem !== null) return [await unreadVerdict(context, command, { ...file, problem })];
      if (stats === null) return [await absentVerdict(command, path, context.dependencies.paths)];
      const name = readerOf(command);
      if ((stats.mode & OPEN_TO_OTHERS) !== 0)
        return [fail(`${path} has mode ${octal(stats.mode)}, open to group or others`, `chmod 0600 ${path}`)];
      const account = await context.account(name);
      if (name === "root" && account !== null && stats.uid !== account.uid)
        return [fail(`${path} belongs to uid ${stats.uid}, and root reads it`, `chown -h root:root ${path}`)];
      const access =
        account === null ? { status: "allowed" as const } : await accessOf(path, account, "read");
      const [fault] = file.faults;
      if (access.status === "allowed" && fault !== undefined) return [faultVerdict(path, fault)];
      if (access.status === "allowed")
        return [
          pass(`${path} has mode ${octal(stats.mode)}`),
          ...repeatedVerdicts(file),
          ...oddVerdicts(file),
        ];
      return [fail(access.text, openingLine(access, path, `${name}:${name}`))];
    },
  };
}

/** The verdict on a file with which its command does not start. */
function faultVerdict(path: string, { line, problem }: EnvFileFault): Verdict {
  return fail(`ENV_FILE_INVALID: ${path}: line ${line} ${problem}`, `Correct line ${line} of ${path}`);
}

/** A person who has added a line and not seen the one above it, or the other way round. */
function repeatedVerdicts({ path, repeated }: EnvironmentFile): Verdict[] {
  const verdicts = repeated
    .slice(0, MOST_REPEATED)
    .map((name) =>
      warn(`${path} gives ${name} two values, of which the last counts`, `Remove one of the two in ${path}`),
    );
  const more = repeated.length - verdicts.length;
  return more === 0 ? verdicts : [...verdicts, warn(`${path} gives ${more} more names two values`)];
}

/** Names that were meant for opsctl and have no effect: a slip of the pen in an optional setting is seen nowhere else. */
function oddVerdicts({ path, variables }: EnvironmentFile): Verdict[] {
  const names = [...variables].flatMap(([name, value]) => (value.trim() === "" ? [] : [name]));
  const { told, more } = oddSettings(basename(path), names);
  const verdicts = told.map((odd) => {
    const { what, todo } = oddSettingTexts(odd);
    return warn(`${path} sets ${what}`, `${todo}: edit ${path}`);
  });
  return more === 0 ? verdicts : [...verdicts, warn(`${path} sets ${more} more that have no effect`)];
}

/** The verdict on a file that was not read, with the line that lets the command's account read it. */
async function unreadVerdict(
  context: CheckContext,
  command: CommandName,
  { path, stats, problem }: EnvironmentFile & { problem: string },
): Promise<Verdict> {
  const name = readerOf(command);
  const account = await context.account(name);
  const isThisAccount = account !== null && account.uid === process.geteuid?.();
  if (!isThisAccount) return fail(`${path}: ${problem}`, asRoot(command, context));
  const access = await accessOf(path, account, "read");
  if (access.status !== "allowed" && access.why === "closed")
    return fail(access.text, openingLine(access, path, `${name}:${name}`));
  const isOwn = stats !== null && trustedUids().includes(stats.uid);
  const mend = isOwn && isWritableByOthers(stats) ? `chmod 0600 ${path}` : `chown -h ${name}:${name} ${path}`;
  return fail(`${path}: ${problem}`, mend);
}

async function absentVerdict(command: CommandName, path: string, paths: HostPaths): Promise<Verdict> {
  const { account } = COMMAND_FACTS[command];
  if (account === null) return pass(`${path} is not there; this process's own environment counts`);
  const mend = `install -D -m 0600 -o ${account} /dev/null ${path} # then fill it in`;
  const lines = await startingLines(paths);
  if (lines.some((line) => loads(line, path)))
    return fail(`${path} does not exist: ${command} is started with it and ends at once`, mend);
  const { cronLine } = COMMAND_FACTS[command];
  if (HAS_ANOTHER_FILE.includes(command))
    return pass(`${path} is not there; the webhook's file and this process's own environment count`);
  if (lines.some((line) => cronLine?.test(line)))
    return fail(`${path} does not exist: cron starts ${command} without any other setting`, mend);
  return warn(`${path} does not exist: what this process has in its environment was looked at`, mend);
}

/** The lines of the cron file and of the service's unit. */
async function startingLines({ cronFile, unitDirs }: HostPaths): Promise<string[]> {
  const files = [cronFile, ...unitDirs.map((folder) => join(folder, "opsctl-webhook.service"))];
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
  return texts.flatMap((text) => text.split("\n"));
}

/** Whether a line of an installation loads this file itself, and so stops when it is missing. */
function loads(line: string, path: string): boolean {
  return line === `EnvironmentFile=${path}` || (/^[\d*]/.test(line) && line.includes(`. ${path};`));
}
