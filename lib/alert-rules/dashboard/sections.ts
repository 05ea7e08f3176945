import { METRIC } from "../../host/metric-names.ts";
import { webhookMetric } from "../../host/webhook-metric-names.ts";
import { alertRules } from "../rules/all.ts";
import { type Line, type Panel, plainPanel, rulePanel, type Unit } from "./panel.ts";

/** A row of the dashboard with its panels, in the order in which they are shown. */
export type Section = { title: string; panels: readonly Panel[] };

const RULES = new Map(alertRules({ withExtras: true }).map((rule) => [rule.uid, rule]));
const PERCENTILE = 0.95;

/** The dashboard's content: the host, the alarm, the weekly run. Every rule has a panel. */
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
    ofRule(
      "opsctl-deploy-failed",
      "bool",
      line(`max by (project) (${METRIC.hostingDeployFailed})`, "project"),
    ),
    ofRule("opsctl-ssh-brute-force", "short"),
    ofRule("opsctl-security-log-silent", "short"),
  ];
}

function collectorPanels(): Panel[] {
  return [
    ofRule("opsctl-collector-stopped", "s"),
    ofRule("opsctl-collector-failing", "bool", line(`min by (source) (${METRIC.collectorUp})`, "source")),
    plainPanel("Duração da coleta", "s", line(`max by (source) (${METRIC.collectorDuration})`, "source")),
  ];
}

function webhookPanels(): Panel[] {
  const requests = `sum by (status) (increase(${webhookMetric("requests_total")}[10m]))`;
  return [
    ofRule("opsctl-webhook-stopped", "bool"),
    ofRule("opsctl-webhook-stuck", "s", line(byKind("oldest_undelivered_age_seconds"), "kind")),
    ofRule("opsctl-gateway-disconnected", "bool"),
    ofRule("opsctl-messages-unacknowledged", "short"),
    ofRule(
      "opsctl-webhook-given-up",
      "short",
      line(byKind("dead"), "kind", "desistidos"),
      line(byKind("in_doubt"), "kind", "em dúvida"),
    ),
    plainPanel("Fila", "short", line(byKind("queued"), "kind")),
    plainPanel("Retido pelo destino", "bool", line(byKind("held"), "kind")),
    plainPanel("Pedidos por resposta em 10 minutos", "short", line(requests, "status")),
    plainPanel(
      "Alertas aceitos e recusados em 10 minutos",
      "short",
      plain(increaseOf("alerts_accepted_total"), "aceitos"),
      plain(increaseOf("alerts_rejected_total"), "recusados"),
      plain(increaseOf("previous_secret_total"), "com o segredo anterior"),
    ),
    plainPanel(
      "Reserva para disco cheio",
      "bytes",
      plain(`min(${webhookMetric("reserve_bytes")})`, "reserva"),
    ),
  ];
}

function deliveryPanels(): Panel[] {
  const buckets = `sum by (le, kind) (rate(${webhookMetric("delivery_latency_seconds")}_bucket[10m]))`;
  const failed = `sum by (kind, reason) (increase(${webhookMetric("failed_total")}[10m]))`;
  const sent = `sum by (kind) (increase(${webhookMetric("sent_total")}[10m]))`;
  return [
    plainPanel("Envios em 10 minutos", "short", line(sent, "kind")),
    plainPanel("Tentativas que falharam em 10 minutos", "short", {
      query: failed,
      legend: "{{kind}} {{reason}}",
    }),
    plainPanel(
      "Do aceite à entrega (95 %)",
      "s",
      line(`histogram_quantile(${PERCENTILE}, ${buckets})`, "kind"),
    ),
    plainPanel(
      "Mensagens sem confirmação do gateway",
      "short",
      plain(`max(${webhookMetric("pending_messages")})`, "pendentes"),
    ),
  ];
}

function weeklyPanels(): Panel[] {
  const open = `max by (channel, state) (${METRIC.weeklyOpenDeliveries})`;
  return [
    ofRule("opsctl-weekly-report-late", "s"),
    ofRule("opsctl-weekly-report-not-run", "bool"),
    ofRule("opsctl-weekly-report-incomplete", "bool"),
    plainPanel("Desde a última execução", "s", plain(`time() - max(${METRIC.weeklyLastRun})`, "idade")),
    plainPanel(
      "Última execução",
      "bool",
      plain(`max(${METRIC.weeklyLastRunSuccess})`, "com sucesso"),
      plain(`max(${METRIC.weeklyRunning})`, "em andamento"),
    ),
    plainPanel("Entregas em aberto", "short", { query: open, legend: "{{channel}} {{state}}" }),
    plainPanel(
      "Tempo restante para repetir a semana",
      "s",
      plain(`clamp_min(max(${METRIC.weeklyRetryableUntil}) - time(), 0)`, "restante"),
    ),
  ];
}

function ofRule(uid: string, unit: Unit, ...beside: Line[]): Panel {
  const rule = RULES.get(uid);
  if (rule === undefined) throw new Error(`Cannot make the dashboard: there is no rule ${uid}`);
  return rulePanel(rule, unit, ...beside);
}

function byKind(name: Parameters<typeof webhookMetric>[0]): string {
  return `max by (kind) (${webhookMetric(name)})`;
}

function increaseOf(name: Parameters<typeof webhookMetric>[0]): string {
  return `sum(increase(${webhookMetric(name)}[10m]))`;
}

function line(query: string, label: string, word?: string): Line {
  return { query, legend: word === undefined ? `{{${label}}}` : `${word} {{${label}}}` };
}

function plain(query: string, legend: string): Line {
  return { query, legend };
}
