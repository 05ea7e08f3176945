/**
 * What puts something right.
 *
 * Shape:     `text` says it in words, null where the command says all; `command` can be copied, null where there is none.
 * Behaviour: a command is a constant of the program, or made of its own tables, and holds no value of a file, a database
 *            or an external service: such a value stands in the reason beside it.
 */
export type Fix = { text: string | null; command: string | null };

/** The error itself; an exception that is none of opsctl's is thrown on. */
export function onlyOpsError(error: unknown): OpsError {
  if (error instanceof OpsError) return error;
  throw error;
}

/** A fix in words; null stays null. */
export function inWords(text: string | null | undefined): Fix | null {
  return text == null ? null : { text, command: null };
}

/**
 * One setting that is missing or invalid.
 *
 * Shape: `kind` is that of a setting or of a secret; `unread` is a secret that is somewhere and cannot be read,
 *        with `fix` for the place where it is. `file` is the environment file in which a setting belongs, null for none.
 */
export type SettingProblem = {
  name: string;
  problem: string;
  kind: "plain" | "secret" | "unread";
  fix?: string | undefined;
  file: string | null;
};

/**
 * A failure that ends a command, worded for the person who reads it.
 *
 * Shape: `code` is public and never renamed (AREA_PROBLEM); `message` says what was tried, then the present state;
 *        `hint` says what puts it right; `cause` is for the developer and never printed to a user; `settings` are the
 *        settings that `message` lists, for a program.
 */
export class OpsError extends Error {
  override readonly name = "OpsError";
  readonly code: string;
  readonly hint: string | undefined;
  readonly settings: readonly SettingProblem[] | undefined;

  constructor(parts: {
    code: string;
    message: string;
    hint?: string | undefined;
    cause?: unknown;
    settings?: readonly SettingProblem[] | undefined;
  }) {
    super(parts.message, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.code = parts.code;
    this.hint = parts.hint;
    this.settings = parts.settings;
  }
}
