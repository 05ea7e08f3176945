import { classifyDatabaseError, databaseError } from "../../lib/platform/database/error.ts";
import { OpsError } from "../../lib/platform/errors.ts";
import { redact } from "../../lib/platform/secrets/redact.ts";
import { exitStatusOf } from "./exit-status.ts";

const MAX_MESSAGE = 200;

/**
 * Turns any exception into an error that may be shown.
 *
 * Behaviour: an unexpected exception becomes INTERNAL_ERROR and names its kind. Its message is shown only when the
 *            engine or the system worded it: the message of a parser or a schema may quote data.
 */
export function asOpsError(error: unknown, attempt: string, about: { setting?: string } = {}): OpsError {
  if (error instanceof OpsError) return error;
  const fault = classifyDatabaseError(error);
  if (fault.sqlState !== undefined || fault.code !== "DATABASE_QUERY_FAILED")
    if (isDriverError(error)) return databaseError(error, attempt, about);
  return new OpsError({
    code: "INTERNAL_ERROR",
    message: `Cannot ${attempt}: unexpected ${describe(error)}`,
    hint: "This is a fault of opsctl; OPSCTL_LOG_LEVEL=debug shows where it happened",
    cause: error,
  });
}

/** The stack frames of an exception, without its message, which may quote data. */
export function framesOf(error: unknown): string[] {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  return stack
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.startsWith("at "))
    .map(redact);
}

/**
 * Prints a failure that happened outside a command's run to standard error, wrapped on a terminal, and returns the exit
 * status.
 */
export async function reportFailure(failure: unknown): Promise<number> {
  const { code, message, hint } = asOpsError(failure, "run opsctl");
  const { standardError } = await import("./streams/standard-error.ts");
  const { lineWrapper } = await import("./streams/wrap-line.ts");
  const stderr = await standardError();
  const wrap = stderr.isTerminal ? lineWrapper(() => stderr.columns) : (line: string) => [line];
  const wrapped = (text: string) => text.split("\n").flatMap((line) => wrap(line, "  "));
  const advice = redact(hint ?? "");
  // A usage is in lines of the terminal's width already.
  const below = code === "USAGE_INVALID" ? advice.split("\n") : wrapped(advice);
  const shown = [...wrapped(redact(message)), ...(hint === undefined ? [] : below)];
  stderr.write(shown.map((line) => `${line}\n`).join(""));
  return exitStatusOf(code);
}

/** Whether the database driver threw it: only its errors have a severity, a query or a code of the connection. */
function isDriverError(error: unknown): boolean {
  const { severity, query, code } = (error ?? {}) as Record<string, unknown>;
  return severity !== undefined || query !== undefined || /^CONNECT(ION)?_/.test(String(code));
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return "failure";
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  const isEngines =
    error.name === "TypeError" || error.name === "RangeError" || error.name === "ReferenceError";
  if (!isEngines && syscall === undefined)
    return typeof code === "string" ? `${error.name} ${code}` : error.name;
  const message = redact(error.message).replace(/\s+/g, " ").slice(0, MAX_MESSAGE);
  return `${error.name}: ${message}`;
}
