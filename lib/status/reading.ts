import { classifyDatabaseError } from "../platform/database/error.ts";
import { OpsError } from "../platform/errors.ts";
import type { StatusDependencies } from "./dependencies.ts";

/** What was read, or why it was not: `late` is out of time, `code` an error's or the file system's. */
export type Reading<T> =
  | { status: "read"; value: T }
  | { status: "late" }
  | { status: "failed"; code: string };

/** Reads something, and gives up when its time is over; `signal` is aborted then. */
export async function readInTime<T>(
  { limitMs, wait }: Pick<StatusDependencies, "limitMs" | "wait">,
  read: (signal: AbortSignal) => Promise<T>,
): Promise<Reading<T>> {
  const [outOfTime, done] = [new AbortController(), new AbortController()];
  const limit = wait(limitMs, done.signal).then((): Reading<T> => ({ status: "late" }));
  const reading = await Promise.race([settled(read(outOfTime.signal)), limit]);
  done.abort();
  outOfTime.abort();
  return reading;
}

async function settled<T>(reading: Promise<T>): Promise<Reading<T>> {
  try {
    return { status: "read", value: await reading };
  } catch (error) {
    return { status: "failed", code: codeOf(error) };
  }
}

/** Only the code: the message of an engine or of an external service may quote data. */
function codeOf(error: unknown): string {
  if (error instanceof OpsError) return error.code;
  const { code, severity } = Object(error) as { code?: unknown; severity?: unknown };
  if (severity !== undefined || /^CONNECT/.test(String(code))) return classifyDatabaseError(error).code;
  return typeof code === "string" ? code : "unexpected";
}

/** The text of a file, null where there is none. */
export async function readFileInTime(
  dependencies: StatusDependencies,
  path: string,
  maxBytes: number,
): Promise<Reading<string | null>> {
  const read = await readInTime(dependencies, () => dependencies.readTextEnd(path, maxBytes));
  return read.status === "failed" && read.code === "ENOENT" ? { status: "read", value: null } : read;
}
