import { databaseError } from "../../lib/platform/database/error.ts";
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
  const lines = error instanceof Error ? (error.stack ?? "").split("\n") : [];
  return lines.flatMap((line) => (line.trim().startsWith("at ") ? [redact(line.trim())] : []));
}

/** Prints a failure outside a command's run to standard error and returns the exit status. */
export async function reportFailure(failure: unknown): Promise<number> {
  const { code, message, hint } = asOpsError(failure, "run opsctl");
  const { writeErr } = await import("../output.ts");
  writeErr(redact(`${[message, ...(hint === undefined ? [] : [hint])].join("\n")}\n`));
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
  const isEngines = ["TypeError", "RangeError", "ReferenceError"].includes(error.name);
  if (!isEngines && syscall === undefined)
    return typeof code === "string" ? `${error.name} ${code}` : error.name;
  return `${error.name}: ${redact(error.message).replace(/\s+/g, " ").slice(0, MAX_MESSAGE)}`;
}
