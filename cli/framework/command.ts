import type { ArgsDef, CommandDef, CommandMeta, ParsedArgs } from "citty";
import type { CommandSettings } from "../../lib/platform/config/env-files/settings-file.ts";
import type { OpsError } from "../../lib/platform/errors.ts";
import type { Log } from "../../lib/platform/log/log.ts";
import { LOG_FORMATS } from "../../lib/platform/log/log-format.ts";
import type { TextStream } from "../../lib/platform/log/progress.ts";
import type { Environment } from "../../lib/platform/secrets/adapter.ts";
import type { Outcome } from "./outcome.ts";

/** What every command is given when it runs. */
export type CommandContext = {
  /** The environment, and under it the command's own file. */
  env: Environment;
  /** What `readAsRoot` returned; null where this process is not the account because of it. */
  fromRoot: unknown;
  /** Where that file is, and the names that it sets; null for a command without one. */
  settingsFile: { path: string; isThere: boolean; names: readonly string[] } | null;
  /** Reads that file once more. */
  readSettings(): CommandSettings;
  log: Log;
  /** Where a progress bar may be drawn. */
  stderr: TextStream & { isTerminal: boolean };
  /** From now on a log that is not read does not stop the work; what does not fit into memory of it is lost. */
  neverWaitForLog(): void;
  /** Returns a signal that SIGINT or SIGTERM aborts; from the first call on these no longer end the process. */
  interrupted(): AbortSignal;
  /**
   * Calls `listener` at each SIGHUP, for a command that `outlivesHangups`. On a terminal it is never called: there the
   * signal means that the terminal is gone, and ends the process.
   */
  onHangup(listener: () => void): void;
};

/** What is wrong with the value of an option ("expects a UUID"), or undefined when nothing is. */
export type ValueCheck = (value: string) => string | undefined;

/** Words of a kind of their own, which completion finds when it is asked; see `cli/completion/offered-values.ts`. */
export type ValueKind = "weeks" | "old-weeks" | "codes" | "commands" | "directories";

/**
 * What an option or argument may be given: these words, or words of a kind.
 *
 * Behaviour: without a check of its own a list is all there is, and weeks are Mondays.
 */
export type Values = readonly string[] | ValueKind;

/** What a command prints that tells of opsctl itself. */
export type About = { fields: object; text: string };

/** What a command declares: citty's definition, checks of values, an example, and its JSON when it fails. */
export type CommandParts<T extends ArgsDef> = {
  meta: { name: string; description: string };
  /** The command belongs to the service account: started by root it becomes that account, where the host has it. */
  account?: "service";
  /** Started by cron or systemd: where no terminal reads its log, each line is a JSON object; of others it is text. */
  isUnattended?: boolean;
  /** Reads for the command what only root may read, before the process becomes the account; `run` finds it in `fromRoot`. */
  readAsRoot?: (env: Environment) => Promise<unknown>;
  args: T;
  checks?: { readonly [K in keyof T]?: ValueCheck };
  /** Of options and arguments that are no `enum`: for checks, help, man page and completion alike. */
  values?: { readonly [K in keyof T]?: Values };
  /** A check of several options and arguments together, given their values by name. */
  checkTogether?: (given: ReadonlyMap<string, string>) => string | undefined;
  /** The last positional may be given several times; all words are in citty's `args._`. */
  takesMany?: boolean;
  /** What is said of a word too many, instead of repeating it: it may be a secret. */
  unexpected?: string;
  /** A sentence or two under the description in `--help`. */
  notes?: string;
  example: string;
  /** The object of `--json` when `run` throws or nothing catches an exception, for a command with its own form. */
  failed?: (
    error: OpsError,
    exitCode: number,
    args: ParsedArgs<T>,
    context: CommandContext,
  ) => Promise<object>;
  run: (args: ParsedArgs<T>, context: CommandContext) => Promise<Outcome>;
};

/** What a command declares that tells of opsctl itself, such as `help`: it needs no settings, no account and no log. */
export type AboutParts<T extends ArgsDef> = Omit<
  CommandParts<T>,
  "run" | "failed" | "account" | "isUnattended" | "readAsRoot" | "checkTogether"
> & {
  /** Given the words that are no options, and all commands. Errors: USAGE_INVALID. */
  about: (words: readonly string[], program: Group) => Promise<About>;
};

/** A command that runs. */
export type Command = Omit<CommandParts<ArgsDef>, "run" | "failed"> & {
  about?: AboutParts<ArgsDef>["about"];
  citty: CommandDef<ArgsDef>;
  failed:
    | ((error: OpsError, exitCode: number, args: ParsedArgs, context: CommandContext) => Promise<object>)
    | undefined;
};

/** A command whose file is imported when it is called; one that `outlivesHangups` does so from its first moment. */
export type LazyCommand = {
  meta: CommandMeta & { description: string };
  outlivesHangups?: true;
  load: () => Promise<Command>;
};

/** A command that only holds other commands. */
export type Group = {
  meta: { name: string; description: string };
  commands: Record<string, LazyCommand | Group>;
};

function logFormat(isUnattended: boolean): ArgsDef {
  const otherwise = isUnattended ? "json unless on a terminal" : "text";
  const description = `How the log on standard error is written (default ${otherwise})`;
  return { "log-format": { type: "enum", options: [...LOG_FORMATS], description } };
}

/** Declares a command. */
export function defineCommand<const T extends ArgsDef>(parts: CommandParts<T>): Command {
  const { run, ...rest } = parts;
  const args = { ...parts.args, ...logFormat(parts.isUnattended === true) };
  const citty: CommandDef<T> = {
    meta: parts.meta,
    args: args as T,
    run: ({ args: given, data }) => run(given, data as CommandContext),
  };
  // From here on all commands have one type, without the types of their own arguments.
  return { failed: undefined, ...rest, args, citty } as unknown as Command;
}

/** Declares a command that tells of opsctl itself. */
export function defineAbout<const T extends ArgsDef>(parts: AboutParts<T>): Command {
  const { meta, args } = parts;
  return { failed: undefined, ...parts, citty: { meta, args } } as unknown as Command;
}
