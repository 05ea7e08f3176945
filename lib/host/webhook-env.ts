import { parseEnvFile } from "../platform/config/env-files/env-file.ts";
import { settingsPath } from "../platform/config/env-files/settings-file.ts";
import { readClosedText } from "../platform/files/closed-file.ts";
import type { Environment } from "../platform/secrets/adapter.ts";

const MAX_BYTES = 1_048_576;

/**
 * Where the webhook's environment file is: what `OPSCTL_WEBHOOK_ENV_FILE` says, else beside the other environment
 * files; null when none is read.
 *
 * Errors: CONFIG_INVALID when `OPSCTL_ENV_DIR` is not an absolute path.
 */
export function webhookEnvPath(given: string | undefined, env: Environment): string | null {
  return given ?? settingsPath("webhook.env", env);
}

/**
 * The variables of the webhook's environment file, for another command of the same account; none when there is no such
 * file. `reader` names that command.
 *
 * Behaviour: it holds keys, so it is read like a secret's file and must be closed to group and others. It is parsed,
 *            not run.
 * Errors:    SECRET_FILE_EXPOSED, SECRET_FILE_UNTRUSTED, SECRET_FILE_UNREADABLE.
 */
export function readWebhookEnv(path: string | null, { reader }: { reader: string }): Map<string, string> {
  if (path === null) return new Map();
  const text = readClosedText(path, {
    subject: "the webhook's settings",
    reader,
    maxBytes: MAX_BYTES,
  });
  return text === undefined ? new Map() : parseEnvFile(text);
}
