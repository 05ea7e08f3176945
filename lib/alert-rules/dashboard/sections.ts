import { METRIC } from "../../host/metric-names.ts";
import { type WebhookMetric, webhookMetric } from "../../host/webhook-names.ts";
import { alertRules } from "../rules/all.ts";
import type { AlertRule } from "../rules/rule.ts";

/** Grafana's names of the units that are used. */
type Unit = "short" | "bytes" | "percent" | "s" | "bool";

/** The lines of a panel: the query of each by its legend, in which `{{label}}` is Grafana's template. */
type Lines = Readonly<Record<string, string>>;

/** One panel of the dashboard; the threshold of `limit` is drawn in. `title` is for people (pt-BR). */
export type Panel = {
  title: string;
  source: AlertRule["source"];
  unit: Unit;
  lines: Lines;
  limit: AlertRule["condition"] | null;
};

const RULES = new Map(alertRules({ withExtras: true }).map((rule) => [rule.uid, rule]));
const LATENCY = `sum by (le, kind) (rate(${webhookMetric("delivery_latency_seconds")}_bucket[10m]))`;

/** The rows of the dashboard with their panels, in the order in which they are shown; every rule has a panel. */
export const SECTIONS: readonly { title: string; panels: readonly Panel[] }[] = [
  {
    title: "VPS",
    panels: [
      ofRule("opsctl-vps-load", "short"),
      ofRule("opsctl-ram-available", "percent"),
      ofRule("opsctl-root-disk", "percent"),
      ofRule("opsctl-traefik-ram", "bytes"),
      ofRule("opsctl-tcp-close-wait", "short"),
      ofRule("opsctl-tcp-sockets", "short"),
      ofRule("opsctl-deploy-failed", "bool", { "{{project}}": by("project", METRIC.hostingDeployFailed) }),
      ofRule("opsctl-ssh-brute-force", "short"),
      ofRule("opsctl-security-log-silent", "short"),
    ],
  },
  {
    title: "Alarme",
    panels: [
      ofRule("opsctl-collector-stopped", "s"),
      ofRule("opsctl-collector-failing", "bool", { "{{source}}": `min by (source) (${METRIC.collectorUp})` }),
      panel("Duração da coleta", "s", { "{{source}}": by("source", METRIC.collectorDuration) }),
      ofRule("opsctl-webhook-stopped", "bool"),
      ofRule("opsctl-webhook-stuck", "s", { "{{kind}}": byKind("oldest_undelivered_age_seconds") }),
      ofRule("opsctl-gateway-disconnected", "bool"),
      ofRule("opsctl-messages-unacknowledged", "short"),
      ofRule("opsctl-webhook-given-up", "short", {
        "não entregues {{kind}}": byKind("dead"),
        "incertos {{kind}}": byKind("unknown"),
      }),
      panel("Fila", "short", { "{{kind}}": byKind("queued") }),
      panel("Envio pausado", "bool", { "{{kind}}": byKind("paused") }),
      panel("Pedidos por resposta em 10 minutos", "short", {
        "{{status}}": `sum by (status) (${increase("requests_total")})`,
      }),
      panel("Alertas aceitos e recusados em 10 minutos", "short", {
        aceitos: `sum(${increase("alerts_accepted_total")})`,
        recusados: `sum(${increase("alerts_rejected_total")})`,
        "com o segredo anterior": `sum(${increase("previous_secret_total")})`,
      }),
      panel("Reserva para disco cheio", "bytes", { reserva: `min(${webhookMetric("reserve_bytes")})` }),
      panel("Envios em 10 minutos", "short", { "{{kind}}": `sum by (kind) (${increase("sent_total")})` }),
      panel("Tentativas que falharam em 10 minutos", "short", {
        "{{kind}} {{reason}}": `sum by (kind, reason) (${increase("failed_total")})`,
      }),
      panel("Do aceite à entrega (95 %)", "s", { "{{kind}}": `histogram_quantile(0.95, ${LATENCY})` }),
      panel("Mensagens sem confirmação do gateway", "short", {
        pendentes: `max(${webhookMetric("pending_messages")})`,
      }),
    ],
  },
  {
    title: "Relatório semanal",
    panels: [
      ofRule("opsctl-weekly-report-late", "s"),
      ofRule("opsctl-weekly-report-not-run", "bool"),
      ofRule("opsctl-weekly-report-incomplete", "bool"),
      panel("Desde a última execução", "s", { idade: `time() - max(${METRIC.weeklyLastRun})` }),
      panel("Última execução", "bool", {
        "com sucesso": `max(${METRIC.weeklyLastRunSuccess})`,
        "em andamento": `max(${METRIC.weeklyRunning})`,
      }),
      panel("Entregas em aberto", "short", {
        "{{channel}} {{state}}": by("channel, state", METRIC.weeklyOpenDeliveries),
      }),
      panel("Tempo restante para repetir a semana", "s", {
        restante: `clamp_min(max(${METRIC.weeklyRetryableUntil}) - time(), 0)`,
      }),
    ],
  },
];

/** A panel of metrics without a threshold. */
function panel(title: string, unit: Unit, lines: Lines): Panel {
  return { title, source: "metrics", unit, lines, limit: null };
}

/** The panel of a rule: its own query with its threshold, and further lines. */
function ofRule(uid: string, unit: Unit, further: Lines = {}): Panel {
  const rule = RULES.get(uid);
  if (rule === undefined) throw new Error(`Cannot render the dashboard: there is no rule ${uid}`);
  const { title, source, query, condition } = rule;
  return { title, source, unit, lines: { alerta: query, ...further }, limit: condition };
}

function by(labels: string, metric: string): string {
  return `max by (${labels}) (${metric})`;
}

function byKind(name: WebhookMetric): string {
  return by("kind", webhookMetric(name));
}

function increase(name: WebhookMetric): string {
  return `increase(${webhookMetric(name)}[10m])`;
}
