import type { Stats } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import process from "node:process";
import { isRoot, trustedUids } from "../../../platform/account/account.ts";
import { DEFAULT_ENV_DIR } from "../../../platform/config/env-files/command-file.ts";
import type { EnvFileFault } from "../../../platform/config/env-files/env-file.ts";
import { oddSettings, oddSettingTexts } from "../../../platform/config/names/odd-settings.ts";
import { OPEN_TO_OTHERS, octal } from "../../../platform/files/modes.ts";
import type { Untrusted } from "../../../platform/files/trusted-path.ts";
import type { Check } from "../../context/check.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { COMMAND_FACTS } from "../../context/command-facts.ts";
import type { HostPaths } from "../../context/dependencies.ts";
import { accessOf, givingLine, openingLine } from "../../facts/access.ts";
import { type EnvironmentFile, foreignStep, isWritableByOthers } from "../../facts/environment.ts";
import { asRoot, readerOf } from "../../facts/reader.ts";
import { type CommandName, fail, pass, type Verdict, warn } from "../../finding.ts";

/** Of more names with two values than this only the number is told. */
const MOST_REPEATED_TOLD = 20;
/** Commands that work without a file of their own: the webhook's file has what they need. */
const NEED_NO_FILE: readonly CommandName[] = ["socket-monitor"];

/**
 * Whether a command's environment file exists, is closed to others, is readable by its account, and means what it seems
 * to.
 */
export function environmentFileCheck(command: CommandName): Check {
  return {
    command,
    name: "environment file",
    async run(context) {
      const { file } = await context.environment(command);
      const { path, stats, problem } = file;
      if (problem !== null) return [await unreadVerdict(context, command, { ...file, problem })];
      if (stats === null) return [await missingVerdict(command, path, context.dependencies.paths)];
      const refusal = await accessFault(context, command, { path, stats });
      return refusal === null ? contentVerdicts(file, stats) : [refusal];
    },
  };
}

/** What keeps the command's account from reading the file, or lets others read it; null when nothing does. */
async function accessFault(
  context: CheckContext,
  command: CommandName,
  { path, stats }: { path: string; stats: Stats },
): Promise<Verdict | null> {
  const name = readerOf(command);
  if ((stats.mode & OPEN_TO_OTHERS) !== 0) {
    const mend = name === "root" && isWritableByOthers(stats) ? awayForRoot(path) : `chmod 0600 ${path}`;
    return fail(
      "SECRET_FILE_EXPOSED",
      `${path} has mode ${octal(stats.mode)}, open to group or others`,
      mend,
    );
  }
  const account = await context.account(name);
  if (account === null) return null;
  if (name === "root" && stats.uid !== account.uid)
    return fail(
      "SECRET_FILE_UNTRUSTED",
      `${path} belongs to uid ${stats.uid}, and root reads it`,
      awayForRoot(path),
    );
  const access = await accessOf(path, account, "read");
  return access.status === "allowed"
    ? null
    : fail("SECRET_FILE_UNREADABLE", access.text, openingLine(access, path, `${name}:${name}`));
}

/** The verdicts on what stands in a file that its account can read. */
function contentVerdicts(file: EnvironmentFile, { mode }: Stats): Verdict[] {
  const { path, faults } = file;
  const [fault] = faults;
  if (fault !== undefined) return [faultVerdict(path, fault)];
  return [pass(`${path} has mode ${octal(mode)}`), ...repeatedVerdicts(file), ...oddVerdicts(file)];
}

/** The verdict on a file with a line that cannot be read: the command refuses to start with it. */
function faultVerdict(path: string, { line, problem }: EnvFileFault): Verdict {
  return fail(
    "ENV_FILE_INVALID",
    `ENV_FILE_INVALID: ${path}: line ${line} ${problem}`,
    `Correct line ${line} of ${path}`,
  );
}

/** Warns of each name with two values: someone has probably added a line without seeing the other one. */
function repeatedVerdicts({ path, repeated }: EnvironmentFile): Verdict[] {
  const verdicts = repeated
    .slice(0, MOST_REPEATED_TOLD)
    .map((name) =>
      warn(
        "SETTING_REPEATED",
        `${path} gives ${name} two values, of which the last counts`,
        `Remove one of the two in ${path}`,
      ),
    );
  const more = repeated.length - verdicts.length;
  return more === 0
    ? verdicts
    : [...verdicts, warn("SETTING_REPEATED", `${path} gives ${more} more names two values`)];
}

/** Warns of names that resemble opsctl's settings and have no effect: nothing else reports a misspelt optional one. */
function oddVerdicts({ path, variables }: EnvironmentFile): Verdict[] {
  const names = [...variables].flatMap(([name, value]) => (value.trim() === "" ? [] : [name]));
  const { told, more } = oddSettings(basename(path), names);
  const verdicts = told.map((odd) => {
    const { what, todo } = oddSettingTexts(odd);
    return warn("SETTING_UNKNOWN", `${path} sets ${what}`, `${todo}: edit ${path}`);
  });
  return more === 0
    ? verdicts
    : [...verdicts, warn("SETTING_UNKNOWN", `${path} sets ${more} more that have no effect`)];
}

/**
 * The verdict on a file that exists and could not be read, with the command that lets the account of its command read
 * it.
 *
 * Behaviour: only a process of that account knows what is wrong; any other one says to look as root.
 */
async function unreadVerdict(
  context: CheckContext,
  command: CommandName,
  { path, stats, problem }: EnvironmentFile & { problem: string },
): Promise<Verdict> {
  const name = readerOf(command);
  const account = await context.account(name);
  const isThisAccount = account !== null && account.uid === process.geteuid?.();
  const step = foreignStep(path);
  const code = step !== null || isForeign(stats) ? "SECRET_FILE_UNTRUSTED" : "SECRET_FILE_UNREADABLE";
  if (!isThisAccount) return fail(code, `${path}: ${problem}`, asRoot(command, context));
  if (step !== null && step.mend !== null) return fail(code, `${path}: ${problem}`, step.mend);
  if (name === "root") return fail(code, `${path}: ${problem}`, mendForRoot(path, step));
  const access = await accessOf(path, account, "read");
  if (access.status !== "allowed" && access.why === "closed")
    return fail(code, access.text, openingLine(access, path, `${name}:${name}`));
  // Another account may have written to it: the right owner alone does not make it trusted.
  const isWrittenByOthers = stats !== null && trustedUids().includes(stats.uid) && isWritableByOthers(stats);
  const mend = isWrittenByOthers ? `chmod 0600 ${path}` : givingLine(path, `${name}:${name}`);
  return fail(code, `${path}: ${problem}`, mend);
}

/** Whether another account owns the file or, where root reads it, may write to it. */
function isForeign(stats: Stats | null): boolean {
  return stats !== null && (!trustedUids().includes(stats.uid) || (isRoot() && isWritableByOthers(stats)));
}

/** What puts right a file that root reads and refused; `step` is a directory or link of another account on its way. */
function mendForRoot(path: string, step: Untrusted | null): string {
  return step === null
    ? awayForRoot(path)
    : `Keep it where the whole way is root's, such as ${DEFAULT_ENV_DIR}; who needs that place: ls -ld ${step.path}`;
}

/**
 * The line that makes way for a file of root's; the check says next how that one is made.
 *
 * Behaviour: who could write to the old one chose what is in it, may still have it open for writing, and root would
 *            run the collector with it: it is neither given to root nor closed, but moved aside, where root can look at
 *            it.
 */
function awayForRoot(path: string): string {
  return `Look at it, then move it away: mv -nT ${path} ${path}.foreign`;
}

/**
 * The verdict on a file that does not exist.
 *
 * Behaviour: a fault where cron or the unit starts the command with it; else a warning, because the settings of this
 *            process, which may be other ones, were looked at in its place.
 */
async function missingVerdict(command: CommandName, path: string, paths: HostPaths): Promise<Verdict> {
  const { account } = COMMAND_FACTS[command];
  if (account === null) return pass(`${path} is not there; this process's own environment counts`);
  const mend = `install -D -m 0600 -o ${account} /dev/null ${path} # then fill it in`;
  const lines = await linesThatStart(paths);
  if (lines.some((line) => loads(line, path)))
    return fail(
      "ENV_FILE_MISSING",
      `${path} does not exist: ${command} is started with it and ends at once`,
      mend,
    );
  const { cronLine } = COMMAND_FACTS[command];
  if (NEED_NO_FILE.includes(command))
    return pass(`${path} is not there; the webhook's file and this process's own environment count`);
  if (lines.some((line) => cronLine?.test(line)))
    return fail(
      "ENV_FILE_MISSING",
      `${path} does not exist: cron starts ${command} without any other setting`,
      mend,
    );
  return warn(
    "ENV_FILE_MISSING",
    `${path} does not exist: what this process has in its environment was looked at`,
    mend,
  );
}

/** The lines that start commands: those of the cron file and of the unit of the webhook's service. */
async function linesThatStart({ cronFile, unitDirs }: HostPaths): Promise<string[]> {
  const files = [cronFile, ...unitDirs.map((folder) => join(folder, "opsctl-webhook.service"))];
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
  return texts.flatMap((text) => text.split("\n"));
}

/** Whether such a line loads the file first, as older versions wrote it; that fails where there is no file. */
function loads(line: string, path: string): boolean {
  return line === `EnvironmentFile=${path}` || (/^[\d*]/.test(line) && line.includes(`. ${path};`));
}
