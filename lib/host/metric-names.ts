/**
 * The names of the series that the collector writes and that the alert rules and the socket monitor read: a name that
 * changes here changes everywhere, so no rule waits for a series that is no longer written.
 *
 * Source: monitoring document, Custom metrics file; the series of the collector itself are opsctl's own.
 */
export const METRIC = {
  proxyMemoryBytes: "proxy_memory_bytes",
  tcpCloseWait: "tcp_close_wait_total",
  tcpSockets: "tcp_sockets_total",
  hostingDeployFailed: "hosting_deploy_failed",
  weeklyLastSuccess: "weekly_report_last_success_timestamp_seconds",
  weeklyLastRun: "weekly_report_last_run_timestamp_seconds",
  weeklyLastRunSuccess: "weekly_report_last_run_success",
  weeklyRunning: "weekly_report_running",
  weeklyOpenDeliveries: "weekly_report_open_deliveries",
  weeklyRetryableUntil: "weekly_report_retryable_until_timestamp_seconds",
  collectorUp: "opsctl_collector_up",
  collectorDuration: "opsctl_collector_duration_seconds",
  collectorLastRun: "opsctl_collector_last_run_timestamp_seconds",
} as const;

/** Name of the metrics file inside the agent's text-file directory. */
export const METRICS_FILE = "custom_metrics.prom";
