import { stateDirectoryOf } from "../platform/config/directories.ts";
import { loadSettings } from "../platform/config/load.ts";
import { withWebhookSettings } from "../platform/config/webhook-settings.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import type { Secret } from "../platform/secrets/secret.ts";

/** The settings of the socket monitor. */
export type SocketMonitorConfig = {
  messaging: { apiUrl: string; apiKey: Secret; phone: string; instance: string | null };
  stateDir: string;
  logDir: string;
  textfileDir: string;
  threshold: number;
};

/**
 * Reads the settings of `opsctl socket-monitor`; those of the messages last in the webhook's file.
 *
 * Errors: CONFIG_INVALID with all problems at once, SECRET_FILE_EXPOSED, SECRET_FILE_UNTRUSTED, SECRET_FILE_UNREADABLE.
 */
export async function loadSocketMonitorConfig(env: Environment): Promise<SocketMonitorConfig> {
  const values = await loadSettings(
    "socket-monitor",
    {
      required: ["MESSAGING_API_URL", "MESSAGING_API_KEY", "MESSAGING_PHONE"],
      optional: [
        "MESSAGING_INSTANCE",
        "OPSCTL_STATE_DIR",
        "OPSCTL_LOG_DIR",
        "TEXTFILE_DIR",
        "SOCKET_THRESHOLD",
      ],
    },
    withWebhookSettings("socket-monitor", env),
  );
  return {
    messaging: {
      apiUrl: values.MESSAGING_API_URL,
      apiKey: values.MESSAGING_API_KEY,
      phone: values.MESSAGING_PHONE,
      instance: values.MESSAGING_INSTANCE?.trim() ?? null,
    },
    stateDir: stateDirectoryOf(values.OPSCTL_STATE_DIR, env),
    logDir: values.OPSCTL_LOG_DIR,
    textfileDir: values.TEXTFILE_DIR,
    threshold: values.SOCKET_THRESHOLD,
  };
}
