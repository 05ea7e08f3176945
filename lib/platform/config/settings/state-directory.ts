import { absolutePath, anyText, optional } from "../config.ts";

/** The settings that say where opsctl keeps its state. */
export const STATE_DIRECTORY_SETTINGS = {
  OPSCTL_STATE_DIR: optional(absolutePath),
  STATE_DIRECTORY: optional(anyText),
};

/** Their values, as `loadConfig` reads them. */
export type StateDirectorySettings = Record<keyof typeof STATE_DIRECTORY_SETTINGS, string | undefined>;

/** The state directory where no setting names another. */
export const DEFAULT_STATE_DIR = "/var/lib/opsctl";

/** The directory of the state: the operator's, else the one that systemd made for the unit, else the installed one. */
export function stateDirectoryOf({ OPSCTL_STATE_DIR, STATE_DIRECTORY }: StateDirectorySettings): string {
  // systemd separates several directories by colons; the first is the unit's own.
  return OPSCTL_STATE_DIR ?? STATE_DIRECTORY?.split(":")[0] ?? DEFAULT_STATE_DIR;
}
