import {
  WEBHOOK_KIND,
  WEBHOOK_METRIC_NAMES,
  type WebhookMetric,
  webhookMetric,
} from "../../host/webhook-names.ts";
import { type MetricSample, renderMetrics } from "../../text/prometheus-text.ts";
import { OUTBOX_KINDS, type OutboxKind } from "../store/model.ts";
import type { OutboxStats } from "../store/outbox.ts";
import { FAILURE_REASONS, failureReason } from "./failure-reason.ts";
import { PrometheusHistogram } from "./histogram.ts";

const STATUSES = [200, 400, 401, 404, 405, 408, 413, 415, 422, 503];
const REQUEST_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const DELIVERY_BOUNDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400];

type Counter = Extract<WebhookMetric, `${string}_total`>;

const HELP: Readonly<Record<WebhookMetric, string>> = {
  requests_total: "Requests to the public port, by the status of the answer.",
  request_duration_seconds: "How long requests to the public port took.",
  alerts_accepted_total: "Alerts that were accepted.",
  alerts_rejected_total: "Entries of accepted requests that were no alerts.",
  duplicates_total: "Firing alerts whose issue existed already.",
  degraded_sent_total: "Messages sent in degraded mode.",
  previous_secret_total: "Requests that brought the previous secret.",
  sent_total: "Messages, issues and comments that were delivered.",
  failed_total: "Attempts that failed, by the class of the failure.",
  dead_total: "Messages, issues and comments that failed permanently.",
  delivery_latency_seconds: "From acceptance to delivery.",
  queued: "Rows of the outbox that are queued.",
  dead: "Rows of the outbox that failed permanently and are kept.",
  unknown: "Rows that may have arrived, kept and not repeated.",
  oldest_undelivered_age_seconds: "Age of the oldest queued row; 0 when none is queued.",
  paused: "Whether sending is paused because the external service rejects requests.",
  gateway_open: "Whether the gateway's instance is connected; absent while it is not known.",
  pending_messages:
    "Messages of the last 24 hours that WhatsApp has not acknowledged after 10 minutes; absent while it is not known.",
  newest_unacknowledged_messages:
    "How many of the newest messages in a row WhatsApp has not acknowledged after 2 minutes; absent while it is not known.",
  leader: "Whether this process delivers; absent while the state cannot be read.",
  reserve_bytes: "Space kept for a full disk; absent where the state is in a database.",
  state_quarantined: "Whether a damaged state file was renamed at the start.",
  state_unreadable: "Whether the state cannot be read now.",
  build_info: "The version that runs.",
};

/** What the service counts about itself. */
export type WebhookMetrics = ReturnType<typeof createWebhookMetrics>;

/**
 * The latest delivery and the latest failure of a kind since this process started.
 *
 * Units: epoch milliseconds.
 */
export type LatestOutcome = {
  deliveredAtMs: number | null;
  failure: { code: string; atMs: number } | null;
};

/**
 * What is shown of the moment in which the metrics are read.
 *
 * Shape: `stats` is null while the state cannot be read. `pauses` has the code for which a kind is paused, or null.
 */
export type WebhookNow = {
  stats: OutboxStats | null;
  pauses: Readonly<Record<OutboxKind, string | null>>;
  isLeader: boolean;
  isQuarantined: boolean;
  watch: { gatewayOpen: boolean | null; pendingMessages: number | null; newestUnacknowledged: number | null };
};

/**
 * The counters of one process; they begin at zero when it starts.
 *
 * Shape:     `nowMs` is the clock that people read.
 * Behaviour: every label has one of a few known values, and every series is there from the start. The age of the oldest
 *            queued row is 0 when none is queued. While the state cannot be read, all series made from it are absent,
 *            `leader` included: the rule on the webhook's absence fires then.
 * Units:     milliseconds are passed in, `sent` takes those from acceptance to delivery; shown are seconds, as
 *            Prometheus has them.
 */
export function createWebhookMetrics({ version, nowMs = Date.now }: MetricsOptions) {
  const counters: Record<Counter, MetricSample[]> = {
    requests_total: STATUSES.map((status) => ({ labels: { status: `${status}` }, value: 0 })),
    alerts_accepted_total: one(0),
    alerts_rejected_total: one(0),
    duplicates_total: one(0),
    degraded_sent_total: one(0),
    previous_secret_total: one(0),
    sent_total: perKind(() => 0),
    failed_total: OUTBOX_KINDS.flatMap((kind) =>
      FAILURE_REASONS.map((reason) => ({ labels: { kind: WEBHOOK_KIND[kind], reason }, value: 0 })),
    ),
    dead_total: perKind(() => 0),
  };
  const add = (name: Counter, labels: Record<string, string> = {}, count = 1): void => {
    const known = counters[name].find((each) =>
      Object.entries(labels).every(([label, value]) => each.labels?.[label] === value),
    );
    if (known === undefined) counters[name].push({ labels, value: count });
    else known.value += count;
  };
  const requestSeconds = new PrometheusHistogram(REQUEST_BOUNDS);
  const deliverySeconds = eachKind(() => new PrometheusHistogram(DELIVERY_BOUNDS));
  const latest = eachKind<LatestOutcome>(() => ({ deliveredAtMs: null, failure: null }));
  return {
    request(status: number, durationMs: number): void {
      add("requests_total", { status: `${status}` });
      requestSeconds.observe(durationMs / 1_000);
    },
    accepted: (count: number) => add("alerts_accepted_total", {}, count),
    rejected: (count: number) => add("alerts_rejected_total", {}, count),
    previousSecret: () => add("previous_secret_total"),
    duplicate: () => add("duplicates_total"),
    degradedSent: () => add("degraded_sent_total"),
    sent(kind: OutboxKind, latencyMs: number): void {
      add("sent_total", { kind: WEBHOOK_KIND[kind] });
      latest[kind].deliveredAtMs = nowMs();
      deliverySeconds[kind].observe(latencyMs / 1_000);
    },
    failed(kind: OutboxKind, code: string): void {
      add("failed_total", { kind: WEBHOOK_KIND[kind], reason: failureReason(code) });
      latest[kind].failure = { code, atMs: nowMs() };
    },
    dead: (kind: OutboxKind) => add("dead_total", { kind: WEBHOOK_KIND[kind] }),
    latest: () => structuredClone(latest),
    /** Prometheus' text format. */
    render({ stats, pauses, isLeader, isQuarantined, watch }: WebhookNow): string {
      const queue = (of: "queued" | "dead" | "unknown") =>
        stats === null ? [] : perKind((kind) => stats[kind][of]);
      const samples: Record<WebhookMetric, MetricSample[]> = {
        ...counters,
        request_duration_seconds: requestSeconds.samples(),
        delivery_latency_seconds: OUTBOX_KINDS.flatMap((kind) =>
          deliverySeconds[kind].samples({ kind: WEBHOOK_KIND[kind] }),
        ),
        queued: queue("queued"),
        dead: queue("dead"),
        unknown: queue("unknown"),
        oldest_undelivered_age_seconds:
          stats === null ? [] : perKind((kind) => (stats[kind].oldestQueuedAgeMs ?? 0) / 1_000),
        paused: perKind((kind) => (pauses[kind] === null ? 0 : 1)),
        gateway_open: one(watch.gatewayOpen),
        pending_messages: one(watch.pendingMessages),
        newest_unacknowledged_messages: one(watch.newestUnacknowledged),
        leader: one(stats === null ? null : isLeader),
        reserve_bytes: one(stats?.reserveBytes),
        state_quarantined: one(isQuarantined),
        state_unreadable: one(stats === null),
        build_info: [{ labels: { version }, value: 1 }],
      };
      return renderMetrics(
        WEBHOOK_METRIC_NAMES.map((name) => {
          const isHistogram = samples[name].some(({ suffix }) => suffix !== undefined);
          const type = isHistogram ? "histogram" : name.endsWith("_total") ? "counter" : "gauge";
          return { name: webhookMetric(name), help: HELP[name], type, samples: samples[name] };
        }),
      );
    },
  };
}

type MetricsOptions = { version: string; nowMs?: () => number };

function eachKind<T>(make: () => T): Record<OutboxKind, T> {
  return { message: make(), issue: make(), comment: make() };
}

function perKind(count: (kind: OutboxKind) => number): MetricSample[] {
  return OUTBOX_KINDS.map((kind) => ({ labels: { kind: WEBHOOK_KIND[kind] }, value: count(kind) }));
}

/** The only sample of a series; none for a value that is not known. */
function one(value: number | boolean | null | undefined): MetricSample[] {
  return value === null || value === undefined ? [] : [{ value: Number(value) }];
}
