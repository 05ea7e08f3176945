import { absolutePath, loadConfig, optional } from "../platform/config/config.ts";
import type { Environment } from "../platform/secrets/adapter.ts";

/**
 * Where the weekly run of this host leaves word of itself.
 *
 * Errors: CONFIG_INVALID.
 */
export async function loadLogDirectory(env: Environment): Promise<{ logDir: string }> {
  const values = await loadConfig({ OPSCTL_LOG_DIR: optional(absolutePath, "/var/log/opsctl") }, env);
  return { logDir: values.OPSCTL_LOG_DIR };
}
