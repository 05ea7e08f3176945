import { METRIC } from "../../host/metric-names.ts";
import { type WebhookMetric, webhookMetric } from "../../host/webhook-metric-names.ts";
import { alertRules } from "../rules/all.ts";
import type { AlertRule } from "../rules/rule.ts";

/** One line of a panel: its query, and its legend, in which `{{label}}` is Grafana's template. */
type Line = { query: string; legend: string };

/** Grafana's names of the units that are used. */
type Unit = "short" | "bytes" | "percent" | "s" | "bool";

/**
 * One panel of the dashboard.
 *
 * Shape: `limit` is the condition whose threshold is drawn in. `title` is for people (pt-BR).
 */
export type Panel = {
  title: string;
  source: AlertRule["source"];
  unit: Unit;
  lines: readonly Line[];
  limit: AlertRule["condition"] | null;
};

/** A row of the dashboard with its panels, in the order in which they are shown. */
export type Section = { title: string; panels: readonly Panel[] };

const RULES = new Map(alertRules({ withExtras: true }).map((rule) => [rule.uid, rule]));

/** The dashboard's content: the host, the alerts, the weekly run. Every rule has a panel. */
export function dashboardSections(): Section[] {
  return [
    { title: "VPS", panels: hostPanels() },
    { title: "Alarme", panels: [...collectorPanels(), ...webhookPanels(), ...deliveryPanels()] },
    { title: "Relatório semanal", panels: weeklyPanels() },
  ];
}

function hostPanels(): Panel[] {
  return [
    ofRule("opsctl-vps-load", "short"),
    ofRule("opsctl-ram-available", "percent"),
    ofRule("opsctl-root-disk", "percent"),
    ofRule("opsctl-traefik-ram", "bytes"),
    ofRule("opsctl-tcp-close-wait", "short"),
    ofRule("opsctl-tcp-sockets", "short"),
    ofRule("opsctl-deploy-failed", "bool", by("project", METRIC.hostingDeployFailed)),
    ofRule("opsctl-ssh-brute-force", "short"),
    ofRule("opsctl-security-log-silent", "short"),
  ];
}

function collectorPanels(): Panel[] {
  const failing = line(`min by (source) (${METRIC.collectorUp})`, "{{source}}");
  return [
    ofRule("opsctl-collector-stopped", "s"),
    ofRule("opsctl-collector-failing", "bool", failing),
    panel("Duração da coleta", "s", by("source", METRIC.collectorDuration)),
  ];
}

function webhookPanels(): Panel[] {
  const requests = `sum by (status) (increase(${webhookMetric("requests_total")}[10m]))`;
  return [
    ofRule("opsctl-webhook-stopped", "bool"),
    ofRule("opsctl-webhook-stuck", "s", byKind("oldest_undelivered_age_seconds")),
    ofRule("opsctl-gateway-disconnected", "bool"),
    ofRule("opsctl-messages-unacknowledged", "short"),
    ofRule(
      "opsctl-webhook-given-up",
      "short",
      byKind("dead", "não entregues {{kind}}"),
      byKind("in_doubt", "em dúvida {{kind}}"),
    ),
    panel("Fila", "short", byKind("queued")),
    panel("Retido pelo destino", "bool", byKind("held")),
    panel("Pedidos por resposta em 10 minutos", "short", line(requests, "{{status}}")),
    panel(
      "Alertas aceitos e recusados em 10 minutos",
      "short",
      line(increaseOf("alerts_accepted_total"), "aceitos"),
      line(increaseOf("alerts_rejected_total"), "recusados"),
      line(increaseOf("previous_secret_total"), "com o segredo anterior"),
    ),
    panel("Reserva para disco cheio", "bytes", line(`min(${webhookMetric("reserve_bytes")})`, "reserva")),
  ];
}

function deliveryPanels(): Panel[] {
  const buckets = `sum by (le, kind) (rate(${webhookMetric("delivery_latency_seconds")}_bucket[10m]))`;
  const failed = `sum by (kind, reason) (increase(${webhookMetric("failed_total")}[10m]))`;
  const sent = `sum by (kind) (increase(${webhookMetric("sent_total")}[10m]))`;
  const pending = line(`max(${webhookMetric("pending_messages")})`, "pendentes");
  return [
    panel("Envios em 10 minutos", "short", line(sent, "{{kind}}")),
    panel("Tentativas que falharam em 10 minutos", "short", line(failed, "{{kind}} {{reason}}")),
    panel("Do aceite à entrega (95 %)", "s", line(`histogram_quantile(0.95, ${buckets})`, "{{kind}}")),
    panel("Mensagens sem confirmação do gateway", "short", pending),
  ];
}

function weeklyPanels(): Panel[] {
  const open = `max by (channel, state) (${METRIC.weeklyOpenDeliveries})`;
  const left = `clamp_min(max(${METRIC.weeklyRetryableUntil}) - time(), 0)`;
  return [
    ofRule("opsctl-weekly-report-late", "s"),
    ofRule("opsctl-weekly-report-not-run", "bool"),
    ofRule("opsctl-weekly-report-incomplete", "bool"),
    panel("Desde a última execução", "s", line(`time() - max(${METRIC.weeklyLastRun})`, "idade")),
    panel(
      "Última execução",
      "bool",
      line(`max(${METRIC.weeklyLastRunSuccess})`, "com sucesso"),
      line(`max(${METRIC.weeklyRunning})`, "em andamento"),
    ),
    panel("Entregas em aberto", "short", line(open, "{{channel}} {{state}}")),
    panel("Tempo restante para repetir a semana", "s", line(left, "restante")),
  ];
}

/** A panel of metrics without a threshold. */
function panel(title: string, unit: Unit, ...lines: readonly Line[]): Panel {
  return { title, source: "metrics", unit, lines, limit: null };
}

/** The panel of a rule: its own query with its threshold, and further lines. */
function ofRule(uid: string, unit: Unit, ...further: Line[]): Panel {
  const rule = RULES.get(uid);
  if (rule === undefined) throw new Error(`Cannot render the dashboard: there is no rule ${uid}`);
  const lines = [line(rule.query, "alerta"), ...further];
  return { title: rule.title, source: rule.source, unit, lines, limit: rule.condition };
}

function line(query: string, legend: string): Line {
  return { query, legend };
}

function by(label: string, metric: string, legend = `{{${label}}}`): Line {
  return line(`max by (${label}) (${metric})`, legend);
}

function byKind(name: WebhookMetric, legend?: string): Line {
  return by("kind", webhookMetric(name), legend);
}

function increaseOf(name: WebhookMetric): string {
  return `sum(increase(${webhookMetric(name)}[10m]))`;
}
