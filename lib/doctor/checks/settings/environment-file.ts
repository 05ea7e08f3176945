import type { Stats } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { cronLines } from "../../../host/cron.ts";
import type { EnvFileFault } from "../../../platform/config/env-file.ts";
import { commandFile, DEFAULT_ENV_DIR } from "../../../platform/config/settings-table.ts";
import { unknownSettings, unknownText } from "../../../platform/config/unknown-names.ts";
import { inWords } from "../../../platform/errors.ts";
import { OPEN_TO_OTHERS, octal } from "../../../platform/files/modes.ts";
import type { Check } from "../../context/check.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { COMMAND_FACTS } from "../../context/command-facts.ts";
import type { HostPaths } from "../../context/dependencies.ts";
import type { EnvironmentFile } from "../../facts/environment.ts";
import { asRoot, isReader, readerOf } from "../../facts/reader.ts";
import { type CheckResult, type CommandName, fail, fixAt, pass, warn } from "../../finding.ts";
import { startsCommand } from "../host/schedule.ts";

/** Of more names with two values than this only the number is reported. */
const MOST_REPEATED = 20;
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
      return await environmentFileResults(context, (await context.environment(command)).file);
    },
  };
}

/** The results on an environment file. */
export async function environmentFileResults(
  context: CheckContext,
  file: EnvironmentFile,
): Promise<CheckResult[]> {
  const { command, path, stats, problem } = file;
  if (problem !== null) return [await unreadResult(context, command, { ...file, problem })];
  if (stats === null) return [await missingResult(command, path, context.dependencies.paths)];
  const isOpen = (stats.mode & OPEN_TO_OTHERS) !== 0;
  return isOpen ? [exposedResult(file, stats)] : contentResults(file, stats);
}

/** Where the file of a command is in an installation. */
function installedFiles(command: CommandName): string[] {
  return [join(DEFAULT_ENV_DIR, commandFile(command) ?? "")];
}

function exposedResult({ path, command }: EnvironmentFile, { mode }: Stats): CheckResult {
  return fail(
    "SECRET_FILE_EXPOSED",
    `${path} has mode ${octal(mode)}, open to group or others`,
    fixAt(path, installedFiles(command), "Close it to group and others", (known) => `chmod 0600 ${known}`),
  );
}

/** The results on what stands in a file that its account can read. */
function contentResults(file: EnvironmentFile, { mode }: Stats): CheckResult[] {
  const { path, faults } = file;
  const [fault] = faults;
  if (fault !== undefined) return [faultResult(path, fault)];
  return [pass(`${path} has mode ${octal(mode)}`), ...repeatedResults(file), ...oddResults(file)];
}

/** The result on a file with a line that cannot be read: the command refuses to start with it. */
function faultResult(path: string, { line, problem }: EnvFileFault): CheckResult {
  return fail("ENV_FILE_INVALID", `${path}: line ${line} ${problem}`, `Correct line ${line} of ${path}`);
}

/** Warns of each name with two values: someone has probably added a line without seeing the other one. */
function repeatedResults({ path, repeated }: EnvironmentFile): CheckResult[] {
  const results = repeated
    .slice(0, MOST_REPEATED)
    .map((name) =>
      warn(
        "SETTING_REPEATED",
        `${path} gives ${name} two values, of which the last counts`,
        `Remove one of the two in ${path}`,
      ),
    );
  const more = repeated.length - results.length;
  return more === 0
    ? results
    : [...results, warn("SETTING_REPEATED", `${path} gives ${more} more names two values`)];
}

/** Warns of names that resemble opsctl's settings and have no effect: nothing else reports a misspelt optional one. */
function oddResults({ path, variables }: EnvironmentFile): CheckResult[] {
  const names = [...variables].flatMap(([name, value]) => (value.trim() === "" ? [] : [name]));
  return unknownSettings(basename(path), names).map((unknown) =>
    warn("SETTING_UNKNOWN", `${path} sets ${unknownText(unknown)}`, `Correct or remove that line in ${path}`),
  );
}

/**
 * The result on a file that exists and could not be read, with what lets the account of its command read it.
 *
 * Behaviour: only a process of that account knows what is wrong; any other one says to look as root.
 */
async function unreadResult(
  context: CheckContext,
  command: CommandName,
  { path, problem, stats, isForeign }: EnvironmentFile & { problem: string },
): Promise<CheckResult> {
  const code = isForeign ? "SECRET_FILE_UNTRUSTED" : "SECRET_FILE_UNREADABLE";
  const reason = `${path}: ${problem}`;
  if (!(await isReader(command, context)))
    return { ...fail(code, reason, asRoot(command, context)), needsRoot: true };
  const name = readerOf(command);
  // Who could write to a file of root's chose what is in it, and may still have it open: it is neither given to root
  // nor closed.
  if (name === "root") return fail(code, reason, NOT_ROOTS);
  if (stats?.isFile() === false) return fail(code, reason, "Move away what is there");
  const owner = `${name}:${name}`;
  const give = (known: string) => `chown -h ${owner} ${known} && chmod 0600 ${known}`;
  const text = `Look at it, then give it to ${owner}, with mode 0600`;
  return fail(code, reason, fixAt(path, installedFiles(command), text, give));
}

const NOT_ROOTS = inWords(
  "Look at it, then move it to another name and write a new one as root, mode 0600, in a directory of root's",
);

/**
 * The result on a file that does not exist.
 *
 * Behaviour: a fault where cron or the unit starts the command with it; else a warning, because the settings of this
 *            process, which may be other ones, were looked at in its place.
 */
async function missingResult(command: CommandName, path: string, paths: HostPaths): Promise<CheckResult> {
  const { account } = COMMAND_FACTS[command];
  if (account === null) return pass(`${path} is not there; this process's own environment counts`);
  const fix = fixAt(
    path,
    installedFiles(command),
    `Create it for ${account} with mode 0600, then fill it in`,
    (installed) => `install -D -m 0600 -o ${account} /dev/null ${installed}`,
  );
  const lines = await linesThatStart(paths);
  if (lines.some((line) => loads(line, path)))
    return fail(
      "ENV_FILE_MISSING",
      `${path} does not exist: ${command} is started with it and ends at once`,
      fix,
    );
  if (NEED_NO_FILE.includes(command))
    return pass(`${path} is not there; the webhook's file and this process's own environment count`);
  if (cronLines(lines.join("\n")).some((line) => startsCommand(line, command)))
    return fail(
      "ENV_FILE_MISSING",
      `${path} does not exist: cron starts ${command} without any other setting`,
      fix,
    );
  return warn(
    "ENV_FILE_MISSING",
    `${path} does not exist: what this process has in its environment was looked at`,
    fix,
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
