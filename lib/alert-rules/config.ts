import * as v from "valibot";
import {
  httpBaseUrl,
  loadConfig,
  optional,
  type Rule,
  required,
  requiredSecret,
} from "../platform/config/config.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import type { Secret } from "../platform/secrets/secret.ts";
import { singleLine } from "../text/single-line.ts";
import { isPlatformUid } from "./platform-uid.ts";
import type { Receivers } from "./receivers.ts";
import type { PlatformUids } from "./rule-document.ts";

/** How the platform is reached. */
export type PlatformConfig = { url: string; token: Secret };

/** The settings of `plan` and `apply`. */
export type AlertRulesConfig = PlatformConfig & { uids: PlatformUids; receivers: Receivers };

const platformUid: Rule<string> = {
  schema: () => v.pipe(v.string(), v.check(isPlatformUid, "is not a uid of the platform")),
  expected: "1 to 40 letters, digits, - or _, as the platform shows them",
  example: "grafanacloud-prom",
};

const MAX_NAME = 190;

/** The name of a contact point. */
export const contactPointName: Rule<string> = {
  schema: () =>
    v.pipe(
      v.string(),
      v.trim(),
      v.check(
        (text) => text.length <= MAX_NAME && singleLine(text) === text,
        "is not the name of a contact point",
      ),
    ),
  expected: `the name of a contact point, one line of at most ${MAX_NAME} characters`,
  example: "opsctl-webhook",
};

/** The variables of every command that calls the platform. */
export const PLATFORM_SETTINGS = {
  MONITORING_URL: required({ ...httpBaseUrl, example: "https://metrics.example.com" }),
  MONITORING_TOKEN: requiredSecret(),
};

/** Stands in an exported rule for a uid that is not given; no uid of the platform looks like it. */
function uidOrPlaceholder(name: string) {
  return optional(platformUid, `<${name}>`);
}

const EXPORT = {
  MONITORING_FOLDER_UID: uidOrPlaceholder("MONITORING_FOLDER_UID"),
  MONITORING_PROMETHEUS_UID: uidOrPlaceholder("MONITORING_PROMETHEUS_UID"),
  MONITORING_LOKI_UID: uidOrPlaceholder("MONITORING_LOKI_UID"),
};

const PLATFORM_AND_RULES = {
  ...PLATFORM_SETTINGS,
  MONITORING_FOLDER_UID: required(platformUid),
  MONITORING_PROMETHEUS_UID: required(platformUid),
  MONITORING_LOKI_UID: required(platformUid),
  MONITORING_RECEIVER: optional(contactPointName),
  MONITORING_FALLBACK_RECEIVER: optional(contactPointName),
};

/**
 * The uids for `export`, with placeholders for those that are not given.
 *
 * Errors: CONFIG_INVALID.
 */
export async function loadExportUids(env: Environment): Promise<PlatformUids> {
  return uidsOf(await loadConfig(EXPORT, env));
}

/**
 * Everything that `plan` and `apply` need.
 *
 * Errors: CONFIG_INVALID with all problems at once.
 */
export async function loadAlertRulesConfig(env: Environment): Promise<AlertRulesConfig> {
  const values = await loadConfig(PLATFORM_AND_RULES, env);
  return {
    url: values.MONITORING_URL,
    token: values.MONITORING_TOKEN,
    uids: uidsOf(values),
    receivers: {
      main: values.MONITORING_RECEIVER ?? null,
      fallback: values.MONITORING_FALLBACK_RECEIVER ?? null,
    },
  };
}

function uidsOf(values: Record<keyof typeof EXPORT, string>): PlatformUids {
  return {
    folder: values.MONITORING_FOLDER_UID,
    metrics: values.MONITORING_PROMETHEUS_UID,
    logs: values.MONITORING_LOKI_UID,
  };
}
