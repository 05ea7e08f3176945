import { isSetUp, type PartName } from "../host/set-up.ts";
import { readCommandSettings } from "../platform/config/settings-file.ts";
import { OpsError } from "../platform/errors.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import type { StatusDependencies, Viewer } from "./dependencies.ts";
import { attention, type PartReport } from "./part.ts";

/** The settings of a command as its own start has them, or the error's code. */
export type PartSettings = { status: "read"; env: Environment } | { status: "failed"; code: string };

/** Reads the settings of a command. */
export function settingsOf(command: string, { env }: Pick<StatusDependencies, "env">): PartSettings {
  try {
    return { status: "read", env: readCommandSettings(command, env).env };
  } catch (error) {
    if (error instanceof OpsError) return { status: "failed", code: error.code };
    throw error;
  }
}

/** Whether a part that has left nothing is meant to work on this host, by the settings of its command. */
export function isMeantToWork(part: PartName, env: Environment): boolean {
  return isSetUp(part, env);
}

/** What only means that this account is not the one to look. */
const CLOSED: readonly string[] = ["SECRET_FILE_UNREADABLE", "SECRET_FILE_UNTRUSTED", "EACCES", "EPERM"];

/** What shows an ordinary account all parts. */
export const SEEN_BY_ROOT = "sudo opsctl status";

/** The report of a part of which `what` could not be read; the service account must be able to read everything. */
export function unreadable(what: string, code: string, viewer: Viewer, command: string): PartReport {
  const lines = [`${what} cannot be read (${code})`];
  if (viewer === "service" || !CLOSED.includes(code))
    return attention(lines, `sudo opsctl doctor ${command}`);
  const isUntrusted = code === "SECRET_FILE_UNTRUSTED";
  const line = isUntrusted ? lines : [`${what} cannot be read by this account`];
  return { status: "unknown", lines: line, next: SEEN_BY_ROOT, facts: null };
}
