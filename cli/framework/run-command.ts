import { parseArgs, runCommand as runCitty } from "citty";
import { type CommandSettings, withFileNamed } from "../../lib/platform/config/env-files/settings-file.ts";
import type { OpsError } from "../../lib/platform/errors.ts";
import { jsonText } from "../../lib/platform/json-text.ts";
import { createLog, LOG_LEVELS, type Log, type LogFit, type LogLevel } from "../../lib/platform/log/log.ts";
import type { LogFormat } from "../../lib/platform/log/log-format.ts";
import { becomeAccount, findServiceAccount, isRoot } from "../../lib/platform/privileges.ts";
import { redact, redactValues } from "../../lib/platform/secrets/redact.ts";
import type { Command, CommandContext } from "./command.ts";
import {
  NO_SETTINGS,
  type Settings,
  settingsOf,
  tellOfOverruled,
  tellOfSettings,
} from "./command-settings.ts";
import { EXIT, exitStatusOf } from "./exit-status.ts";
import { asOpsError, framesOf } from "./failure.ts";
import { onHangup } from "./hangups.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { writeOut } from "./streams/output.ts";
import { wantsColour } from "./streams/screen.ts";
import { type StandardError, standardError } from "./streams/standard-error.ts";
import type { CheckedArguments } from "./usage/arguments.ts";

type Options = CheckedArguments["options"];

/**
 * Runs one command with checked arguments, prints its result and returns the exit status.
 *
 * Behaviour: started by root, this process becomes the service account for a command of that account, before anything
 *            but `readAsRoot` is read. With `--json` exactly one line is written to standard output, also when the command
 *            throws or a rejected promise is not handled. A result that cannot be written makes the status at
 *            least 1.
 */
export async function runCommand(
  name: string,
  command: Command,
  { rawArgs, options }: CheckedArguments,
): Promise<number> {
  const { fromRoot, problem } = await leaveRoot(command);
  const stderr = await standardError();
  const settings = problem === null ? settingsOf(name) : NO_SETTINGS;
  const log = await commandLog(stderr, settings.read, logFormat(command, options, stderr));
  const context = contextOf(settings, { log, stderr, fromRoot });

  const fail = async (error: unknown): Promise<Outcome> => {
    const failure = asOpsError(error, `run opsctl ${name}`);
    const { code, message, hint } = failure;
    log.error(message, { code, ...(hint === undefined ? {} : { hint }) });
    if (code === "INTERNAL_ERROR") log.debug("The failure came from here", { frames: framesOf(error) });
    return await failedOutcome(failure, { name, command, rawArgs, context });
  };
  const print = printOnce(options.has("json"), log);
  onCrash(async (error) => {
    const status = print(await fail(error));
    await stderr.drained();
    return status;
  });

  try {
    if (problem !== null) throw problem;
    if (settings.problem !== null) throw settings.problem;
    tellOfOverruled(settings.read, log);
    tellOfSettings(settings.read, log);
    const { result } = await runCitty(command.citty, { rawArgs, data: context });
    return print(result as Outcome);
  } catch (error) {
    return print(await fail(withFileNamed(error, settings.read.path)));
  } finally {
    await stderr.drained();
  }
}

/** Makes a process of root's the account of its command; `fromRoot` is what root read for it before. */
async function leaveRoot(command: Command): Promise<{ fromRoot: unknown; problem: OpsError | null }> {
  if (command.account === undefined || !isRoot()) return { fromRoot: null, problem: null };
  try {
    const account = await findServiceAccount();
    if (account === null) return { fromRoot: null, problem: null };
    const fromRoot = (await command.readAsRoot?.(process.env)) ?? null;
    becomeAccount(account);
    return { fromRoot, problem: null };
  } catch (error) {
    return { fromRoot: null, problem: asOpsError(error, "become the account") };
  }
}

/** The outcome of a command that threw: in the command's own form where it has one. */
async function failedOutcome(
  failure: OpsError,
  {
    name,
    command,
    rawArgs,
    context,
  }: { name: string; command: Command; rawArgs: string[]; context: CommandContext },
): Promise<Outcome> {
  const { code, message, hint } = failure;
  const exitCode = exitStatusOf(code);
  if (command.failed === undefined)
    return outcomeOf({ command: name, exitCode, fields: {}, error: { code, message, hint }, text: "" });
  const result = await command.failed(failure, exitCode, parseArgs(rawArgs, command.args), context);
  return { exitCode, result, text: "" };
}

/** Prints only the first outcome, because a crash can come after the result; returns the exit status. */
function printOnce(isJson: boolean, log: Log): (outcome: Outcome) => number {
  let isPrinted = false;
  return ({ exitCode, result, text }) => {
    if (isPrinted) return Math.max(exitCode, EXIT.failed);
    isPrinted = true;
    try {
      writeOut(isJson ? `${jsonText(redactValues(result))}\n` : redact(text));
      return exitCode;
    } catch (error) {
      const { code, message, hint } = asOpsError(error, "print the result");
      log.error(message, { code, hint });
      return Math.max(exitCode, EXIT.failed);
    }
  };
}

/** Reports exceptions that nothing caught: the runtime would print a stack trace, which may quote secrets. */
function onCrash(report: (error: unknown) => Promise<number>): void {
  const crash = (error: unknown) => {
    void report(error).then(
      (status) => process.exit(status),
      () => process.exit(EXIT.failed),
    );
  };
  process.on("uncaughtException", crash);
  process.on("unhandledRejection", crash);
}

function contextOf(
  { read, again }: Settings,
  { log, stderr, fromRoot }: { log: Log; stderr: StandardError; fromRoot: unknown },
): CommandContext {
  return {
    env: read.env,
    fromRoot,
    settingsFile: read.path === null ? null : { path: read.path, isThere: read.isThere, names: read.names },
    readSettings: again,
    log,
    stderr,
    neverWaitForLog: () =>
      stderr.neverWait((lines) => log.warn("Nobody read the log: lines are lost", { lines })),
    interrupted,
    onHangup,
  };
}

function interrupted(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => controller.abort());
  return controller.signal;
}

function logFormat(command: Command, options: Options, { isTerminal }: StandardError): LogFormat {
  const wanted = options.get("log-format") as LogFormat | undefined;
  return wanted ?? (command.isUnattended && !isTerminal ? "json" : "text");
}

async function commandLog(stderr: StandardError, { env }: CommandSettings, format: LogFormat): Promise<Log> {
  const { isTerminal } = stderr;
  const fit = isTerminal ? await fitFor(stderr) : null;
  const wanted = env.OPSCTL_LOG_LEVEL?.trim() || "info";
  const isKnown = (LOG_LEVELS as readonly string[]).includes(wanted);
  const level = isKnown ? (wanted as LogLevel) : "info";
  const colour = isTerminal && wantsColour(process.env);
  const log = createLog({ stream: stderr, format, level, colour, fit });
  if (!isKnown) log.warn("OPSCTL_LOG_LEVEL is not a level", { expected: LOG_LEVELS.join(", ") });
  return log;
}

async function fitFor(stderr: StandardError): Promise<LogFit> {
  const { logFit } = await import("./streams/log-fit.ts");
  return logFit(() => stderr.columns);
}
