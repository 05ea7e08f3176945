import type { Environment } from "../../secrets/adapter.ts";
import { absolutePath, loadConfig, optional } from "../config.ts";

/** The log directory where `OPSCTL_LOG_DIR` is not set. */
export const DEFAULT_LOG_DIR = "/var/log/opsctl";

/** The log directory, whatever the other settings are; null when this one is wrong. */
export async function logDirectory(env: Environment): Promise<string | null> {
  try {
    const values = await loadConfig({ OPSCTL_LOG_DIR: optional(absolutePath, DEFAULT_LOG_DIR) }, env);
    return values.OPSCTL_LOG_DIR;
  } catch {
    return null;
  }
}
