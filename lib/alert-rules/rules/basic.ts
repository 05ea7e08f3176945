import { METRIC } from "../../host/metric-names.ts";
import { type AlertRule, newestValue, ON_METRICS } from "./rule.ts";

const NOW = newestValue();
const PROXY_LIMIT_MIB = 500;
const PROXY_LIMIT_BYTES = PROXY_LIMIT_MIB * 1_048_576;

/**
 * The seven rules of the reference.
 *
 * Behaviour: every query ends in an aggregation over all labels, because the worst host or project decides. Shares are
 *            100 * part / whole in this order: dividing first would round before the rule does.
 * Source:    monitoring document, Alert rules and What the service does (job `auth` is /var/log/auth.log).
 */
export const BASIC_RULES: readonly AlertRule[] = [
  {
    ...ON_METRICS,
    uid: "opsctl-vps-load",
    title: "VPS Load Average Alto",
    // Both sides have the label `instance` only: the load's other labels would match nothing in the count, and the rule
    // would never fire. Counted by `cpu` first, so that a host scraped twice counts once.
    query:
      "max(max by (instance) (node_load1) / " +
      'count by (instance) (count by (instance, cpu) (node_cpu_seconds_total{mode="idle"})))',
    condition: { operator: ">", threshold: 1 },
    forSeconds: 300,
    severity: "warning",
    summary: "Load average acima do número de CPUs da VPS",
    description:
      "Há mais processos esperando do que CPUs há 5 minutos: tudo na VPS fica lento. " +
      `Carga por CPU agora: ${newestValue(2)} (limite 1). ` +
      "Veja primeiro: `top -o %CPU` e `docker stats`. Se a CPU estiver livre, a espera é por disco: `iostat -x 1`.",
  },
  {
    ...ON_METRICS,
    uid: "opsctl-traefik-ram",
    title: "Traefik RAM Alta",
    query: `max(${METRIC.proxyMemoryBytes})`,
    condition: { operator: ">", threshold: PROXY_LIMIT_BYTES },
    forSeconds: 300,
    unit: "bytes",
    severity: "high",
    summary: `Proxy reverso (Traefik) acima de ${PROXY_LIMIT_MIB} MiB de memória`,
    description:
      `O contêiner do proxy usa ${NOW} bytes (limite ${PROXY_LIMIT_BYTES}) há 5 minutos. ` +
      "Se ele for morto por falta de memória, todos os sites da VPS saem do ar. " +
      "Veja primeiro: conexões presas (`ss -ant | grep -c CLOSE-WAIT`) e o log do contêiner. " +
      "Reiniciar o proxy libera a memória, com segundos de interrupção.",
  },
  {
    ...ON_METRICS,
    uid: "opsctl-tcp-close-wait",
    title: "TCP CLOSE_WAIT Excessivo",
    query: `max(${METRIC.tcpCloseWait})`,
    condition: { operator: ">", threshold: 1000 },
    forSeconds: 300,
    severity: "high",
    summary: "Mais de 1000 conexões TCP presas em CLOSE_WAIT",
    description:
      `${NOW} conexões foram fechadas pelo outro lado e não pelo nosso processo, que vaza descritores. ` +
      "Se nada for feito, ele deixa de aceitar conexões. " +
      "Veja primeiro qual processo: `ss -tanp state close-wait | head -50`. Reiniciar esse processo resolve por ora.",
  },
  {
    ...ON_METRICS,
    uid: "opsctl-root-disk",
    title: "Disco Raiz Baixo",
    query:
      'min(round(100 * node_filesystem_avail_bytes{mountpoint="/"} / node_filesystem_size_bytes{mountpoint="/"}))',
    condition: { operator: "<", threshold: 15 },
    forSeconds: 600,
    unit: "percent",
    severity: "critical",
    summary: "Menos de 15% livres no disco raiz",
    description:
      `Restam ${NOW}% do disco em /. Se o disco encher, bancos de dados, deploys e logs param. ` +
      "Veja primeiro: `df -h /`, `docker system df` e `du -xh --max-depth=2 /var | sort -h | tail`. " +
      "Imagens sem uso saem com `docker image prune -a`; logs antigos com `journalctl --vacuum-size=500M`.",
  },
  {
    ...ON_METRICS,
    uid: "opsctl-ram-available",
    title: "RAM Disponível Baixa",
    query: "min(round(100 * node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes))",
    condition: { operator: "<", threshold: 20 },
    forSeconds: 600,
    unit: "percent",
    severity: "high",
    summary: "Menos de 20% da memória disponível",
    description:
      `Restam ${NOW}% da RAM da VPS. Abaixo disso o sistema começa a matar processos. ` +
      "Veja primeiro: `free -m` e `docker stats --no-stream`; procure mortes recentes com `dmesg -T | grep -i oom`.",
  },
  {
    ...ON_METRICS,
    uid: "opsctl-deploy-failed",
    title: "Vercel Deploy Falhado",
    query: `max(${METRIC.hostingDeployFailed})`,
    condition: { operator: ">=", threshold: 1 },
    forSeconds: 120,
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
    lookbackSeconds: 300,
    condition: { operator: ">", threshold: 10 },
    forSeconds: 0,
    severity: "critical",
    summary: "Mais de 10 senhas erradas por SSH em 5 minutos",
    description:
      `Tentativas nos últimos 5 minutos: ${NOW}. Alguém tenta adivinhar senhas. ` +
      "Veja primeiro se alguma deu certo: `grep 'Accepted password' /var/log/auth.log | tail` e `last -n 20`. " +
      "Depois, de onde vêm: `grep 'Failed password' /var/log/auth.log | tail -50`; bloqueie a origem no firewall.",
  },
];
