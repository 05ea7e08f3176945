import { METRIC } from "../../host/metric-names.ts";
import { mondayWithout } from "./monday.ts";
import { newestValue } from "./newest-value.ts";
import type { AlertRule } from "./rule.ts";
import { THRESHOLDS as LIMIT } from "./thresholds.ts";

const MINUTE = 60;
const BASE = { group: "vps-infra", source: "metrics", lookbackSeconds: 0 } as const;
const NOW = newestValue({ decimals: 0 });

/**
 * The rules beyond the reference's table: the total of sockets, and what watches the watchers.
 *
 * Behaviour: without any time stamp the age counts from 1970 (`or vector(0)`), so that absence fires: the rules on the
 *            weekly report and on the collector's last run fire where `noDataState: OK` keeps all others silent.
 *            `last_over_time` bridges the gap that a restart of the agent leaves.
 */
export const EXTRA_RULES: readonly AlertRule[] = [
  {
    ...BASE,
    uid: "opsctl-tcp-sockets",
    title: "Sockets TCP Excessivos",
    query: `max(${METRIC.tcpSockets})`,
    condition: { operator: ">", threshold: LIMIT.totalSockets },
    forSeconds: 5 * MINUTE,
    severity: "high",
    summary: `Mais de ${LIMIT.totalSockets} sockets TCP na VPS`,
    description:
      `${NOW} sockets abertos há 5 minutos: vazamento de conexões ou ataque. ` +
      "Veja primeiro: `ss -s` e quem tem mais, `ss -Hantp | awk '{print $6}' | sort | uniq -c | sort -n | tail`.",
  },
  {
    ...BASE,
    uid: "opsctl-weekly-report-late",
    title: "Relatório semanal atrasado",
    query: `time() - (max(last_over_time(${METRIC.weeklyLastSuccess}[1h])) or vector(0))`,
    condition: { operator: ">", threshold: LIMIT.weeklyReportAgeSeconds },
    forSeconds: 0,
    severity: "high",
    summary: "O relatório semanal não termina com sucesso há mais de 8 dias",
    description:
      `Segundos desde o último sucesso: ${NOW}; acima de um bilhão, nunca houve sucesso ou o coletor não informa. ` +
      "Veja primeiro o fim de /var/log/opsctl/weekly.log e rode `opsctl weekly --dry-run`, que diz o que falta. " +
      "A semana só pode ser enviada na segunda-feira, até a meia-noite de São Paulo.",
  },
  {
    ...BASE,
    uid: "opsctl-weekly-report-not-run",
    title: "Relatório semanal não rodou",
    query: mondayWithout(METRIC.weeklyLastRun, { hour: 8, minute: 15 }),
    condition: { operator: ">=", threshold: LIMIT.weeklyReportDue },
    forSeconds: 0,
    severity: "critical",
    summary: "É segunda-feira, passou das 08:15, e o relatório semanal ainda não começou hoje",
    description:
      "O cron deveria ter começado às 08:00 de São Paulo (11:00 UTC); ou a execução foi recusada antes de começar, ou o " +
      "coletor não informa. Veja primeiro: `tail -n 5 /var/log/opsctl/weekly.log` e `sudo opsctl doctor weekly`. " +
      "A semana só pode ser enviada hoje, até a meia-noite de São Paulo.",
  },
  {
    ...BASE,
    uid: "opsctl-weekly-report-incomplete",
    title: "Relatório semanal incompleto",
    query: mondayWithout(METRIC.weeklyLastSuccess, { hour: 20, minute: 0 }),
    condition: { operator: ">=", threshold: LIMIT.weeklyReportDue },
    forSeconds: 0,
    severity: "critical",
    summary:
      "É segunda-feira, passou das 20:00, e nenhuma execução do relatório semanal teve sucesso completo hoje",
    description:
      "Depois da meia-noite de São Paulo esta semana não pode mais ser enviada. " +
      "Veja primeiro o que está aberto: `opsctl reports status`; corrija e rode `opsctl weekly` de novo. " +
      "Uma execução que deixou algo de fora (`--without-social`, `--skip-…`, `--tenant`) não conta como sucesso completo.",
  },
  {
    ...BASE,
    uid: "opsctl-collector-stopped",
    title: "Coletor parado",
    // The oldest of all hosts: a host that works must not hide one that has stopped.
    query: `time() - (min(last_over_time(${METRIC.collectorLastRun}[10m])) or vector(0))`,
    condition: { operator: ">", threshold: LIMIT.collectorAgeSeconds },
    forSeconds: 0,
    severity: "critical",
    summary: "O coletor de métricas não roda há mais de 5 minutos",
    description:
      `Segundos desde a última execução: ${NOW}; acima de um bilhão, nenhuma métrica chega à plataforma. ` +
      "Enquanto isso os outros alertas veem valores velhos ou nada: trate a VPS como não monitorada. " +
      "Veja primeiro se a VPS responde; depois `systemctl status alloy cron` e `opsctl collect-metrics --stdout`.",
  },
  {
    ...BASE,
    uid: "opsctl-collector-failing",
    title: "Coletor com falha",
    query: `min(${METRIC.collectorUp})`,
    condition: { operator: "<", threshold: LIMIT.collectorUp },
    forSeconds: 10 * MINUTE,
    severity: "warning",
    summary: "Uma fonte do coletor de métricas falha há 10 minutos",
    description:
      "As séries da fonte que falhou deixaram de existir, e os alertas que dependem delas estão cegos. " +
      `Veja primeiro qual: a consulta \`${METRIC.collectorUp} == 0\` mostra a fonte; ` +
      "depois `opsctl collect-metrics --stdout` como root, que diz o motivo.",
  },
];
