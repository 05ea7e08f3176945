import { type ArgsDef, type CommandDef, runCommand as runCitty } from "citty";
import type { CommandSettings } from "../../lib/platform/config/settings-file.ts";
import type { OpsError } from "../../lib/platform/errors.ts";
import { createLog, LOG_LEVELS, type Log, type LogLevel, type WrapLine } from "../../lib/platform/log/log.ts";
import type { LogFormat } from "../../lib/platform/log/log-format.ts";
import { becomeAccount, findServiceAccount, isRoot } from "../../lib/platform/privileges.ts";
import { redact, redactValues } from "../../lib/platform/secrets/redact.ts";
import type { ParsedWords } from "../args/parse.ts";
import type { Command, CommandContext } from "./command.ts";
import {
  applySettings,
  NO_SETTINGS,
  type Settings,
  settingsOf,
  warnOfUnknownSettings,
} from "./command-settings.ts";
import { EXIT, exitStatusOf } from "./exit-status.ts";
import { asOpsError, framesOf } from "./failure.ts";
import { type Outcome, resultLine } from "./outcome.ts";
import { interrupted, onHangup } from "./signals.ts";
import { writeOut } from "./streams/output.ts";
import { standardScreen, wantsColour } from "./streams/screen.ts";
import { type StandardError, standardError } from "./streams/standard-error.ts";

/** What goes to standard output, and the exit status. */
type Printed = { exitCode: number; text: string };

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
  { rawArgs, given }: ParsedWords,
): Promise<number> {
  const { fromRoot, problem } = await leaveRoot(command);
  const stderr = await standardError();
  const settings = problem === null ? settingsOf(name) : NO_SETTINGS;
  const log = await commandLog(stderr, settings.read, logFormat(command, given.get("log-format"), stderr));
  const context = contextOf(settings, { log, stderr, fromRoot, asJson: given.has("json") });
  const print = printOnce(log);

  const failed = async (error: unknown): Promise<Printed> => {
    const failure = asOpsError(error, `run opsctl ${name}`);
    const { code, message, hint } = failure;
    log.error(message, { code, ...(hint === undefined ? {} : { hint }) });
    if (code === "INTERNAL_ERROR") log.debug("The failure came from here", { frames: framesOf(error) });
    const exitCode = exitStatusOf(code);
    const fields = (await command.failed?.(failure, exitCode, given, context)) ?? {};
    return await printed(name, { exitCode, fields, error: { code, message, hint }, text: "" }, context);
  };
  onCrash(async (error) => {
    const status = print(await failed(error));
    await stderr.drained();
    return status;
  });

  try {
    if (problem !== null) throw problem;
    if (settings.problem !== null) throw settings.problem;
    applySettings(settings.read, log);
    const { result } = await runCitty(command as CommandDef<ArgsDef>, { rawArgs, data: context });
    return print(await printed(name, result as Outcome, context));
  } catch (error) {
    return print(await failed(error));
  } finally {
    await stderr.drained();
  }
}

/** What is printed of an outcome: the text for people is made only when it is. */
async function printed(name: string, outcome: Outcome, { asJson, env }: CommandContext): Promise<Printed> {
  const { exitCode = EXIT.ok, text } = outcome;
  if (asJson) return { exitCode, text: resultLine(name, outcome, redactValues) };
  return { exitCode, text: redact(typeof text === "string" ? text : text(await standardScreen(env))) };
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

/** Prints only what comes first, because a crash can come after the result; returns the exit status. */
function printOnce(log: Log): (printed: Printed) => number {
  let isPrinted = false;
  return ({ exitCode, text }) => {
    if (isPrinted) return Math.max(exitCode, EXIT.failed);
    isPrinted = true;
    try {
      writeOut(text);
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
  { log, stderr, ...rest }: Pick<CommandContext, "log" | "fromRoot" | "asJson"> & { stderr: StandardError },
): CommandContext {
  return {
    ...rest,
    env: read.env,
    settingsFile: read.path === null ? null : { path: read.path, isThere: read.isThere, names: read.names },
    readSettings: again,
    warnOfUnknownSettings: () => warnOfUnknownSettings(read, log),
    log,
    stderr,
    neverWaitForLog: () =>
      stderr.neverWait((lines) => log.warn("Nobody read the log: lines are lost", { lines })),
    interrupted,
    onHangup,
  };
}

function logFormat(command: Command, wanted: string | undefined, { isTerminal }: StandardError): LogFormat {
  return (wanted as LogFormat | undefined) ?? (command.isUnattended && !isTerminal ? "json" : "text");
}

async function commandLog(stderr: StandardError, { env }: CommandSettings, format: LogFormat): Promise<Log> {
  const { isTerminal } = stderr;
  const wrap = isTerminal ? await wrapperFor(stderr) : null;
  const wanted = env.OPSCTL_LOG_LEVEL?.trim() || "info";
  const isKnown = (LOG_LEVELS as readonly string[]).includes(wanted);
  const level = isKnown ? (wanted as LogLevel) : "info";
  const colour = isTerminal && wantsColour(process.env);
  const log = createLog({ stream: stderr, format, level, colour, wrap });
  if (!isKnown) log.warn("OPSCTL_LOG_LEVEL is not a level", { expected: LOG_LEVELS.join(", ") });
  return log;
}

async function wrapperFor(stderr: StandardError): Promise<WrapLine> {
  const { lineWrapper } = await import("./streams/wrap-line.ts");
  return lineWrapper(() => stderr.columns);
}
