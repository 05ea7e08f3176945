import { METRIC } from "../../host/metric-names.ts";
import { NEWEST_VALUE, newestValue, type RuleRow } from "./rule.ts";

const PROXY_LIMIT_BYTES = 500 * 1_048_576;

/**
 * The seven rules of the reference.
 *
 * Behaviour: every query ends in an aggregation over all labels, because the worst host or project decides. Shares are
 *            100 * part / whole in this order: dividing first would round before the rule does.
 * Source:    monitoring document, Alert rules and What the service does (job `auth` is /var/log/auth.log).
 */
export const BASIC_RULES: readonly RuleRow[] = [
  {
    uid: "opsctl-vps-load",
    title: "VPS Load Average Alto",
    // Both sides have the label `instance` only: the load's other labels would match nothing in the count, and the rule
    // would never fire. Counted by `cpu` first, so that a host scraped twice counts once.
    query:
      "max(max by (instance) (node_load1) / " +
      'count by (instance) (count by (instance, cpu) (node_cpu_seconds_total{mode="idle"})))',
    condition: { operator: ">", threshold: 1, forMinutes: 5 },
    severity: "warning",
    summary: "Load average acima do número de CPUs da VPS",
    description:
      "Há mais processos esperando do que CPUs há 5 minutos: tudo na VPS fica lento. " +
      `Carga por CPU agora: ${newestValue(2)} (limite 1). ` +
      "Veja primeiro: `top -o %CPU` e `docker stats`. Se a CPU estiver livre, a espera é por disco: `iostat -x 1`.",
  },
  {
    uid: "opsctl-traefik-ram",
    title: "Traefik RAM Alta",
    query: `max(${METRIC.proxyMemoryBytes})`,
    condition: { operator: ">", threshold: PROXY_LIMIT_BYTES, forMinutes: 5 },
    unit: "bytes",
    severity: "high",
    summary: "Proxy reverso (Traefik) acima de 500 MiB de memória",
    description:
      `O contêiner do proxy usa ${NEWEST_VALUE} bytes (limite ${PROXY_LIMIT_BYTES}) há 5 minutos. ` +
      "Se ele for morto por falta de memória, todos os sites da VPS saem do ar. " +
      "Veja primeiro: conexões presas (`ss -ant | grep -c CLOSE-WAIT`) e o log do contêiner. " +
      "Reiniciar o proxy libera a memória, com segundos de interrupção.",
  },
  {
    uid: "opsctl-tcp-close-wait",
    title: "TCP CLOSE_WAIT Excessivo",
    query: `max(${METRIC.tcpCloseWait})`,
    condition: { operator: ">", threshold: 1000, forMinutes: 5 },
    severity: "high",
    summary: "Mais de 1000 conexões TCP presas em CLOSE_WAIT",
    description:
      `${NEWEST_VALUE} conexões foram fechadas pelo outro lado e não pelo nosso processo, que vaza descritores. ` +
      "Se nada for feito, ele deixa de aceitar conexões. " +
      "Veja primeiro qual processo: `ss -tanp state close-wait | head -50`. Reiniciar esse processo resolve por ora.",
  },
  {
    uid: "opsctl-root-disk",
    title: "Disco Raiz Baixo",
    query:
      'min(round(100 * node_filesystem_avail_bytes{mountpoint="/"} / node_filesystem_size_bytes{mountpoint="/"}))',
    condition: { operator: "<", threshold: 15, forMinutes: 10 },
    unit: "percent",
    severity: "critical",
    summary: "Menos de 15% livres no disco raiz",
    description:
      `Restam ${NEWEST_VALUE}% do disco em /. Se o disco encher, bancos de dados, deploys e logs param. ` +
      "Veja primeiro: `df -h /`, `docker system df` e `du -xh --max-depth=2 /var | sort -h | tail`. " +
      "Imagens sem uso saem com `docker image prune -a`; logs antigos com `journalctl --vacuum-size=500M`.",
  },
  {
    uid: "opsctl-ram-available",
    title: "RAM Disponível Baixa",
    query: "min(round(100 * node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes))",
    condition: { operator: "<", threshold: 20, forMinutes: 10 },
    unit: "percent",
    severity: "high",
    summary: "Menos de 20% da memória disponível",
    description:
      `Restam ${NEWEST_VALUE}% da RAM da VPS. Abaixo disso o sistema começa a matar processos. ` +
      "Veja primeiro: `free -m` e `docker stats --no-stream`; procure mortes recentes com `dmesg -T | grep -i oom`.",
  },
  {
    uid: "opsctl-deploy-failed",
    title: "Vercel Deploy Falhado",
    query: `max(${METRIC.hostingDeployFailed})`,
    condition: { operator: ">=", threshold: 1, forMinutes: 2 },
    severity: "warning",
    summary: "O deploy mais recente de um projeto falhou na Vercel",
    description:
      "Ao menos um projeto está com o último deploy em erro; a versão anterior dele continua no ar. " +
      `Veja primeiro qual: a consulta \`${METRIC.hostingDeployFailed} == 1\` mostra o projeto; ` +
      "depois, o log do build no painel da Vercel. O alerta termina quando um deploy novo der certo.",
  },
  {
    uid: "opsctl-ssh-brute-force",
    title: "SSH Brute Force",
    group: "vps-security",
    source: "logs",
    // One number of all streams; without a matching line there is no data and so no alert.
    query: 'sum(count_over_time({job="auth"} |= "Failed password" [5m]))',
    condition: { operator: ">", threshold: 10 },
    severity: "critical",
    summary: "Mais de 10 senhas erradas por SSH em 5 minutos",
    description:
      `Tentativas nos últimos 5 minutos: ${NEWEST_VALUE}. Alguém tenta adivinhar senhas. ` +
      "Veja primeiro se alguma deu certo: `grep 'Accepted password' /var/log/auth.log | tail` e `last -n 20`. " +
      "Depois, de onde vêm: `grep 'Failed password' /var/log/auth.log | tail -50`; bloqueie a origem no firewall.",
  },
];
