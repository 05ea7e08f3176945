/** What Grafana sends when a rule fires: to the rule's receiver, by the settings of its contact point, once. */
import { createHash } from "node:crypto";
import type { Monitoring } from "./grafana.ts";
import type { KeptPoint } from "./grafana-contact-point.ts";
import type { Json } from "./grafana-rule.ts";

/** An alert of a rule; `value` is that of the steps A and B. */
export type FiredAlert = { status: "firing" | "resolved"; value: number; startsAt: string; endsAt?: string };

/** The status with which one integration of the receiver answered. */
export type Notified = { uid: string; status: number };

/**
 * Tells the receiver of a rule.
 *
 * Behaviour: a rule without a receiver goes to that of the policies' root. Only webhooks are posted to. The address, the
 *            method and the authentication are those of the contact point and nothing else.
 */
export async function notify(platform: Monitoring, uid: string, alert: FiredAlert): Promise<Notified[]> {
  const rule = platform.rules.get(uid);
  if (rule === undefined) throw new Error(`no rule ${uid} in Grafana`);
  const settings = rule.notification_settings as Json | null | undefined;
  const receiver = String(settings?.receiver ?? platform.policies.receiver);
  const webhooks = platform.points.filter(
    ({ name, type, disableResolveMessage }) =>
      name === receiver && type === "webhook" && !(alert.status === "resolved" && disableResolveMessage),
  );
  return await Promise.all(webhooks.map((point) => post(point, bodyOf(rule, receiver, alert))));
}

async function post({ uid, settings }: KeptPoint, body: object): Promise<Notified> {
  const credentials = settings.authorization_credentials;
  const isOauth = (settings.http_config as Json | undefined)?.oauth2 !== undefined;
  const authorization = isOauth
    ? { authorization: "Bearer token-of-the-oauth2-server" }
    : credentials
      ? { authorization: `${settings.authorization_scheme || "Bearer"} ${credentials}` }
      : {};
  const response = await fetch(String(settings.url), {
    method: String(settings.httpMethod || "POST"),
    headers: {
      "content-type": "application/json",
      "user-agent": "Grafana",
      connection: "close",
      ...authorization,
      ...(settings.headers as Record<string, string> | undefined),
    },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return { uid, status: response.status };
}

/** The body of Grafana's webhook, with the automatic labels and the annotations as they are without values. */
function bodyOf(rule: Json, receiver: string, { status, value, startsAt, endsAt }: FiredAlert): object {
  const labels = { alertname: rule.title, grafana_folder: "VPS", ...(rule.labels as Json) };
  const alert = {
    ...{ status, labels, annotations: rule.annotations, startsAt },
    ...{
      endsAt: endsAt ?? "0001-01-01T00:00:00Z",
      generatorURL: "",
      silenceURL: "",
      dashboardURL: "",
      panelURL: "",
    },
    fingerprint: createHash("md5").update(String(rule.uid)).digest("hex").slice(0, 16),
    values: { A: value, B: value, C: status === "firing" ? 1 : 0 },
    valueString: `[ var='B' labels={} value=${value} ]`,
  };
  return {
    ...{ receiver, status, alerts: [alert], groupLabels: { alertname: rule.title } },
    ...{
      commonLabels: labels,
      commonAnnotations: rule.annotations,
      externalURL: "https://monitoring.example.com/",
    },
    ...{ version: "1", groupKey: `{}:{alertname="${rule.title}"}`, truncatedAlerts: 0, orgId: 1 },
    ...{ title: `[${status}] ${rule.title}`, state: status === "firing" ? "alerting" : "ok", message: "…" },
  };
}
