/**
 * Every number that an alert rule compares with, and the times that belong to them.
 *
 * Units:  in the names; `load` is the load average over one minute divided by the number of CPUs.
 * Source: monitoring document, Alert rules; from `totalSockets` on they belong to the rules beyond its table.
 */
export const THRESHOLDS = {
  loadPerCpu: 1,
  proxyMemoryBytes: 524_288_000,
  closeWaitConnections: 1000,
  rootDiskAvailablePercent: 15,
  memoryAvailablePercent: 20,
  failedPasswordLines: 10,
  failedDeployments: 1,
  totalSockets: 10_000,
  weeklyReportAgeSeconds: 8 * 86_400,
  weeklyReportDue: 1,
  collectorAgeSeconds: 300,
  collectorUp: 1,
  leadingWebhooks: 1,
  undeliveredAgeSeconds: 600,
  givenUpRows: 0,
  gatewayOpen: 1,
  unacknowledgedMessages: 2,
  securityLogLines: 1,
} as const;
