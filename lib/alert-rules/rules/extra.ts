import { METRIC } from "../../host/metric-names.ts";
import { type AlertRule, newestValue, ON_METRICS } from "./rule.ts";

const NOW = newestValue();

/**
 * The rules beyond the reference's table: the total of sockets, the weekly report and the collector.
 *
 * Behaviour: without any time stamp the age counts from 1970 (`or vector(0)`), so that absence fires: the rules on the
 *            weekly report and on the collector's last run fire where `noDataState: OK` keeps all others silent.
 *            `last_over_time` bridges the gap that a restart of the agent leaves.
 */
export const EXTRA_RULES: readonly AlertRule[] = [
  {
    ...ON_METRICS,
    uid: "opsctl-tcp-sockets",
    title: "Sockets TCP Excessivos",
    query: `max(${METRIC.tcpSockets})`,
    condition: { operator: ">", threshold: 10_000 },
    forSeconds: 300,
    severity: "high",
    summary: "Mais de 10000 sockets TCP na VPS",
    description:
      `${NOW} sockets abertos há 5 minutos: vazamento de conexões ou ataque. ` +
      "Veja primeiro: `ss -s` e quem tem mais, `ss -Hantp | awk '{print $6}' | sort | uniq -c | sort -n | tail`.",
  },
  {
    ...ON_METRICS,
    uid: "opsctl-weekly-report-late",
    title: "Relatório semanal atrasado",
    query: `time() - ${newestStamp(METRIC.weeklyLastSuccess)}`,
    condition: { operator: ">", threshold: 8 * 86_400 },
    severity: "high",
    summary: "O relatório semanal não termina com sucesso há mais de 8 dias",
    description:
      `Segundos desde o último sucesso: ${NOW}; acima de um bilhão, nunca houve sucesso ou o coletor não informa. ` +
      "Veja primeiro o fim de /var/log/opsctl/weekly.log e rode `opsctl weekly --dry-run`, que diz o que falta. " +
      "A semana só pode ser enviada na segunda-feira, até a meia-noite de São Paulo.",
  },
  {
    ...ON_METRICS,
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
    ...ON_METRICS,
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
    ...ON_METRICS,
    uid: "opsctl-collector-stopped",
    title: "Coletor parado",
    // The oldest of all hosts: a working host must not hide a stopped one.
    query: `time() - (min(last_over_time(${METRIC.collectorLastRun}[10m])) or vector(0))`,
    condition: { operator: ">", threshold: 300 },
    severity: "critical",
    summary: "O coletor de métricas não roda há mais de 5 minutos",
    description:
      `Segundos desde a última execução: ${NOW}; acima de um bilhão, nenhuma métrica chega ao Grafana. ` +
      "Enquanto isso os outros alertas veem valores velhos ou nada: trate a VPS como não monitorada. " +
      "Veja primeiro se a VPS responde; depois `systemctl status alloy cron` e `opsctl collect-metrics --stdout`.",
  },
  {
    ...ON_METRICS,
    uid: "opsctl-collector-failing",
    title: "Coletor com falha",
    query: `min(${METRIC.collectorUp})`,
    condition: { operator: "<", threshold: 1 },
    forSeconds: 600,
    severity: "warning",
    summary: "Uma fonte do coletor de métricas falha há 10 minutos",
    description:
      "As séries da fonte que falhou deixaram de existir, e os alertas que dependem delas estão cegos. " +
      `Veja primeiro qual: a consulta \`${METRIC.collectorUp} == 0\` mostra a fonte; ` +
      "depois `opsctl collect-metrics --stdout` como root, que diz o motivo.",
  },
];

const SILENT_HOURS = 6;

/**
 * The rule on the log that the security rules read.
 *
 * Behaviour: `or vector(0)` makes the count 0 where the store has no line at all, so that absence fires. Cron alone
 *            writes a line each minute, so hours without one mean that the lines do not arrive.
 */
export const SECURITY_LOG_RULE: AlertRule = {
  uid: "opsctl-security-log-silent",
  title: "Log de segurança parado",
  group: "vps-security",
  source: "logs",
  query: `sum(count_over_time({job="auth"} [${SILENT_HOURS}h])) or vector(0)`,
  lookbackSeconds: SILENT_HOURS * 3_600,
  condition: { operator: "<", threshold: 1 },
  forSeconds: 0,
  severity: "high",
  summary: `Nenhuma linha do log de segurança chegou em ${SILENT_HOURS} horas`,
  description:
    "Sem /var/log/auth.log no Grafana, o alerta SSH Brute Force está cego. " +
    "Veja primeiro se o arquivo cresce: `tail -n 3 /var/log/auth.log` (senão, `systemctl status rsyslog`); " +
    "depois o agente: `systemctl status alloy` e `journalctl -u alloy -n 50`, que diz se os logs são recusados.",
};

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
 * Units:     `from` is the time of day in São Paulo.
 * Source:    promtool, minute by minute: tests/alert-rules/monday.test.ts.
 */
function mondayWithout(metric: string, from: { hour: number; minute: number }): string {
  const offset = 10_800;
  const local = `(time() - ${offset})`;
  const midnight = `(${local} - ${local} % 86400)`;
  const isMonday = `(day_of_week(vector(${local})) == bool 1)`;
  const isLate = `(${local} % 86400 >= bool ${from.hour * 3_600 + from.minute * 60})`;
  return `${isMonday} * ${isLate} * (${newestStamp(metric)} - ${offset} < bool ${midnight})`;
}
