/** Values of the label `kind` of the webhook's series. */
export const WEBHOOK_KIND = { message: "whatsapp", issue: "issue", comment: "comment" } as const;

/** The series that the webhook exports at its admin port, without the prefix that all of them have. */
export const WEBHOOK_METRIC_NAMES = [
  // Requests to the public port.
  "requests_total",
  "request_duration_seconds",
  "alerts_accepted_total",
  "alerts_rejected_total",
  "duplicates_total",
  "degraded_sent_total",
  "previous_secret_total",
  // Deliveries, by `kind`.
  "sent_total",
  "failed_total",
  "dead_total",
  "delivery_latency_seconds",
  // The outbox, by `kind`.
  "queued",
  "dead",
  "unknown",
  "oldest_undelivered_age_seconds",
  "paused",
  // The gateway; absent where its state is not known.
  "gateway_open",
  "pending_messages",
  "newest_unacknowledged_messages",
  // The process and its state.
  "leader",
  "reserve_bytes",
  "state_quarantined",
  "state_unreadable",
  "build_info",
] as const;

/** The name of one of the webhook's series, without its prefix. */
export type WebhookMetric = (typeof WEBHOOK_METRIC_NAMES)[number];

/** The full name of a series of the webhook, for the service, which writes it, and the rules and dashboard, which read it. */
export function webhookMetric(name: WebhookMetric): string {
  return `opsctl_webhook_${name}`;
}

/** So many of the newest messages in a row without an acknowledgement are no coincidence: none arrives. */
export const UNACKNOWLEDGED_LIMIT = 3;

/** The content type of a request that only checks the secret: it is answered with 204, and nothing is stored. */
export const WEBHOOK_QUESTION = "application/vnd.opsctl.question";
