import { existsSync } from "node:fs";
import { isSetUp } from "../host/set-up.ts";
import { loadSettings, type Settings } from "../platform/config/load.ts";
import { isReadBy, type SettingName, settingsWhere } from "../platform/config/settings-table.ts";
import { OpsError } from "../platform/errors.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import type { MetricSource } from "./source.ts";
import { heartbeat } from "./sources/heartbeat.ts";
import { hosting } from "./sources/hosting.ts";
import { proxyMemory } from "./sources/proxy-memory.ts";
import { sockets } from "./sources/sockets.ts";

/** The sources of the collector, in the order in which they are started. */
export const SOURCES: readonly MetricSource[] = [proxyMemory, hosting, sockets, heartbeat];

/** The settings of the collector and of its sources; the hosting token is looked for later, within the source's limit. */
export type CollectConfig = Settings<never, SettingName>;

const OPTIONAL: readonly SettingName[] = ["TEXTFILE_DIR", ...SOURCES.flatMap(({ settings }) => settings)];

/** Reads the settings of a run. Errors: CONFIG_INVALID with all problems at once. */
export async function loadCollectConfig(env: Environment): Promise<CollectConfig> {
  return await loadSettings("collect-metrics", { optional: OPTIONAL }, env);
}

/**
 * Refuses a run by hand that sees none of the collector's settings: it would replace the installed collector's metrics.
 *
 * Errors: CONFIG_INVALID, and those of looking for the token's file.
 */
export function refuseWithoutSettings(env: Environment, settingsPath: string | null): void {
  const names = settingsWhere(
    (setting) => setting.commands !== "all" && isReadBy(setting, "collect-metrics"),
  );
  const isGiven = names.some((name) => (env[name] ?? "").trim() !== "");
  if (isGiven || existsSync(settingsPath ?? "") || isSetUp("collector", env)) return;
  throw new OpsError({
    code: "CONFIG_INVALID",
    message: `Cannot start: ${settingsPath ?? "the collector's settings file"} is not there, and none of its variables is set; nothing was written`,
    hint: "opsctl collect-metrics --stdout shows the metrics without settings",
  });
}

/** Reads also the token and the address of the ping. Errors: CONFIG_INVALID with all problems at once. */
export async function loadWholeCollectConfig(env: Environment): Promise<CollectConfig> {
  const optional: readonly SettingName[] = [...OPTIONAL, "OPSCTL_PING_URL"];
  return await loadSettings("collect-metrics", { required: ["HOSTING_TOKEN"], optional }, env);
}
