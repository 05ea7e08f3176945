import { loadSettings, type Settings } from "../platform/config/load.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import type { Secret } from "../platform/secrets/secret.ts";
import type { GrafanaUids, Receivers } from "./rule-document.ts";

/** Grafana's address and the token. */
export type GrafanaConfig = { url: string; token: Secret };

/** The settings of `plan` and `apply`. */
export type AlertRulesConfig = GrafanaConfig & { uids: GrafanaUids; receivers: Receivers };

const UIDS = ["MONITORING_FOLDER_UID", "MONITORING_PROMETHEUS_UID", "MONITORING_LOKI_UID"] as const;
const RECEIVERS = ["MONITORING_RECEIVER", "MONITORING_FALLBACK_RECEIVER"] as const;

/**
 * The uids for `export`, with placeholders for those that are not given.
 *
 * Errors: CONFIG_INVALID.
 */
export async function loadExportUids(env: Environment): Promise<GrafanaUids> {
  const values = await loadSettings("alert-rules", { optional: UIDS }, env);
  // No uid of Grafana looks like the placeholder.
  const uidOr = (name: (typeof UIDS)[number]) => [name, values[name] ?? `<${name}>`];
  return uidsOf(Object.fromEntries(UIDS.map(uidOr)) as Settings<(typeof UIDS)[number]>);
}

/**
 * Everything that `plan` and `apply` need.
 *
 * Errors: CONFIG_INVALID with all problems at once.
 */
export async function loadAlertRulesConfig(env: Environment): Promise<AlertRulesConfig> {
  const required = ["MONITORING_URL", "MONITORING_TOKEN", ...UIDS] as const;
  const values = await loadSettings("alert-rules", { required, optional: RECEIVERS }, env);
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

function uidsOf(values: Settings<(typeof UIDS)[number]>): GrafanaUids {
  return {
    folder: values.MONITORING_FOLDER_UID,
    metrics: values.MONITORING_PROMETHEUS_UID,
    logs: values.MONITORING_LOKI_UID,
  };
}
