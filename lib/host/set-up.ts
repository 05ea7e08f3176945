import { existsSync } from "node:fs";
import { join } from "node:path";
import { OpsError } from "../platform/errors.ts";
import { type Environment, secretsDirectory } from "../platform/secrets/adapter.ts";
import { readWebhookEnv, webhookEnvPath } from "./webhook-env.ts";

/** The parts of opsctl on a host, in the order in which they are shown. */
export const PARTS = ["weekly", "webhook", "collector", "socket-monitor", "alert-rules"] as const;

/** One of these parts. */
export type PartName = (typeof PARTS)[number];

/** Variables that a part has for itself; one of them says that it is meant to work on this host. */
export const SET_UP_BY: Record<PartName, readonly string[]> = {
  weekly: [
    ...["APP_BASE_URL", "GATEWAY_URL", "WHATSAPP_REPORT_SENDER_TENANT_ID"],
    ...["WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID", "TRIGGER_SECRET"],
  ],
  webhook: [
    ...["MESSAGING_API_URL", "MESSAGING_API_KEY", "MESSAGING_PHONE"],
    ...["WEBHOOK_SECRET", "ISSUE_TRACKER_TOKEN", "ISSUE_TRACKER_TEAM_ID"],
  ],
  collector: [
    ...["TEXTFILE_DIR", "PROXY_CONTAINER"],
    ...["HOSTING_TOKEN", "HOSTING_API_URL", "HOSTING_TEAM_ID", "HOSTING_PROJECTS"],
  ],
  "socket-monitor": ["MESSAGING_API_URL", "MESSAGING_PHONE"],
  "alert-rules": ["MONITORING_URL", "MONITORING_TOKEN"],
};

/** Secrets that a part has for itself; of one that several parts have, a file says nothing. */
const SECRET_FILES: Record<PartName, readonly string[]> = {
  weekly: ["TRIGGER_SECRET", "GATEWAY_ADMIN_KEY", "EMAIL_API_KEY"],
  webhook: ["MESSAGING_API_KEY", "ISSUE_TRACKER_TOKEN"],
  collector: ["HOSTING_TOKEN"],
  "socket-monitor": [],
  "alert-rules": ["MONITORING_TOKEN"],
};

/**
 * Whether a part that has left nothing is meant to work on this host: a setting of its own is there.
 *
 * Shape:     `env` are the settings of its command; `reader` names who reads the webhook's file.
 * Behaviour: the socket monitor sends with the settings of the webhook. A file of the webhook that cannot be read
 *            counts as set up: a person has to look at it.
 */
export function isSetUp(part: PartName, env: Environment, { reader }: { reader: string }): boolean {
  if (hasAny(env, SET_UP_BY[part]) || hasSecretFile(part, env)) return true;
  return part === "socket-monitor" && isSenderSetUp(env, reader);
}

/** Whether one of these variables has a value. */
export function hasAny(env: Environment, names: readonly string[]): boolean {
  return names.some((name) => (env[name] ?? "").trim() !== "");
}

function hasSecretFile(part: PartName, env: Environment): boolean {
  return SECRET_FILES[part].some((name) => existsSync(join(secretsDirectory(env), name)));
}

function isSenderSetUp(env: Environment, reader: string): boolean {
  try {
    const path = webhookEnvPath(env.OPSCTL_WEBHOOK_ENV_FILE?.trim() || undefined, env);
    return hasAny(Object.fromEntries(readWebhookEnv(path, { reader })), SET_UP_BY["socket-monitor"]);
  } catch (error) {
    if (error instanceof OpsError) return true;
    throw error;
  }
}
