import { loadSettings } from "../platform/config/load.ts";
import type { Environment } from "../platform/secrets/adapter.ts";

const REQUIRED = ["MESSAGING_API_URL", "MESSAGING_API_KEY", "MESSAGING_PHONE"] as const;
const OPTIONAL = [
  ...(["MESSAGING_INSTANCE", "OPSCTL_STATE_DIR", "OPSCTL_LOG_DIR"] as const),
  ...(["TEXTFILE_DIR", "SOCKET_THRESHOLD"] as const),
];

/** The settings of the socket monitor. */
export type SocketMonitorConfig = Awaited<ReturnType<typeof loadSocketMonitorConfig>>;

/**
 * Reads the settings of `opsctl socket-monitor`.
 *
 * Errors: those of `loadSettings`.
 */
export async function loadSocketMonitorConfig(env: Environment) {
  return await loadSettings("socket-monitor", { required: REQUIRED, optional: OPTIONAL }, env);
}
