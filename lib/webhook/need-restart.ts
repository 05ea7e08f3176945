import { PROXY_VARIABLES } from "../platform/config/names/runtime-variables.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import type { StateConfig, WebhookConfig } from "./config.ts";

/** Settings as they were read at one moment: checked, and as they stand in environment and file. */
export type Reading = { config: WebhookConfig; env: Environment };

const READ_ONCE = ["OPSCTL_LOG_LEVEL", ...PROXY_VARIABLES];

/** The names of the settings that differ and change at a restart only. */
export function needRestart(started: Reading, now: Reading): string[] {
  const state = [
    ...(directoryOf(started.config.state) === directoryOf(now.config.state) ? [] : ["OPSCTL_STATE_DIR"]),
    ...(urlOf(started.config.state) === urlOf(now.config.state) ? [] : ["OPSCTL_STATE_URL"]),
  ];
  const isCommented = ({ config }: Reading) => config.tracker.comments;
  const comments = isCommented(started) === isCommented(now) ? [] : ["ISSUE_TRACKER_COMMENTS"];
  const others = READ_ONCE.filter((name) => textOf(started.env, name) !== textOf(now.env, name));
  return [...state, ...comments, ...others];
}

function directoryOf(state: StateConfig): string | null {
  return "directory" in state ? state.directory : null;
}

function urlOf(state: StateConfig): string | null {
  return "url" in state ? state.url.open() : null;
}

function textOf(env: Environment, name: string): string {
  return (env[name] ?? "").trim();
}
