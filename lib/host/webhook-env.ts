import { parseEnvFile } from "../platform/config/env-file.ts";
import { readClosedText } from "../platform/files/closed-file.ts";

/** Where the webhook's environment file is when `OPSCTL_WEBHOOK_ENV_FILE` is not set. */
export const DEFAULT_WEBHOOK_ENV_FILE = "/etc/opsctl/webhook.env";

const MAX_BYTES = 1_048_576;

/**
 * The variables of the webhook's environment file, for another command of the same account; none when there is no such
 * file. `reader` names that command.
 *
 * Behaviour: it holds keys, so it is read like a secret's file and must be closed to group and others. It is parsed,
 *            not run.
 * Errors:    SECRET_FILE_EXPOSED, SECRET_FILE_UNTRUSTED, SECRET_FILE_UNREADABLE.
 */
export function readWebhookEnv(path: string, { reader }: { reader: string }): Map<string, string> {
  const text = readClosedText(path, {
    subject: "the webhook's settings",
    reader,
    ownPlace: path,
    maxBytes: MAX_BYTES,
  });
  return text === undefined ? new Map() : parseEnvFile(text);
}
