import type { ArgsDef, CommandDef, ParsedArgs } from "citty";
import type { CommandSettings } from "../../lib/platform/config/settings-file.ts";
import type { OpsError } from "../../lib/platform/errors.ts";
import type { Log } from "../../lib/platform/log/log.ts";
import { LOG_FORMATS } from "../../lib/platform/log/log.ts";
import type { TextStream } from "../../lib/platform/log/progress.ts";
import type { Environment } from "../../lib/platform/secrets/adapter.ts";
import type { Screen } from "../../lib/text/terminal/screen.ts";
import { JSON_OPTION, type Options } from "../args/options.ts";
import type { Result } from "../output.ts";

/** What every command is given when it runs. */
export type CommandContext = {
  /** The environment, and under it the command's own file. */
  env: Environment;
  /** What `readAsRoot` returned; null where this process is not the account because of it. */
  fromRoot: unknown;
  /** Where that file is; null for a command without one. */
  settingsPath: string | null;
  /** Reads that file once more. */
  readSettings(): CommandSettings;
  /** Warns of names in that file that have no effect, for a command that is run to see whether all is well. */
  warnOfUnknownSettings(): Promise<void>;
  log: Log;
  /** Whether `--json` is given. */
  asJson: boolean;
  /** Where progress may be drawn. */
  stderr: TextStream & { isTerminal: boolean };
  /** Returns a signal that SIGINT or SIGTERM aborts; from the first call on these no longer end the process. */
  interrupted(): AbortSignal;
  /** Calls `listener` at each SIGHUP of a service. */
  onHangup(listener: () => void): void;
};

/** How a command ended; `text` is what people read, made only when it is shown. */
export type Outcome = Result & { text: string | ((screen: Screen) => string) };

/** What all commands declare: options and arguments, how they are checked together, and help. */
type Declared<T extends Options> = {
  args: T;
  /** A check of several options and arguments together, given their values by name. */
  checkTogether?: (given: ReadonlyMap<string, string>) => string | undefined;
  /** The last positional may be given several times; all of them are in citty's `args._`. */
  isVariadic?: boolean;
  /** Why a word too many is wrong. */
  unexpected?: string;
  /** A sentence or two under the description in `--help`, a line each. */
  notes?: string;
  example: string;
};

/** How a command runs, apart from `run` itself. */
type Conduct = {
  /** Started by root, every other command becomes the service account first, where the host has it. */
  staysRoot?: true;
  /** Started by cron or systemd: without a terminal its log is JSON, a line each; of others it is text. */
  isUnattended?: boolean;
  /** Runs until a signal ends it, without a result: SIGHUP does not end it, and a log that is not read stops nothing. */
  isService?: true;
  /** Reads what only root may read, before the process becomes the account; `run` finds it in `fromRoot`. */
  readAsRoot?: (env: Environment) => Promise<unknown>;
  /** The command's fields of `--json` when `run` throws or nothing catches an exception. */
  failed?: (
    error: OpsError,
    exitCode: number,
    given: ReadonlyMap<string, string>,
    context: CommandContext,
  ) => Promise<object>;
};

/** What a static command does: it prints what the program itself knows, without settings, account and log. */
type Answer = (words: readonly string[], program: Group) => Promise<{ fields: object; text: string }>;

/** A command as the framework sees it: citty's definition with what the framework adds; it has `run` or `answer`. */
export type Command = Declared<Options> & Conduct & { run?: CommandDef<ArgsDef>["run"]; answer?: Answer };

/** What a command declares. */
export type CommandParts<T extends Options> = Declared<T> &
  Conduct & { run: (args: ParsedArgs<T>, context: CommandContext) => Promise<Outcome> };

/** Declares a command. */
export function defineCommand<const T extends Options>(parts: CommandParts<T>): Command {
  const { run, args, isUnattended, isService } = parts;
  const otherwise = isUnattended ? "json unless on a terminal" : "text";
  const description = `How the log on standard error is written (default ${otherwise})`;
  const called: CommandDef<T>["run"] = ({ args: given, data }) => run(given, data as CommandContext);
  const all = {
    ...args,
    ...(isService || "json" in args ? {} : { json: JSON_OPTION }),
    "log-format": { type: "enum", options: [...LOG_FORMATS], description },
  };
  // From here on all commands have one type, without the types of their own arguments.
  return { ...parts, args: all, run: called } as unknown as Command;
}

/** A command whose file is imported when it is called. */
export type LazyCommand = { description: string; load: () => Promise<Command> };

/** A command that only holds other commands. */
export type Group = { description: string; commands: Readonly<Record<string, LazyCommand | Group>> };

/** Declares commands of the tree: they are exports of one file, which is imported when one of them is called. */
export const commandsOf =
  <F>(load: () => Promise<F>) =>
  <N extends keyof F>(name: F[N] extends Command ? N : never, description: string): LazyCommand => ({
    description,
    load: async () => (await load())[name] as Command,
  });

/** Declares a group of commands. */
export const group = (description: string, commands: Group["commands"]): Group => ({ description, commands });

/** A command or group, the words that name it, and the words after them. */
export type Found = { path: string; entry: Group | LazyCommand; rest: readonly string[] };

/** Follows the words down the tree, as far as they name groups and a command. */
export function findEntry(program: Group, words: readonly string[]): Found {
  let entry: Group | LazyCommand = program;
  let at = 0;
  while (!("load" in entry) && at < words.length && Object.hasOwn(entry.commands, words[at]!)) {
    entry = entry.commands[words[at]!]!;
    at += 1;
  }
  return { path: ["opsctl", ...words.slice(0, at)].join(" "), entry, rest: words.slice(at) };
}
