import { readFileSync, type Stats, statSync } from "node:fs";
import { parseEnvFile } from "../platform/env-file.ts";
import { OpsError } from "../platform/errors.ts";

const MAX_BYTES = 1_048_576;
const OPEN_TO_OTHERS = 0o066;

/**
 * The variables of the webhook's environment file; none when there is no such file.
 *
 * Shape:  it holds keys, so it must be closed to group and others. It is parsed, never run.
 * Errors: SECRET_FILE_EXPOSED, SECRET_FILE_UNREADABLE.
 */
export function readWebhookEnv(path: string): Map<string, string> {
  try {
    // The file's own mode counts, not that of a link to it.
    const stats = statSync(path);
    if (!stats.isFile()) throw unreadable(path, "it is not a regular file");
    if ((stats.mode & OPEN_TO_OTHERS) !== 0) throw exposed(path, stats);
    if (stats.size > MAX_BYTES) throw unreadable(path, `it has more than ${MAX_BYTES} bytes`);
    return parseEnvFile(decode(path));
  } catch (error) {
    if (error instanceof OpsError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return new Map();
    throw unreadable(path, `the file system answered ${code ?? "an unknown error"}`);
  }
}

function decode(path: string): string {
  const bytes = readFileSync(path);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw unreadable(path, "it is not UTF-8 text");
  }
}

function exposed(path: string, { mode }: Stats): OpsError {
  const shown = (mode & 0o777).toString(8).padStart(4, "0");
  return new OpsError({
    code: "SECRET_FILE_EXPOSED",
    message: `Cannot read the webhook's settings: file ${path} has mode ${shown}, open to group or others, expected 0600 or 0400`,
    hint: `chmod 0600 ${path}`,
  });
}

function unreadable(path: string, reason: string): OpsError {
  return new OpsError({
    code: "SECRET_FILE_UNREADABLE",
    message: `Cannot read the webhook's settings: file ${path}: ${reason}`,
    hint: "Give the account that runs the socket monitor a regular file with mode 0600 or 0400",
  });
}
