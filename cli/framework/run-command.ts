import process from "node:process";
import { type ArgsDef, type CommandDef, runCommand as runCitty } from "citty";
import type { CommandSettings } from "../../lib/platform/config/settings-file.ts";
import { createLog, LOG_LEVELS, type Log, type LogFormat } from "../../lib/platform/log/log.ts";
import { becomeAccount, findServiceAccount, isRoot } from "../../lib/platform/privileges.ts";
import { withoutControls } from "../../lib/platform/replace-unseen.ts";
import type { Environment } from "../../lib/platform/secrets/adapter.ts";
import { redact, redactValues } from "../../lib/platform/secrets/redact.ts";
import type { Screen } from "../../lib/text/terminal/screen.ts";
import type { ParsedWords } from "../args/parse.ts";
import {
  columnsOf,
  isTerminal,
  resultLine,
  STDOUT,
  type StandardError,
  standardError,
  writeOut,
} from "../output.ts";
import type { Command, CommandContext, Outcome } from "./command.ts";
import { applySettings, settingsReader, warnOfUnknown } from "./command-settings.ts";
import { EXIT, exitStatusOf } from "./exit-status.ts";
import { asOpsError, framesOf } from "./failure.ts";
import { ignoreHangups, interrupted, onHangup } from "./signals.ts";

/**
 * Runs one command with checked arguments, prints its result and returns the exit status.
 *
 * Behaviour: started by root, this process becomes the service account unless the command `staysRoot`, before anything
 *            but `readAsRoot` is read. With `--json` exactly one line is written to standard output, also when the command
 *            throws or a rejected promise is not handled. A result that cannot be written makes the status at
 *            least 1.
 */
export async function runCommand(
  name: string,
  command: Command,
  { rawArgs, given }: ParsedWords,
): Promise<number> {
  if (command.isService) ignoreHangups();
  const asJson = given.has("json");
  const stderr = standardError();
  const { settings, problem, ...start } = await begin(name, command);
  const { env } = settings;
  const format = command.isUnattended && !stderr.isTerminal ? "json" : "text";
  const log = commandLog(stderr, env, (given.get("log-format") as LogFormat | undefined) ?? format);
  const context: CommandContext = {
    ...{ ...start, env, log, asJson, stderr, onHangup },
    interrupted: () => interrupted({ isService: command.isService === true }),
    settingsPath: settings.path,
    warnOfUnknownSettings: () => warnOfUnknown(settings, log),
  };
  // The journal may hang with the disk that an alert is about.
  if (command.isService)
    stderr.neverWait((lines) => log.warn("Nobody read the log: lines are lost", { lines }));

  let isPrinted = false;
  const print = (outcome: Outcome): number => {
    const { exitCode = EXIT.ok, text } = outcome;
    const forPeople = () => redact(typeof text === "string" ? text : text(standardScreen(env)));
    const shown = asJson ? resultLine(name, outcome, redactValues) : forPeople();
    // A crash can come after the result.
    if (isPrinted) return Math.max(exitCode, EXIT.failed);
    isPrinted = true;
    try {
      writeOut(shown);
      return exitCode;
    } catch (error) {
      const { code, message, hint } = asOpsError(error, "print the result");
      log.error(message, { code, hint });
      return Math.max(exitCode, EXIT.failed);
    }
  };
  const fail = async (error: unknown): Promise<number> => {
    const failure = asOpsError(error, `run opsctl ${name}`);
    const { code, message, hint } = failure;
    log.error(message, { code, hint });
    if (code === "INTERNAL_ERROR") log.debug("The failure came from here", { frames: framesOf(error) });
    const exitCode = exitStatusOf(code);
    const fields = (await command.failed?.(failure, exitCode, given, context)) ?? {};
    return print({ exitCode, fields, error: { code, message, hint }, text: "" });
  };
  // The runtime would print a stack trace, which may quote secrets.
  const crash = (error: unknown) => {
    const end = (status: number) => process.exit(status);
    void fail(error)
      .finally(stderr.drained)
      .then(end, () => end(EXIT.failed));
  };
  process.on("uncaughtException", crash);
  process.on("unhandledRejection", crash);

  try {
    if (problem !== undefined) throw problem;
    applySettings(settings, log);
    const { result } = await runCitty(command as CommandDef<ArgsDef>, { rawArgs, data: context });
    return print(result as Outcome);
  } catch (error) {
    return await fail(error);
  } finally {
    await stderr.drained();
  }
}

type Begun = Pick<CommandContext, "fromRoot" | "readSettings"> & {
  settings: CommandSettings;
  problem?: unknown;
};

/** Becomes the service account where root starts the command, and reads its settings; a problem waits for the log. */
async function begin(name: string, { staysRoot, readAsRoot }: Command): Promise<Begun> {
  let fromRoot: unknown = null;
  try {
    const wanted = staysRoot || !isRoot() ? null : await findServiceAccount();
    if (wanted !== null) {
      fromRoot = (await readAsRoot?.(process.env)) ?? null;
      becomeAccount(wanted);
    }
    const readSettings = settingsReader(name);
    return { fromRoot, readSettings, settings: readSettings() };
  } catch (problem) {
    const none = { path: null, isThere: false, names: [], repeated: [], hidden: [] };
    const settings: CommandSettings = { env: process.env, ...none };
    return { fromRoot, readSettings: () => settings, settings, problem };
  }
}

function commandLog(stderr: StandardError, { OPSCTL_LOG_LEVEL }: Environment, format: LogFormat): Log {
  const wanted = OPSCTL_LOG_LEVEL?.trim() || "info";
  const known = LOG_LEVELS.find((level) => level === wanted);
  const colour = stderr.isTerminal && wantsColour(process.env);
  const log = createLog({ stream: stderr, format, level: known ?? "info", colour });
  if (known === undefined) log.warn("OPSCTL_LOG_LEVEL is not a level", { expected: LOG_LEVELS.join(", ") });
  return log;
}

/** Standard output, as the texts of a command need it. */
function standardScreen(env: Environment): Screen {
  const clean = (text: string) => withoutControls(redact(text)).replaceAll("\n", " ");
  const colour = isTerminal(STDOUT) && wantsColour(env);
  return { width: columnsOf("stdout", env), colour, clean };
}

/** Whether a terminal gets colours. Source: no-color.org. */
function wantsColour({ NO_COLOR = "", TERM }: Environment): boolean {
  return NO_COLOR === "" && TERM !== "dumb";
}
