import { parseEnvFile } from "../platform/config/env-file.ts";
import { readClosedText } from "../platform/files/closed-file.ts";

const MAX_BYTES = 1_048_576;

/**
 * The variables of the webhook's environment file; none when there is no such file.
 *
 * Behaviour: it holds keys, so it is read like a secret's file and must be closed to group and others. It is parsed,
 *            not run.
 * Errors:    SECRET_FILE_EXPOSED, SECRET_FILE_UNTRUSTED, SECRET_FILE_UNREADABLE.
 */
export function readWebhookEnv(path: string): Map<string, string> {
  const text = readClosedText(path, {
    subject: "the webhook's settings",
    reader: "the socket monitor",
    ownPlace: path,
    maxBytes: MAX_BYTES,
  });
  return text === undefined ? new Map() : parseEnvFile(text);
}
