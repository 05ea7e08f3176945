import type { ArgsDef, CommandDef, CommandMeta, ParsedArgs } from "citty";
import type { OpsError } from "../../lib/platform/errors.ts";
import type { Log } from "../../lib/platform/log/log.ts";
import type { TextStream } from "../../lib/platform/log/progress.ts";
import type { Environment } from "../../lib/platform/secrets/adapter.ts";
import type { Outcome } from "./outcome.ts";

/** What the frame hands to a command. */
export type CommandContext = {
  env: Environment;
  log: Log;
  /** Where a progress bar may be drawn. */
  stderr: TextStream & { isTerminal: boolean };
  /** Aborted by the first SIGINT or SIGTERM; from the first call on, such a signal no longer ends the process. */
  interrupted(): AbortSignal;
};

/** Why a value of an option is not acceptable ("expects a UUID"), or undefined when it is. */
export type ValueCheck = (value: string) => string | undefined;

/** What a command declares beside citty's own: checks of values, an example, and how its failure looks as JSON. */
export type CommandParts<T extends ArgsDef> = {
  meta: { name: string; description: string };
  /** Whose work it is: started by root, the command becomes the service account, and has the option `--as-is`. */
  account?: "service";
  args: T;
  checks?: { readonly [K in keyof T]?: ValueCheck };
  /** A check that concerns several options, given their values by name. */
  checkTogether?: (given: ReadonlyMap<string, string>) => string | undefined;
  /** A sentence or two under the description in `--help`. */
  notes?: string;
  example: string;
  /** The object of `--json` when `run` throws; without it the plain form of the frame. */
  failed?: (error: OpsError, exitCode: number, args: ParsedArgs<T>) => Promise<object>;
  run: (args: ParsedArgs<T>, context: CommandContext) => Promise<Outcome>;
};

/** A command that does something. */
export type Command = Omit<CommandParts<ArgsDef>, "run" | "failed"> & {
  citty: CommandDef<ArgsDef>;
  failed: ((error: OpsError, exitCode: number, args: ParsedArgs) => Promise<object>) | undefined;
};

/** A command whose file is imported when it is called and not before. */
export type LazyCommand = { meta: CommandMeta & { description: string }; load: () => Promise<Command> };

/** A command that only holds others. */
export type Group = {
  meta: { name: string; description: string };
  commands: Record<string, LazyCommand | Group>;
};

const AS_IS = {
  "as-is": {
    type: "boolean",
    description: "Started by root, keep root's privileges; else it becomes opsctl",
  },
} as const satisfies ArgsDef;

/** Declares a command: citty's definition with what the frame needs beside it. */
export function defineCommand<const T extends ArgsDef>(parts: CommandParts<T>): Command {
  const { run, ...rest } = parts;
  const args = parts.account === undefined ? parts.args : { ...parts.args, ...AS_IS };
  const citty: CommandDef<T> = {
    meta: parts.meta,
    args: args as T,
    run: ({ args: given, data }) => run(given, data as CommandContext),
  };
  // The frame treats all commands alike; the types of their own arguments end here.
  return { failed: undefined, ...rest, args, citty } as unknown as Command;
}
