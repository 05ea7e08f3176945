import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { WEBHOOK_METRIC_NAMES, webhookMetric } from "../../../lib/host/webhook-metric-names.ts";
import { failureReason } from "../../../lib/webhook/metrics/failure-reason.ts";
import { createWebhookMetrics } from "../../../lib/webhook/metrics/metrics.ts";
import type { OutboxStats } from "../../../lib/webhook/state/contract.ts";
import { findPromtool } from "../../support/promtool.ts";
import { parsePrometheus } from "../../text/support/prometheus-parser.ts";

const NOTHING: OutboxStats = {
  message: { queued: 0, dead: 0, inDoubt: 0, oldestQueuedAgeMs: null },
  issue: { queued: 0, dead: 0, inDoubt: 0, oldestQueuedAgeMs: null },
  comment: { queued: 0, dead: 0, inDoubt: 0, oldestQueuedAgeMs: null },
  queuedBytes: 0,
  oldestCriticalAgeMs: null,
  reserveBytes: 0,
};
const OPEN = { message: null, issue: null, comment: null };
const UNKNOWN = { gatewayOpen: null, pendingMessages: null, newestUnacknowledged: null };
const QUIET = { stats: NOTHING, stops: OPEN, isLeading: false, movedAside: false, watch: UNKNOWN };

/** Every sample as `name{labels}`, with its value. */
function samplesOf(text: string): Record<string, number> {
  const samples = parsePrometheus(text).flatMap((family) => family.samples);
  return Object.fromEntries(
    samples.map(({ name, labels, value }) => {
      const pairs = Object.entries(labels).map(([label, of]) => `${label}=${of}`);
      return [`${name.replace("opsctl_webhook_", "")}{${pairs.join()}}`, value];
    }),
  );
}

describe("createWebhookMetrics()", () => {
  test("remembers what each peer did last, and when", () => {
    let now = 1_000;
    const metrics = createWebhookMetrics({ version: "1", nowMs: () => now });
    const nothing = { deliveredAtMs: null, failure: null };
    expect(metrics.latest()).toEqual({ message: nothing, issue: nothing, comment: nothing });
    metrics.failed("message", "gateway_timeout");
    now = 2_000;
    metrics.sent("issue", 5);
    metrics.failed("message", "gateway_http_502");
    const before = metrics.latest();
    expect(before).toEqual({
      message: { deliveredAtMs: null, failure: { code: "gateway_http_502", atMs: 2_000 } },
      issue: { deliveredAtMs: 2_000, failure: null },
      comment: nothing,
    });
    now = 3_000;
    metrics.sent("message", 5);
    expect(before.message.deliveredAtMs).toBeNull();
    expect(metrics.latest().message.deliveredAtMs).toBe(3_000);
  });

  test("has every series from the start, at zero", () => {
    const text = createWebhookMetrics({ version: "1.2.3" }).render(QUIET);
    const samples = samplesOf(text);
    expect(samples["build_info{version=1.2.3}"]).toBe(1);
    for (const [name, value] of Object.entries(samples))
      if (!name.startsWith("build_info")) expect([name, value]).toEqual([name, 0]);
    expect(
      parsePrometheus(text).map(({ name, type }) => `${name.replace("opsctl_webhook_", "")} ${type}`),
    ).toEqual([
      "requests_total counter",
      "request_duration_seconds histogram",
      "alerts_accepted_total counter",
      "alerts_rejected_total counter",
      "duplicates_total counter",
      "sent_from_memory_total counter",
      "previous_secret_total counter",
      "sent_total counter",
      "failed_total counter",
      "dead_total counter",
      "delivery_latency_seconds histogram",
      "queued gauge",
      "dead gauge",
      "in_doubt gauge",
      "oldest_undelivered_age_seconds gauge",
      "held gauge",
      "reserve_bytes gauge",
      "gateway_open gauge",
      "pending_messages gauge",
      "newest_unacknowledged_messages gauge",
      "leading gauge",
      "state_moved_aside gauge",
      "state_unreadable gauge",
      "build_info gauge",
    ]);
  });

  test("counts what it is told, and adds no series for it", () => {
    const metrics = createWebhookMetrics({ version: "1" });
    const before = Object.keys(samplesOf(metrics.render(QUIET)));
    metrics.request(200, 4);
    metrics.request(401, 4_000);
    metrics.accepted(3);
    metrics.rejected(2);
    metrics.duplicate();
    metrics.sent("message", 1_500);
    metrics.failed("message", "gateway_unreachable");
    metrics.failed("issue", "never heard of");
    metrics.dead("issue");
    const stats = { ...NOTHING, message: { queued: 5, dead: 2, inDoubt: 1, oldestQueuedAgeMs: 90_500 } };
    const stops = { ...OPEN, message: "gateway_unauthorized" };
    const after = samplesOf(
      metrics.render({ stats, stops, isLeading: true, movedAside: true, watch: UNKNOWN }),
    );
    expect(Object.keys(after)).toEqual(before);
    expect(after).toMatchObject({
      "requests_total{status=200}": 1,
      "requests_total{status=401}": 1,
      "request_duration_seconds_bucket{le=0.005}": 1,
      "request_duration_seconds_sum{}": 4.004,
      "alerts_accepted_total{}": 3,
      "alerts_rejected_total{}": 2,
      "duplicates_total{}": 1,
      "sent_total{kind=whatsapp}": 1,
      "sent_total{kind=issue}": 0,
      "delivery_latency_seconds_bucket{kind=whatsapp,le=1}": 0,
      "delivery_latency_seconds_bucket{kind=whatsapp,le=2.5}": 1,
      "failed_total{kind=whatsapp,reason=unreachable}": 1,
      "failed_total{kind=issue,reason=ambiguous}": 1,
      "dead_total{kind=issue}": 1,
      "queued{kind=whatsapp}": 5,
      "dead{kind=whatsapp}": 2,
      "in_doubt{kind=whatsapp}": 1,
      "in_doubt{kind=comment}": 0,
      "oldest_undelivered_age_seconds{kind=whatsapp}": 90.5,
      "oldest_undelivered_age_seconds{kind=issue}": 0,
      "held{kind=whatsapp}": 1,
      "held{kind=issue}": 0,
      "leading{}": 1,
      "state_moved_aside{}": 1,
    });
  });

  test("says that the state cannot be read, shows nothing of it, and not who leads", () => {
    const metrics = createWebhookMetrics({ version: "1" });
    const names = (text: string) =>
      new Set(Object.keys(samplesOf(text)).map((key) => key.replace(/\{.*/, "")));
    const text = metrics.render({ ...QUIET, isLeading: true, stats: null });
    expect(samplesOf(text)).toMatchObject({ "state_unreadable{}": 1, "held{kind=whatsapp}": 0 });
    const absent = names(metrics.render(QUIET)).difference(names(text));
    expect([...absent].sort()).toEqual(
      ["dead", "in_doubt", "leading", "oldest_undelivered_age_seconds", "queued", "reserve_bytes"].sort(),
    );
  });

  test("has nothing of the gateway while nothing is known of it", () => {
    const names = ["gateway_open", "pending_messages", "newest_unacknowledged_messages"];
    const shown = (gatewayOpen: boolean | null, pending: number | null, newest: number | null) => {
      const watch = { gatewayOpen, pendingMessages: pending, newestUnacknowledged: newest };
      const samples = samplesOf(createWebhookMetrics({ version: "1" }).render({ ...QUIET, watch }));
      return names.map((name) => samples[`${name}{}`]);
    };
    expect(shown(null, null, null)).toEqual([undefined, undefined, undefined]);
    expect(shown(true, 0, 0)).toEqual([1, 0, 0]);
    expect(shown(false, 7, 3)).toEqual([0, 7, 3]);
  });

  const promtool = findPromtool();
  test(`passes promtool's own check${promtool === null ? ": NOT TRIED, no promtool can be had here" : ""}`, () => {
    const text = createWebhookMetrics({ version: "1" }).render(QUIET);
    const names = parsePrometheus(text).map(({ name }) => name);
    expect(names.sort()).toEqual(WEBHOOK_METRIC_NAMES.map(webhookMetric).sort());
    if (promtool === null) return;
    const { status, stderr, stdout } = spawnSync(promtool, ["check", "metrics"], {
      input: text,
      encoding: "utf8",
    });
    expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: "" });
  });
});

describe("failureReason()", () => {
  test.each([
    ["gateway_unreachable", "unreachable"],
    ["gateway_timeout", "timeout"],
    ["tracker_timeout", "timeout"],
    ["gateway_unauthorized", "unauthorized"],
    ["gateway_license_required", "unauthorized"],
    ["tracker_unauthorized", "unauthorized"],
    ["tracker_forbidden", "unauthorized"],
    ["gateway_http_403", "unauthorized"],
    ["tracker_rate_limited", "throttled"],
    ["gateway_http_429", "throttled"],
    ["recipient_not_on_whatsapp", "rejected"],
    ["gateway_body_invalid", "rejected"],
    ["gateway_body_unreadable", "rejected"],
    ["gateway_http_404", "rejected"],
    ["meta_131026", "rejected"],
    ["meta_190", "unauthorized"],
    ["meta_250", "unauthorized"],
    ["meta_131056", "throttled"],
    ["meta_131000", "ambiguous"],
    ["meta_987654", "ambiguous"],
    ["meta_x", "ambiguous"],
    ["sem_instancia_gateway", "rejected"],
    ["gateway_instances_ambiguous", "rejected"],
    ["tracker_input_refused", "rejected"],
    ["tracker_usage_limit", "rejected"],
    ["gateway_http_500", "ambiguous"],
    ["gateway_http_409", "ambiguous"],
    ["gateway_connection_lost", "ambiguous"],
    ["gateway_answer_unreadable", "ambiguous"],
    ["gateway_answer_without_id", "ambiguous"],
    ["tracker_internal_error", "ambiguous"],
    ["anything else", "ambiguous"],
  ])("says of %s: %s", (code, reason) => {
    expect(failureReason(code)).toBe(reason as ReturnType<typeof failureReason>);
  });
});
