import { METRIC } from "../../host/metric-names.ts";
import { UNACKNOWLEDGED_LIMIT, WEBHOOK_KIND, webhookMetric } from "../../host/webhook-names.ts";
import { NEWEST_VALUE, type RuleRow } from "./rule.ts";

const LEADER = webhookMetric("leader");
/** A comment on an issue says only what a message has said already. */
const ALERTS = `kind!="${WEBHOOK_KIND.comment}"`;
const OLDEST = `${webhookMetric("oldest_undelivered_age_seconds")}{${ALERTS}}`;
/** Of five minutes: a restart of the service, which has to ask the gateway first, does not reset the rule's time. */
const UNACKNOWLEDGED = `last_over_time(${webhookMetric("newest_unacknowledged_messages")}[5m])`;
const UNDELIVERED = `{__name__=~"${webhookMetric("dead")}|${webhookMetric("unknown")}",${ALERTS}}`;

/**
 * The rules beyond the reference's table: the total of sockets, the weekly report, the collector, the webhook and the
 * log that the security rules read.
 *
 * Behaviour: with `or vector(0)` a query without series is 0, so that absence fires where `noDataState: OK` keeps all
 *            other rules silent. `last_over_time` bridges the gap that a restart of the agent leaves. Of several hosts
 *            with one state of the webhook all show the same rows, but only the leader delivers, so a host's sends and
 *            its gateway count while it leads, and no row counts twice.
 */
export const EXTRA_RULES: readonly RuleRow[] = [
  {
    uid: "opsctl-tcp-sockets",
    title: "Sockets TCP Excessivos",
    query: `max(${METRIC.tcpSockets})`,
    condition: { operator: ">", threshold: 10_000, forMinutes: 5 },
    severity: "high",
    summary: "Mais de 10000 sockets TCP na VPS",
    description:
      `${NEWEST_VALUE} sockets abertos há 5 minutos: vazamento de conexões ou ataque. ` +
      "Veja primeiro: `ss -s` e quem tem mais, `ss -Hantp | awk '{print $6}' | sort | uniq -c | sort -n | tail`.",
  },
  {
    uid: "opsctl-weekly-report-late",
    title: "Relatório semanal atrasado",
    query: `time() - ${newestStamp(METRIC.weeklyLastSuccess)}`,
    condition: { operator: ">", threshold: 8 * 86_400 },
    severity: "high",
    summary: "O relatório semanal não termina com sucesso há mais de 8 dias",
    description:
      `Segundos desde o último sucesso: ${NEWEST_VALUE}; acima de um bilhão, nunca houve sucesso ou o coletor não informa. ` +
      "Veja primeiro o fim de /var/log/opsctl/weekly.log e rode `opsctl weekly --dry-run`, que diz o que falta. " +
      "A semana só pode ser enviada na segunda-feira, até a meia-noite de São Paulo.",
  },
  {
    uid: "opsctl-weekly-report-not-run",
    title: "Relatório semanal não rodou",
    query: mondayWithout(METRIC.weeklyLastRun, { hour: 8, minute: 15 }),
    condition: { operator: ">=", threshold: 1 },
    severity: "critical",
    summary: "É segunda-feira, passou das 08:15, e o relatório semanal ainda não começou hoje",
    description:
      "O cron deveria ter começado às 08:00 de São Paulo (11:00 UTC); ou a execução foi recusada antes de começar, ou o " +
      "coletor não informa. Veja primeiro: `tail -n 5 /var/log/opsctl/weekly.log` e `sudo opsctl doctor weekly`. " +
      "A semana só pode ser enviada hoje, até a meia-noite de São Paulo.",
  },
  {
    uid: "opsctl-weekly-report-incomplete",
    title: "Relatório semanal incompleto",
    query: mondayWithout(METRIC.weeklyLastSuccess, { hour: 20, minute: 0 }),
    condition: { operator: ">=", threshold: 1 },
    severity: "critical",
    summary:
      "É segunda-feira, passou das 20:00, e nenhuma execução do relatório semanal teve sucesso completo hoje",
    description:
      "Depois da meia-noite de São Paulo esta semana não pode mais ser enviada. " +
      "Veja primeiro o que está aberto: `opsctl reports status`; corrija e rode `opsctl weekly` de novo. " +
      "Uma execução que deixou algo de fora (`--without-social`, `--skip-…`, `--tenant`) não conta como sucesso completo.",
  },
  {
    uid: "opsctl-collector-stopped",
    title: "Coletor parado",
    // The oldest of all hosts: a working host must not hide a stopped one.
    query: `time() - (min(last_over_time(${METRIC.collectorLastRun}[10m])) or vector(0))`,
    condition: { operator: ">", threshold: 300 },
    severity: "critical",
    summary: "O coletor de métricas não roda há mais de 5 minutos",
    description:
      `Segundos desde a última execução: ${NEWEST_VALUE}; acima de um bilhão, nenhuma métrica chega ao Grafana. ` +
      "Enquanto isso os outros alertas veem valores velhos ou nada: trate a VPS como não monitorada. " +
      "Veja primeiro se a VPS responde; depois `systemctl status alloy cron` e `opsctl collect-metrics --stdout`.",
  },
  {
    uid: "opsctl-collector-failing",
    title: "Coletor com falha",
    query: `min(${METRIC.collectorUp})`,
    condition: { operator: "<", threshold: 1, forMinutes: 10 },
    severity: "warning",
    summary: "Uma fonte do coletor de métricas falha há 10 minutos",
    description:
      "As séries da fonte que falhou deixaram de existir, e os alertas que dependem delas estão cegos. " +
      `Veja primeiro qual: a consulta \`${METRIC.collectorUp} == 0\` mostra a fonte; ` +
      "depois `opsctl collect-metrics --stdout` como root, que diz o motivo.",
  },
  {
    uid: "opsctl-webhook-stopped",
    watchesWebhook: true,
    title: "Webhook de alertas parado",
    // Five minutes bear a restart of the service or of the agent.
    query: `max(max_over_time(${LEADER}[5m])) or vector(0)`,
    condition: { operator: "<", threshold: 1 },
    severity: "critical",
    summary: "O webhook que envia os alertas não dá sinal há 5 minutos",
    description:
      "Os alertas desta VPS podem não chegar ao WhatsApp: o serviço parou, não responde, não lidera, ou o agente não o lê. " +
      "Veja primeiro: `systemctl status opsctl-webhook`, `journalctl -u opsctl-webhook -n 50` e " +
      "`curl http://127.0.0.1:9301/healthz`. Se o serviço responder, veja o agente: `systemctl status alloy`.",
  },
  {
    uid: "opsctl-webhook-stuck",
    watchesWebhook: true,
    title: "Webhook com alertas parados",
    // The age of the oldest waiting row where nothing of its kind was sent, and 0 where something was.
    query:
      `max(max by (instance, kind) (${OLDEST}) ` +
      `* on (instance, kind) (sum by (instance, kind) (increase(${webhookMetric("sent_total")}[10m])) == bool 0) ` +
      `* on (instance) group_left () max by (instance) (${LEADER}))`,
    condition: { operator: ">", threshold: 600 },
    severity: "critical",
    summary: "Há alertas esperando, e o webhook não envia nada há 10 minutos",
    description:
      `O mais antigo espera há ${NEWEST_VALUE} segundos. Nada se perde: o webhook guarda e tenta de novo, mas ninguém é avisado. ` +
      "Veja primeiro `sudo opsctl doctor webhook`, que diz se é o gateway ou o rastreador de issues, e o que fazer; " +
      "depois `curl http://127.0.0.1:9301/healthz`.",
  },
  {
    uid: "opsctl-webhook-given-up",
    watchesWebhook: true,
    title: "Alertas não entregues",
    query: `max(sum by (instance) (${UNDELIVERED}))`,
    condition: { operator: ">", threshold: 0 },
    severity: "high",
    summary: "O webhook não entregou alertas ou issues, ou não sabe se chegaram",
    description:
      `Mensagens e issues nessa situação: ${NEWEST_VALUE}. Elas ficam guardadas e não são mais tentadas automaticamente. ` +
      "Veja primeiro quais: `opsctl webhook dead list`. Corrija a causa e envie de novo com `opsctl webhook dead retry`, " +
      "ou descarte com `opsctl webhook dead drop`; o alerta termina quando não restar nenhuma.",
  },
  {
    uid: "opsctl-gateway-disconnected",
    watchesWebhook: true,
    title: "Gateway desconectado",
    query: `min(min by (instance) (${webhookMetric("gateway_open")}) and on (instance) max by (instance) (${LEADER}) == 1)`,
    condition: { operator: "<", threshold: 1, forMinutes: 5 },
    severity: "critical",
    summary: "O gateway do WhatsApp perdeu a conexão com o telefone há 5 minutos",
    description:
      "Nenhum alerta sai pelo WhatsApp até o telefone ser conectado de novo; os alertas esperam no webhook. " +
      "Veja primeiro se o telefone está ligado e com internet; depois conecte a instância de novo no gateway (QR code). " +
      "`sudo opsctl doctor webhook` confirma. O envio continua sozinho.",
  },
  {
    uid: "opsctl-messages-unacknowledged",
    watchesWebhook: true,
    title: "WhatsApp sem confirmação",
    query: `max(max by (instance) (${UNACKNOWLEDGED}) and on (instance) max by (instance) (max_over_time(${LEADER}[5m])) == 1)`,
    condition: { operator: ">", threshold: UNACKNOWLEDGED_LIMIT - 1, forMinutes: 10 },
    severity: "critical",
    summary: "O gateway aceita os alertas, mas o WhatsApp não confirma nenhum há 10 minutos",
    description:
      `As últimas mensagens sem confirmação, em seguida: ${NEWEST_VALUE}. Podem não ter chegado a ninguém, embora o gateway se diga ` +
      "conectado. Veja primeiro se o WhatsApp do telefone que envia está bloqueado ou com restrição; depois reinicie a " +
      "instância no gateway. `opsctl webhook test --without-issue` envia uma mensagem de teste; o alerta termina com a " +
      "primeira mensagem confirmada.",
  },
  {
    uid: "opsctl-security-log-silent",
    title: "Log de segurança parado",
    group: "vps-security",
    source: "logs",
    // Cron alone writes a line each minute, so hours without one mean that the lines do not arrive.
    query: 'sum(count_over_time({job="auth"} [6h])) or vector(0)',
    condition: { operator: "<", threshold: 1 },
    severity: "high",
    summary: "Nenhuma linha do log de segurança chegou em 6 horas",
    description:
      "Sem /var/log/auth.log no Grafana, o alerta SSH Brute Force está cego. " +
      "Veja primeiro se o arquivo cresce: `tail -n 3 /var/log/auth.log` (senão, `systemctl status rsyslog`); " +
      "depois o agente: `systemctl status alloy` e `journalctl -u alloy -n 50`, que diz se os logs são recusados.",
  },
];

/** The newest time stamp of a metric of all hosts; 1970 without one. */
function newestStamp(metric: string): string {
  return `(max(last_over_time(${metric}[1h])) or vector(0))`;
}

/**
 * A query that is 1 on Mondays in São Paulo, from a time of day until midnight, while the newest of a metric's time
 * stamps is of an earlier day; else 0.
 *
 * Behaviour: PromQL knows no time zones, and Brazil has had no summer time since 2019. If it comes back, these rules
 *            fire an hour late in its months.
 */
function mondayWithout(metric: string, { hour, minute }: { hour: number; minute: number }): string {
  const offset = 10_800;
  const local = `(time() - ${offset})`;
  const midnight = `(${local} - ${local} % 86400)`;
  const isMonday = `(day_of_week(vector(${local})) == bool 1)`;
  const isLate = `(${local} % 86400 >= bool ${hour * 3_600 + minute * 60})`;
  return `${isMonday} * ${isLate} * (${newestStamp(metric)} - ${offset} < bool ${midnight})`;
}
