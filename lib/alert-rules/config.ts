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
import type { PlatformUids } from "./pipeline.ts";
import { isPlatformUid } from "./platform-uid.ts";
import type { Receivers } from "./receivers.ts";

/** How the platform is reached. */
export type PlatformConfig = { url: string; token: Secret };

/** The settings of `plan` and `apply`. */
export type AlertRulesConfig = PlatformConfig & { uids: PlatformUids; receivers: Receivers };

/** Uids given as options; each overrides its variable. */
export type GivenUids = { [K in keyof PlatformUids]?: string | undefined };

/** Receivers given as options; each overrides its variable. */
export type GivenReceivers = { [K in keyof Receivers]?: string | undefined };

const platformUid: Rule<string> = {
  schema: () => v.pipe(v.string(), v.check(isPlatformUid, "is not a uid of the platform")),
  expected: "1 to 40 letters, digits, - or _, as the platform shows them",
  example: "grafanacloud-prom",
};

const VARIABLE = {
  folder: "MONITORING_FOLDER_UID",
  metrics: "MONITORING_PROMETHEUS_UID",
  logs: "MONITORING_LOKI_UID",
} as const;

/** The variables of the receivers. */
export const RECEIVER_VARIABLE = {
  main: "MONITORING_RECEIVER",
  fallback: "MONITORING_FALLBACK_RECEIVER",
} as const;

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

const RECEIVERS = {
  [RECEIVER_VARIABLE.main]: optional(contactPointName),
  [RECEIVER_VARIABLE.fallback]: optional(contactPointName),
};

/** Stands in an exported rule for a uid that is not given; no uid of the platform looks like it. */
function placeholder(name: string): string {
  return `<${name}>`;
}

/**
 * The uids for `export`, with placeholders for those that are not given.
 *
 * Errors: CONFIG_INVALID.
 */
export async function loadExportUids(env: Environment, given: GivenUids): Promise<PlatformUids> {
  const values = await loadConfig(
    {
      [VARIABLE.folder]: optional(platformUid, placeholder(VARIABLE.folder)),
      [VARIABLE.metrics]: optional(platformUid, placeholder(VARIABLE.metrics)),
      [VARIABLE.logs]: optional(platformUid, placeholder(VARIABLE.logs)),
    },
    withGiven(env, given),
  );
  return uidsOf(values);
}

/**
 * Everything that `plan` and `apply` need.
 *
 * Errors: CONFIG_INVALID with all problems at once.
 */
export async function loadAlertRulesConfig(
  env: Environment,
  uids: GivenUids,
  receivers: GivenReceivers = {},
): Promise<AlertRulesConfig> {
  const values = await loadConfig(
    {
      ...PLATFORM_SETTINGS,
      [VARIABLE.folder]: required(platformUid),
      [VARIABLE.metrics]: required(platformUid),
      [VARIABLE.logs]: required(platformUid),
      ...RECEIVERS,
    },
    withReceivers(withGiven(env, uids), receivers),
  );
  return {
    url: values.MONITORING_URL,
    token: values.MONITORING_TOKEN,
    uids: uidsOf(values),
    receivers: {
      main: values[RECEIVER_VARIABLE.main] ?? null,
      fallback: values[RECEIVER_VARIABLE.fallback] ?? null,
    },
  };
}

function withGiven(env: Environment, given: GivenUids): Environment {
  const entries = Object.entries(given).filter(([, uid]) => uid !== undefined);
  const overrides = entries.map(([key, uid]) => [VARIABLE[key as keyof PlatformUids], uid]);
  return { ...env, ...Object.fromEntries(overrides) };
}

function withReceivers(env: Environment, given: GivenReceivers): Environment {
  const entries = Object.entries(given).filter(([, name]) => name !== undefined);
  const overrides = entries.map(([key, name]) => [RECEIVER_VARIABLE[key as keyof Receivers], name]);
  return { ...env, ...Object.fromEntries(overrides) };
}

function uidsOf(values: Record<(typeof VARIABLE)[keyof typeof VARIABLE], string>): PlatformUids {
  return {
    folder: values[VARIABLE.folder],
    metrics: values[VARIABLE.metrics],
    logs: values[VARIABLE.logs],
  };
}
