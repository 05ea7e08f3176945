/** What an `OpsError` is made of; see the class for the meaning of each part. */
export type OpsErrorParts = {
  code: string;
  message: string;
  hint?: string | undefined;
  cause?: unknown;
};

/**
 * A failure that ends a command, worded for the person who reads it.
 *
 * Shape: `code` is public and never renamed (AREA_PROBLEM); `message` says what was tried, then the present state;
 *        `hint` says what mends it; `cause` is for the developer and never printed to a user.
 */
export class OpsError extends Error {
  override readonly name = "OpsError";
  readonly code: string;
  readonly hint: string | undefined;

  constructor({ code, message, hint, cause }: OpsErrorParts) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
  }
}
