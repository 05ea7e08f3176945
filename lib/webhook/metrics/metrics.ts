import { WEBHOOK_KIND, type WebhookMetric, webhookMetric } from "../../host/webhook-names.ts";
import { type MetricFamily, type MetricSample, renderMetrics } from "../../text/prometheus-text.ts";
import type { ChannelStops } from "../delivery/attempts/attempt.ts";
import { OUTBOX_KINDS, type OutboxKind, type OutboxStats } from "../state/contract.ts";
import { FAILURE_REASONS, failureReason } from "./failure-reason.ts";
import { PrometheusHistogram } from "./histogram.ts";
import { latestOutcomes } from "./latest-outcomes.ts";

/** What the alert rules and dashboards call the kinds. */
const SHOWN: Record<OutboxKind, string> = WEBHOOK_KIND;
const STATUSES = [200, 400, 401, 404, 405, 408, 413, 415, 422, 503];
const REQUEST_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const DELIVERY_BOUNDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400];

/** What the service counts about itself. */
export type WebhookMetrics = ReturnType<typeof createWebhookMetrics>;

/**
 * What is shown of the moment in which the metrics are read.
 *
 * Shape: `stats` is null while the state cannot be read. `stops` has why a channel is stopped.
 */
export type WebhookNow = {
  stats: OutboxStats | null;
  stops: ChannelStops;
  isLeading: boolean;
  movedAside: boolean;
  watch: { gatewayOpen: boolean | null; pendingMessages: number | null; newestUnacknowledged: number | null };
};

/**
 * The counters of one process; they begin at zero when it starts.
 *
 * Behaviour: every label has one of a few known values, and every series is there from the start. The age of the oldest
 *            waiting row is 0 when none waits, as is the custom for an empty queue. While the state cannot be read,
 *            what is known from it is absent, and so is who leads: the rule on the webhook's absence fires then.
 * Units:     milliseconds are passed in, `sent` takes those from acceptance to delivery; shown are seconds, as
 *            Prometheus has them.
 */
export function createWebhookMetrics({
  version,
  nowMs = Date.now,
}: {
  version: string;
  /** The clock that people read. */
  nowMs?: () => number;
}) {
  const latest = latestOutcomes(nowMs);
  const totals = { accepted: 0, rejected: 0, duplicates: 0, fromMemory: 0, previousSecret: 0 };
  const requests = new Map(STATUSES.map((status) => [status, 0]));
  const requestSeconds = new PrometheusHistogram(REQUEST_BOUNDS);
  const kinds = { message: emptyKind(), issue: emptyKind(), comment: emptyKind() };
  return {
    request(status: number, durationMs: number): void {
      requests.set(status, (requests.get(status) ?? 0) + 1);
      requestSeconds.observe(durationMs / 1_000);
    },
    accepted(count: number): void {
      totals.accepted += count;
    },
    rejected(count: number): void {
      totals.rejected += count;
    },
    previousSecret(): void {
      totals.previousSecret += 1;
    },
    duplicate(): void {
      totals.duplicates += 1;
    },
    sent(kind: OutboxKind, latencyMs: number): void {
      kinds[kind].sent += 1;
      latest.delivered(kind);
      kinds[kind].latencySeconds.observe(latencyMs / 1_000);
    },
    sentFromMemory(): void {
      totals.fromMemory += 1;
    },
    failed(kind: OutboxKind, code: string): void {
      kinds[kind].failed[failureReason(code)] += 1;
      latest.failed(kind, code);
    },
    dead(kind: OutboxKind): void {
      kinds[kind].dead += 1;
    },
    /** What each peer did last. */
    latest: latest.read,
    /** Prometheus' text format. */
    render: (now: WebhookNow): string =>
      renderMetrics([
        ...requestFamilies(totals, requests, requestSeconds),
        ...kindFamilies(kinds),
        ...queueFamilies(now),
        ...gatewayFamilies(now),
        ...processFamilies(now, version),
      ]),
  };
}

type KindCounts = ReturnType<typeof emptyKind>;

function emptyKind() {
  const failed = Object.fromEntries(FAILURE_REASONS.map((reason) => [reason, 0]));
  return {
    sent: 0,
    dead: 0,
    failed: failed as Record<(typeof FAILURE_REASONS)[number], number>,
    latencySeconds: new PrometheusHistogram(DELIVERY_BOUNDS),
  };
}

function requestFamilies(
  totals: Readonly<Record<"accepted" | "rejected" | "duplicates" | "fromMemory" | "previousSecret", number>>,
  requests: ReadonlyMap<number, number>,
  requestSeconds: PrometheusHistogram,
): MetricFamily[] {
  const byStatus = [...requests].map(([status, value]) => ({ labels: { status: String(status) }, value }));
  return [
    counter("requests_total", "Requests to the public port, by the status of the answer.", byStatus),
    histogram(
      "request_duration_seconds",
      "How long requests to the public port took.",
      requestSeconds.samples(),
    ),
    counter("alerts_accepted_total", "Alerts that were accepted.", [{ value: totals.accepted }]),
    counter("alerts_rejected_total", "Entries of accepted requests that were no alerts.", [
      { value: totals.rejected },
    ]),
    counter("duplicates_total", "Firing alerts whose issue existed already.", [{ value: totals.duplicates }]),
    counter("sent_from_memory_total", "Messages of alerts that the state could not keep.", [
      { value: totals.fromMemory },
    ]),
    counter("previous_secret_total", "Requests that brought the previous secret.", [
      { value: totals.previousSecret },
    ]),
  ];
}

function kindFamilies(kinds: Record<OutboxKind, KindCounts>): MetricFamily[] {
  const failed = OUTBOX_KINDS.flatMap((kind) =>
    FAILURE_REASONS.map((reason) => ({
      labels: { kind: SHOWN[kind], reason },
      value: kinds[kind].failed[reason],
    })),
  );
  const latency = OUTBOX_KINDS.flatMap((kind) => kinds[kind].latencySeconds.samples({ kind: SHOWN[kind] }));
  const sent = perKind((kind) => kinds[kind].sent);
  const dead = perKind((kind) => kinds[kind].dead);
  return [
    counter("sent_total", "Messages, issues and comments that were delivered.", sent),
    counter("failed_total", "Attempts that failed, by the class of the failure.", failed),
    counter("dead_total", "Messages, issues and comments that were given up.", dead),
    histogram("delivery_latency_seconds", "From acceptance to delivery.", latency),
  ];
}

function queueFamilies({ stats, stops }: WebhookNow): MetricFamily[] {
  const known = (shown: (stats: OutboxStats) => MetricSample[]) => (stats === null ? [] : shown(stats));
  const queued = known((stats) => perKind((kind) => stats[kind].queued));
  const dead = known((stats) => perKind((kind) => stats[kind].dead));
  const inDoubt = known((stats) => perKind((kind) => stats[kind].inDoubt));
  const oldest = known((stats) => perKind((kind) => (stats[kind].oldestQueuedAgeMs ?? 0) / 1_000));
  const reserve = known(({ reserveBytes }) => (reserveBytes === null ? [] : [{ value: reserveBytes }]));
  const held = perKind((kind) => (stops[kind] === null ? 0 : 1));
  return [
    gauge("queued", "Rows of the outbox that wait to be delivered.", queued),
    gauge("dead", "Rows of the outbox that were given up and are kept.", dead),
    gauge("in_doubt", "Rows that a peer may have taken, kept and not repeated.", inDoubt),
    gauge("oldest_undelivered_age_seconds", "Age of the oldest waiting row; 0 when none waits.", oldest),
    gauge("held", "Whether a peer refuses us, so that its rows wait.", held),
    gauge(
      "reserve_bytes",
      "What the state keeps for a full disk; absent where it is in a database.",
      reserve,
    ),
  ];
}

function gatewayFamilies({ watch }: WebhookNow): MetricFamily[] {
  const { gatewayOpen, pendingMessages, newestUnacknowledged } = watch;
  const known = (value: number | null) => (value === null ? [] : [{ value }]);
  const open = gatewayOpen === null ? [] : [flag(gatewayOpen)];
  return [
    gauge("gateway_open", "Whether the gateway's instance is connected; absent while it is not known.", open),
    gauge(
      "pending_messages",
      "Messages of the last 24 hours that WhatsApp has not acknowledged after 10 minutes; absent while it is not known.",
      known(pendingMessages),
    ),
    gauge(
      "newest_unacknowledged_messages",
      "How many of the newest messages in a row WhatsApp has not acknowledged after 2 minutes; absent while it is not known.",
      known(newestUnacknowledged),
    ),
  ];
}

function processFamilies({ stats, isLeading, movedAside }: WebhookNow, version: string): MetricFamily[] {
  const movedHelp = "Whether a state file could not be read at the start and was moved aside.";
  const leading = stats === null ? [] : [flag(isLeading)];
  return [
    gauge(
      "leading",
      "Whether this process is the one that delivers; absent while the state cannot be read.",
      leading,
    ),
    gauge("state_moved_aside", movedHelp, [flag(movedAside)]),
    gauge("state_unreadable", "Whether the state cannot be read now.", [flag(stats === null)]),
    gauge("build_info", "The version that runs.", [{ labels: { version }, value: 1 }]),
  ];
}

function perKind(count: (kind: OutboxKind) => number): MetricSample[] {
  return OUTBOX_KINDS.map((kind) => ({ labels: { kind: SHOWN[kind] }, value: count(kind) }));
}

function flag(isSet: boolean): MetricSample {
  return { value: isSet ? 1 : 0 };
}

function familyOf(type: MetricFamily["type"]) {
  return (name: WebhookMetric, help: string, samples: MetricSample[]): MetricFamily => ({
    name: webhookMetric(name),
    help,
    type,
    samples,
  });
}

const counter = familyOf("counter");
const gauge = familyOf("gauge");
const histogram = familyOf("histogram");
