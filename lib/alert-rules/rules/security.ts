import { newestValue } from "./newest-value.ts";
import type { AlertRule } from "./rule.ts";
import { THRESHOLDS as LIMIT } from "./thresholds.ts";

/**
 * The rules on the host's security logs.
 *
 * Behaviour: `sum` makes one number of all streams; without a matching line the query is empty, which is no data and so
 *            no alert.
 * Source:    monitoring document, Alert rules and What the service does (job `auth` is /var/log/auth.log).
 */
export const SECURITY_RULES: readonly AlertRule[] = [
  {
    uid: "opsctl-ssh-brute-force",
    title: "SSH Brute Force",
    group: "vps-security",
    source: "logs",
    query: 'sum(count_over_time({job="auth"} |= "Failed password" [5m]))',
    lookbackSeconds: 300,
    condition: { operator: ">", threshold: LIMIT.failedPasswordLines },
    forSeconds: 0,
    severity: "critical",
    summary: `Mais de ${LIMIT.failedPasswordLines} senhas erradas por SSH em 5 minutos`,
    description:
      `Tentativas nos últimos 5 minutos: ${newestValue({ decimals: 0 })}. Alguém tenta adivinhar senhas. ` +
      "Veja primeiro se alguma deu certo: `grep 'Accepted password' /var/log/auth.log | tail` e `last -n 20`. " +
      "Depois, de onde vêm: `grep 'Failed password' /var/log/auth.log | tail -50`; bloqueie a origem no firewall.",
  },
];

const SILENT_HOURS = 6;

/**
 * The rule that watches the logs on which the others depend.
 *
 * Behaviour: `or vector(0)` makes the count 0 where the store has no line at all, also of no such job: absence fires.
 *            Cron alone writes a line each minute, so hours without one mean that the lines do not arrive.
 */
export const EXTRA_SECURITY_RULES: readonly AlertRule[] = [
  {
    uid: "opsctl-security-log-silent",
    title: "Log de segurança parado",
    group: "vps-security",
    source: "logs",
    query: `sum(count_over_time({job="auth"} [${SILENT_HOURS}h])) or vector(0)`,
    lookbackSeconds: SILENT_HOURS * 3_600,
    condition: { operator: "<", threshold: LIMIT.securityLogLines },
    forSeconds: 0,
    severity: "high",
    summary: `Nenhuma linha do log de segurança chegou em ${SILENT_HOURS} horas`,
    description:
      "Sem /var/log/auth.log na plataforma, o alerta SSH Brute Force está cego. " +
      "Veja primeiro se o arquivo cresce: `tail -n 3 /var/log/auth.log` (senão, `systemctl status rsyslog`); " +
      "depois o agente: `systemctl status alloy` e `journalctl -u alloy -n 50`, que diz se os logs são recusados.",
  },
];
