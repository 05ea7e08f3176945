import { EXIT, statusWord } from "./exit-status.ts";

/** What a command returns: the object of `--json`, the text for people, and the exit status. */
export type Outcome = { exitCode: number; result: object; text: string };

/**
 * The outcome of a command, its result in the form that all commands share.
 *
 * Shape: the result is `command`, `status`, `exitCode`, then the command's own `fields`, then `error`.
 */
export function outcomeOf(parts: {
  command: string;
  exitCode?: number;
  fields: object;
  error?: { code: string; message: string; hint?: string | undefined } | null;
  text: string;
}): Outcome {
  const { command, exitCode = EXIT.ok, fields, error = null, text } = parts;
  return { exitCode, result: { command, status: statusWord(exitCode), exitCode, ...fields, error }, text };
}
