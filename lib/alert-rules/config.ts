import * as v from "valibot";
import { type Kind, url } from "../platform/config/kinds.ts";
import { checkOption, loadSettings } from "../platform/config/load.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import type { Secret } from "../platform/secrets/secret.ts";
import type { WantedPoint } from "./contact-point.ts";
import type { GrafanaUids } from "./rule-document.ts";

/** Grafana's address and the token. */
export type GrafanaConfig = { url: string; token: Secret };

const UIDS = ["MONITORING_FOLDER_UID", "MONITORING_PROMETHEUS_UID", "MONITORING_LOKI_UID"] as const;
const GRAFANA = ["MONITORING_URL", "MONITORING_TOKEN"] as const;

/** The service accepts alerts at this path only; a proxy may put more before it. */
const webhookUrl: Kind<string> = {
  ...url,
  schema: v.pipe(
    url.schema,
    v.check((text) => new URL(text).pathname.endsWith("/webhook"), "does not end in /webhook"),
  ),
  expected: "the URL at which Grafana reaches the webhook, such as https://alerts.example.com/webhook",
};

/** The uids for `export`, with placeholders, which no uid looks like, for those that are not given. */
export async function loadExportUids(env: Environment): Promise<GrafanaUids> {
  const values = await loadSettings("alert-rules", { optional: UIDS }, env);
  const [folder, metrics, logs] = UIDS.map((name) => values[name] ?? `<${name}>`) as [string, string, string];
  return { folder, metrics, logs };
}

/**
 * Everything that `plan` and `apply` need.
 *
 * Errors: CONFIG_INVALID with all problems at once.
 */
export async function loadAlertRulesConfig(env: Environment) {
  const optional = ["MONITORING_RECEIVER", "MONITORING_FALLBACK_RECEIVER"] as const;
  const values = await loadSettings("alert-rules", { required: [...GRAFANA, ...UIDS], optional }, env);
  return {
    url: values.MONITORING_URL,
    token: values.MONITORING_TOKEN,
    uids: {
      folder: values.MONITORING_FOLDER_UID,
      metrics: values.MONITORING_PROMETHEUS_UID,
      logs: values.MONITORING_LOKI_UID,
    },
    receivers: { main: values.MONITORING_RECEIVER, fallback: values.MONITORING_FALLBACK_RECEIVER },
  };
}

/**
 * Everything that `contact-point apply` needs; the webhook's secret is found as the service finds it.
 *
 * Errors: CONFIG_INVALID with all problems at once, SECRET_FILE_EXPOSED, SECRET_FILE_UNTRUSTED, SECRET_FILE_UNREADABLE.
 */
export async function loadContactPointConfig(
  env: Environment,
  given: { url: string; receiver: string | undefined },
): Promise<{ grafana: GrafanaConfig; point: WantedPoint }> {
  const receiver = given.receiver === undefined ? {} : { MONITORING_RECEIVER: given.receiver };
  const values = await loadSettings(
    "alert-rules",
    { required: [...GRAFANA, "MONITORING_RECEIVER", "WEBHOOK_SECRET"] },
    { ...env, ...receiver },
  );
  const address = checkOption("--url", webhookUrl, given.url, env);
  return {
    grafana: { url: values.MONITORING_URL, token: values.MONITORING_TOKEN },
    point: { name: values.MONITORING_RECEIVER, url: address, bearer: values.WEBHOOK_SECRET },
  };
}
