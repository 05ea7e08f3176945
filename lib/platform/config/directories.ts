import type { Environment } from "../secrets/adapter.ts";
import { loadSettings } from "./load.ts";
import type { SettingsCommand } from "./settings-table.ts";

/** The log directory, whatever the other settings are; null when its setting is wrong. */
export async function logDirectory(command: SettingsCommand, env: Environment): Promise<string | null> {
  try {
    return (await loadSettings(command, { optional: ["OPSCTL_LOG_DIR"] }, env)).OPSCTL_LOG_DIR;
  } catch {
    return null;
  }
}

/** The directory of the state: the operator's, else the one that systemd made for the unit, else the installed one. */
export function stateDirectoryOf(given: string | undefined, { STATE_DIRECTORY }: Environment): string {
  // systemd separates several directories by colons; the first is the unit's own.
  return given ?? (STATE_DIRECTORY?.split(":")[0] || "/var/lib/opsctl");
}
