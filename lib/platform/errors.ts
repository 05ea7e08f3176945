/**
 * One setting that is missing or invalid.
 *
 * Shape: `kind` says where it belongs: a setting, a secret, or `unread` for a secret that is somewhere and cannot be
 *        read, with `mend` for the place where it is; `file` is the only file that it is read from, where there is
 *        such a file.
 */
export type SettingProblem = {
  name: string;
  problem: string;
  kind: "plain" | "secret" | "unread";
  mend?: string | undefined;
  file?: string;
};

/** What an `OpsError` is made of; see the class for the meaning of each part. */
export type OpsErrorParts = {
  code: string;
  message: string;
  hint?: string | undefined;
  cause?: unknown;
  settings?: readonly SettingProblem[] | undefined;
};

/**
 * A failure that ends a command, worded for the person who reads it.
 *
 * Shape: `code` is public and never renamed (AREA_PROBLEM); `message` says what was tried, then the present state;
 *        `hint` says what mends it; `cause` is for the developer and never printed to a user; `settings` are the
 *        settings that `message` lists, for a program.
 */
export class OpsError extends Error {
  override readonly name = "OpsError";
  readonly code: string;
  readonly hint: string | undefined;
  readonly settings: readonly SettingProblem[] | undefined;

  constructor({ code, message, hint, cause, settings }: OpsErrorParts) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
    this.settings = settings;
  }
}
