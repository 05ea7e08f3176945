/** What a failed statement means to who sent it: the one place where tests read the classification of driver errors. */
import {
  classifyDatabaseError,
  type DatabaseFault,
  databaseError,
} from "../../lib/platform/database/error.ts";
import type { OpsError } from "../../lib/platform/errors.ts";

/** The fault that an error of the driver stands for: its code, its SQLSTATE, and whether it may be over soon. */
export function faultOf(error: unknown): DatabaseFault {
  return classifyDatabaseError(error);
}

/** The error that people see for it after an `attempt`, such as "list the scopes". */
export function shownError(error: unknown, attempt: string, options: { isOpening?: boolean } = {}): OpsError {
  return databaseError(error, attempt, options);
}

/** "ok", or the code of the failure. */
export async function outcome(asked: Promise<unknown>): Promise<string> {
  return await asked.then(
    () => "ok",
    (error) => faultOf(error).code,
  );
}
