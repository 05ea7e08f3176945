import { METRIC } from "../../host/metric-names.ts";
import { newestValue } from "./newest-value.ts";
import type { AlertRule } from "./rule.ts";
import { THRESHOLDS as LIMIT } from "./thresholds.ts";

const MINUTE = 60;
const MIB = 1_048_576;
const BASE = { group: "vps-infra", source: "metrics", lookbackSeconds: 0 } as const;

const NOW = newestValue({ decimals: 0 });

/**
 * The rules on the host and on what runs there.
 *
 * Behaviour: every query ends in an aggregation over all labels, because the worst host or project decides. Shares are
 *            100 * part / whole in this order: dividing first would round before the rule does.
 * Source:    monitoring document, Alert rules.
 */
export const INFRA_RULES: readonly AlertRule[] = [
  {
    ...BASE,
    uid: "opsctl-vps-load",
    title: "VPS Load Average Alto",
    // Both sides have the label `instance` only: the load's other labels would match nothing in the count, and the rule
    // would never fire. Counted by `cpu` first, so that a host scraped twice counts once.
    query:
      "max(max by (instance) (node_load1) / " +
      'count by (instance) (count by (instance, cpu) (node_cpu_seconds_total{mode="idle"})))',
    condition: { operator: ">", threshold: LIMIT.loadPerCpu },
    forSeconds: 5 * MINUTE,
    severity: "warning",
    summary: "Load average acima do número de CPUs da VPS",
    description:
      "Há mais processos esperando do que CPUs há 5 minutos: tudo na VPS fica lento. " +
      `Carga por CPU agora: ${newestValue({ decimals: 2 })} (limite ${LIMIT.loadPerCpu}). ` +
      "Veja primeiro: `top -o %CPU` e `docker stats`. Se a CPU estiver livre, a espera é por disco: `iostat -x 1`.",
  },
  {
    ...BASE,
    uid: "opsctl-traefik-ram",
    title: "Traefik RAM Alta",
    query: `max(${METRIC.proxyMemoryBytes})`,
    condition: { operator: ">", threshold: LIMIT.proxyMemoryBytes },
    forSeconds: 5 * MINUTE,
    unit: "bytes",
    severity: "high",
    summary: `Proxy reverso (Traefik) acima de ${LIMIT.proxyMemoryBytes / MIB} MiB de memória`,
    description:
      `O contêiner do proxy usa ${NOW} bytes (limite ${LIMIT.proxyMemoryBytes}) há 5 minutos. ` +
      "Se ele for morto por falta de memória, todos os sites da VPS saem do ar. " +
      "Veja primeiro: conexões presas (`ss -ant | grep -c CLOSE-WAIT`) e o log do contêiner. " +
      "Reiniciar o proxy libera a memória, com segundos de interrupção.",
  },
  {
    ...BASE,
    uid: "opsctl-tcp-close-wait",
    title: "TCP CLOSE_WAIT Excessivo",
    query: `max(${METRIC.tcpCloseWait})`,
    condition: { operator: ">", threshold: LIMIT.closeWaitConnections },
    forSeconds: 5 * MINUTE,
    severity: "high",
    summary: `Mais de ${LIMIT.closeWaitConnections} conexões TCP presas em CLOSE_WAIT`,
    description:
      `${NOW} conexões foram fechadas pelo outro lado e não pelo nosso processo, que vaza descritores. ` +
      "Sem ação, ele deixa de aceitar conexões. " +
      "Veja primeiro qual processo: `ss -tanp state close-wait | head -50`. Reiniciar esse processo resolve por ora.",
  },
  {
    ...BASE,
    uid: "opsctl-root-disk",
    title: "Disco Raiz Baixo",
    query:
      'min(round(100 * node_filesystem_avail_bytes{mountpoint="/"} / node_filesystem_size_bytes{mountpoint="/"}))',
    condition: { operator: "<", threshold: LIMIT.rootDiskAvailablePercent },
    forSeconds: 10 * MINUTE,
    unit: "percent",
    severity: "critical",
    summary: `Menos de ${LIMIT.rootDiskAvailablePercent}% livres no disco raiz`,
    description:
      `Restam ${NOW}% do disco em /. Disco cheio para bancos de dados, deploys e logs. ` +
      "Veja primeiro: `df -h /`, `docker system df` e `du -xh --max-depth=2 /var | sort -h | tail`. " +
      "Imagens sem uso saem com `docker image prune -a`; logs antigos com `journalctl --vacuum-size=500M`.",
  },
  {
    ...BASE,
    uid: "opsctl-ram-available",
    title: "RAM Disponível Baixa",
    query: "min(round(100 * node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes))",
    condition: { operator: "<", threshold: LIMIT.memoryAvailablePercent },
    forSeconds: 10 * MINUTE,
    unit: "percent",
    severity: "high",
    summary: `Menos de ${LIMIT.memoryAvailablePercent}% da memória disponível`,
    description:
      `Restam ${NOW}% da RAM da VPS. Abaixo disso o sistema começa a matar processos. ` +
      "Veja primeiro: `free -m` e `docker stats --no-stream`; procure mortes recentes com `dmesg -T | grep -i oom`.",
  },
  {
    ...BASE,
    uid: "opsctl-deploy-failed",
    title: "Vercel Deploy Falhado",
    query: `max(${METRIC.hostingDeployFailed})`,
    condition: { operator: ">=", threshold: LIMIT.failedDeployments },
    forSeconds: 2 * MINUTE,
    severity: "warning",
    summary: "O deploy mais recente de um projeto falhou na Vercel",
    description:
      "Ao menos um projeto está com o último deploy em erro; a versão anterior dele continua no ar. " +
      `Veja primeiro qual: a consulta \`${METRIC.hostingDeployFailed} == 1\` mostra o projeto; ` +
      "depois, o log do build no painel da Vercel. O alerta termina quando um deploy novo der certo.",
  },
];
