import { hasAny } from "../host/set-up.ts";
import { loadSettings, type Settings } from "../platform/config/load.ts";
import { isReadBy, type SettingName, settingsWhere } from "../platform/config/settings-table.ts";
import { OpsError } from "../platform/errors.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import { SOURCES } from "./sources.ts";

/** The settings of the collector and of its sources; the hosting token is looked for later, within the source's limit. */
export type CollectConfig = Settings<never, SettingName>;

const COMMAND = "collect-metrics";
const OPTIONAL: readonly SettingName[] = ["TEXTFILE_DIR", ...SOURCES.flatMap(({ settings }) => settings)];

/**
 * Refuses to run without any setting: a manual run would replace the metrics of the installed collector by those of one
 * that is not set up.
 *
 * Errors: CONFIG_INVALID.
 */
export function refuseWithoutSettings(
  env: Environment,
  file: { path: string; isThere: boolean } | null,
): void {
  const own = settingsWhere((setting) => setting.commands !== "all" && isReadBy(setting, COMMAND));
  if (file?.isThere || hasAny(env, own)) return;
  const missing = file === null ? "no settings file is read" : `${file.path} is not there`;
  throw new OpsError({
    code: "CONFIG_INVALID",
    message: `Cannot start: the collector is not set up on this host: ${missing}, and none of its variables is set`,
    hint: "Nothing was written. opsctl collect-metrics --stdout shows the metrics without settings. What it needs: opsctl doctor collect-metrics",
  });
}

/** Reads the settings of a run. Errors: CONFIG_INVALID with all problems at once. */
export async function loadCollectConfig(env: Environment): Promise<CollectConfig> {
  return await loadSettings(COMMAND, { optional: OPTIONAL }, env);
}

/** Reads also the token and the address of the ping. Errors: CONFIG_INVALID with all problems at once. */
export async function loadWholeCollectConfig(env: Environment): Promise<CollectConfig> {
  return await loadSettings(
    COMMAND,
    { required: ["HOSTING_TOKEN"], optional: [...OPTIONAL, "OPSCTL_PING_URL"] },
    env,
  );
}
