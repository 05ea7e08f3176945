import { loadSettings, type Settings } from "../platform/config/load.ts";
import type { SettingName } from "../platform/config/settings-table.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import { SOURCES } from "./sources.ts";

/** The settings of the collector and of its sources; the hosting token is looked for later, within the source's limit. */
export type CollectConfig = Settings<never, SettingName>;

const OPTIONAL: readonly SettingName[] = ["TEXTFILE_DIR", ...SOURCES.flatMap(({ settings }) => settings)];

/** Reads the settings of a run. Errors: CONFIG_INVALID with all problems at once. */
export async function loadCollectConfig(env: Environment): Promise<CollectConfig> {
  return await loadSettings("collect-metrics", { optional: OPTIONAL }, env);
}

/** Reads also the token and the address of the ping. Errors: CONFIG_INVALID with all problems at once. */
export async function loadWholeCollectConfig(env: Environment): Promise<CollectConfig> {
  const optional: readonly SettingName[] = [...OPTIONAL, "OPSCTL_PING_URL"];
  return await loadSettings("collect-metrics", { required: ["HOSTING_TOKEN"], optional }, env);
}
