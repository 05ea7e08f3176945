/**
 * The names of the series that the collector writes and that the alert rules and the socket monitor read: a name that
 * changes here changes everywhere, so no rule waits for a series that is no longer written.
 *
 * Source: monitoring document, Custom metrics file; the series of the collector itself are opsctl's own.
 */
export const METRIC = {
  /** Memory of the reverse proxy's container, in bytes. */
  proxyMemoryBytes: "proxy_memory_bytes",
  /** TCP connections in CLOSE_WAIT. */
  tcpCloseWait: "tcp_close_wait_total",
  /** All TCP sockets, listeners and TIME_WAIT included. */
  tcpSockets: "tcp_sockets_total",
  /** By `project`: 1 when its newest finished deployment failed, else 0. */
  hostingDeployFailed: "hosting_deploy_failed",
  /** When the weekly report last ended well, in Unix seconds; absent when it never did. */
  weeklyLastSuccess: "weekly_report_last_success_timestamp_seconds",
  /** When the weekly run last began, in Unix seconds; absent when it never did. */
  weeklyLastRun: "weekly_report_last_run_timestamp_seconds",
  /** 1 when the last weekly run succeeded, else 0; absent while it goes on. */
  weeklyLastRunSuccess: "weekly_report_last_run_success",
  /** 1 while the last weekly run has left no end, else 0. */
  weeklyRunning: "weekly_report_running",
  /** By `channel` and `state`: deliveries of the last run's week that still need a run or a person. */
  weeklyOpenDeliveries: "weekly_report_open_deliveries",
  /** Until when the last run's week can be repeated, in Unix seconds. */
  weeklyRetryableUntil: "weekly_report_retryable_until_timestamp_seconds",
  /** By `source`: 1 when the collector could read it, else 0. */
  collectorUp: "opsctl_collector_up",
  /** By `source`: how long the collector took to read it, in seconds. */
  collectorDuration: "opsctl_collector_duration_seconds",
  /** When the collector last ran, in Unix seconds. */
  collectorLastRun: "opsctl_collector_last_run_timestamp_seconds",
} as const;
