import { PROXY_VARIABLES } from "../platform/config/runtime-variables.ts";
import { settingsWhere } from "../platform/config/settings-table.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import type { WebhookConfig } from "./config.ts";

/** Settings as they were read at one moment: checked, and as they stand in environment and file. */
export type Reading = { config: WebhookConfig; env: Environment };

/** The names of the settings that differ and change at a restart only. */
export function needRestart(started: Reading, now: Reading): string[] {
  const names = [...settingsWhere(({ restart }) => restart === true), ...PROXY_VARIABLES];
  return names.filter((name) => textOf(started, name) !== textOf(now, name));
}

function textOf({ config: { state }, env }: Reading, name: string): string {
  // It may be a secret's file, which the environment does not show.
  if (name === "OPSCTL_STATE_URL") return "url" in state ? state.url.open() : "";
  return (env[name] ?? "").trim();
}
