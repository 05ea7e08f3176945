import { OpsError } from "../../../platform/errors.ts";
import { resultIs } from "../../../platform/files/sqlite.ts";

/** Whether SQLite says that the file itself is damaged; a full disk, a lock or a failed read is no damage. */
export const isDamaged = resultIs([11, 26], /image is malformed|not a database|malformed database schema/);

/** Whether the disk, or what this connection may use of it, is full; also when a file is written by name. */
export const isDiskFull = resultIs([13], /database or disk is full/, ["ENOSPC", "EDQUOT"]);

/** Whether the disk failed to read or to write, which SQLite also says of a used-up quota and of its shared memory. */
export const isFailed = resultIs([10], /disk I\/O error/, ["EIO"]);

/** SQLITE_CANTOPEN, too, where a file that is there may not be written to. */
const isReadOnly = resultIs([8, 14], /readonly database|unable to open database file/, ["EROFS"]);

/** The error for a state that cannot be opened, with what to do about `cause`. */
export function unavailable(directory: string, reason: string, cause?: unknown): OpsError {
  const message = `Cannot open the state in ${directory}: ${reason}`;
  return new OpsError({ code: "STATE_UNAVAILABLE", message, hint: hintOf(cause), cause });
}

/** For a service of systemd, what its unit does not open is read-only, whatever the disk is. */
const OUTSIDE_OF_UNIT =
  "Where the unit opens another directory only: systemctl edit opsctl-webhook.service, below [Service] ReadWritePaths= and this directory, and systemctl restart opsctl-webhook.service. Else its disk is read-only, or state.db belongs to another account";

function hintOf(cause: unknown): string {
  if (cause instanceof OpsError && cause.hint !== undefined) return cause.hint;
  if (isDiskFull(cause) || isFailed(cause)) return "Make room on its disk, or repair it";
  if (isReadOnly(cause)) return OUTSIDE_OF_UNIT;
  return "The service makes it when systemd starts it; elsewhere OPSCTL_STATE_DIR names a directory that its account may write to. What it needs: opsctl doctor webhook";
}
