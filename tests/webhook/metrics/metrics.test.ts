/** What the webhook counts of itself, as /metrics writes it. */
import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { VERSION } from "../../../cli/framework/version.ts";
import { WEBHOOK_METRIC_NAMES, webhookMetric } from "../../../lib/host/webhook-names.ts";
import type { Scripted } from "../../standins/standin.ts";
import { trackerError } from "../../standins/tracker.ts";
import { findPromtool } from "../../support/promtool.ts";
import { requires } from "../../support/requires.ts";
import { parsePrometheus } from "../../text/support/prometheus-parser.ts";
import { PHONE, SECRET } from "../support/settings.ts";
import {
  alertOf,
  MINUTE_MS,
  type Service,
  type ServiceOptions,
  startService,
} from "../support/start-service.ts";

const metricsOf = async (service: Service) => (await service.get("/metrics")).text;

/** Every sample as `name{labels}`, with its value; without those of how long requests took. */
function samplesOf(text: string): Record<string, number> {
  const samples = parsePrometheus(text).flatMap((family) => family.samples);
  const named = samples.map(({ name, labels, value }) => {
    const pairs = Object.entries(labels).map(([label, of]) => `${label}=${of}`);
    const shown = pairs.length === 0 ? "" : `{${pairs.join()}}`;
    return [`${name.replace("opsctl_webhook_", "")}${shown}`, value] as const;
  });
  return Object.fromEntries(named.filter(([name]) => !name.startsWith("request_duration")));
}

describe("/metrics", () => {
  test("has every series from the start, at zero, and adds none later but what is known of the gateway", async () => {
    await using service = await startService({ token: "wrong" });
    const text = await metricsOf(service);
    const families = parsePrometheus(text).map(
      ({ name, type }) => `${name.replace("opsctl_webhook_", "")} ${type}`,
    );
    expect(families).toEqual([
      ...["requests_total counter", "request_duration_seconds histogram", "alerts_accepted_total counter"],
      ...["alerts_rejected_total counter", "duplicates_total counter", "degraded_sent_total counter"],
      ...[
        "previous_secret_total counter",
        "sent_total counter",
        "failed_total counter",
        "dead_total counter",
      ],
      ...["delivery_latency_seconds histogram", "queued gauge", "dead gauge", "unknown gauge"],
      ...["oldest_undelivered_age_seconds gauge", "paused gauge", "gateway_open gauge"],
      ...["pending_messages gauge", "newest_unacknowledged_messages gauge", "leader gauge"],
      ...["reserve_bytes gauge", "state_quarantined gauge", "state_unreadable gauge", "build_info gauge"],
    ]);
    const before = samplesOf(text);
    const set = Object.entries(before).filter(([, value]) => value !== 0);
    expect(Object.fromEntries(set)).toEqual({
      ...{ gateway_open: 1, leader: 1, [`build_info{version=${VERSION}}`]: 1 },
    });
    await service.post([alertOf("a"), alertOf("a"), alertOf("b", { status: "resolved" })]);
    await service.advance(MINUTE_MS);
    const added = Object.keys(samplesOf(await metricsOf(service))).filter((name) => !(name in before));
    expect(added).toEqual([]);
  });

  test("counts requests, alerts and their results", async () => {
    await using service = await startService({ previousSecret: "the one before" });
    const post = (secret: string) =>
      fetch(service.url, {
        ...{ method: "POST", body: "{}" },
        headers: { "x-webhook-secret": secret, connection: "close" },
      });
    for (const secret of [SECRET, "the one before", "wrong"]) await post(secret);
    await service.post([alertOf("a"), 7, 8]);
    await service.post([alertOf("a")]);
    expect(samplesOf(await metricsOf(service))).toMatchObject({
      ...{
        "requests_total{status=200}": 2,
        "requests_total{status=401}": 1,
        "requests_total{status=422}": 2,
      },
      ...{
        previous_secret_total: 1,
        alerts_accepted_total: 2,
        alerts_rejected_total: 2,
        duplicates_total: 1,
      },
      ...{ "sent_total{kind=whatsapp}": 2, "sent_total{kind=issue}": 1, "sent_total{kind=comment}": 0 },
      ...{ "delivery_latency_seconds_count{kind=whatsapp}": 2, "queued{kind=whatsapp}": 0 },
    });
    expect(await service.metric("opsctl_webhook_request_duration_seconds_count")).toBe(5);
  });

  test("shows what is queued, for how long, what is dead, and which kind is paused", async () => {
    await using service = await startService({ key: "wrong" });
    service.tracker.routes.graphql.script = () =>
      trackerError(400, "refused", { type: "invalid input", code: "INPUT_ERROR", userError: true });
    await service.post([alertOf("a")]);
    await service.advance(90_500);
    expect(samplesOf(await metricsOf(service))).toMatchObject({
      ...{
        "queued{kind=whatsapp}": 1,
        "queued{kind=issue}": 0,
        "paused{kind=whatsapp}": 1,
        "paused{kind=issue}": 0,
      },
      ...{
        "oldest_undelivered_age_seconds{kind=whatsapp}": 90.5,
        "oldest_undelivered_age_seconds{kind=issue}": 0,
      },
      ...{
        "dead{kind=issue}": 1,
        "dead_total{kind=issue}": 1,
        "failed_total{kind=whatsapp,reason=rejected}": 0,
      },
    });
    expect(samplesOf(await metricsOf(service))).not.toMatchObject({
      "failed_total{kind=whatsapp,reason=unauthorized}": 0,
    });
  });

  test("counts the seconds from acceptance to delivery, and what is unknown", async () => {
    await using service = await startService();
    service.gateway.keepsMessages = false;
    service.gateway.absentNumbers.add(PHONE);
    await service.post([alertOf("a", { status: "resolved" })]);
    service.gateway.absentNumbers.clear();
    await service.advance(MINUTE_MS);
    service.gateway.routes.send.script = () => ({ accept: "drop" });
    await service.post([alertOf("b")]);
    await service.advance(30 * MINUTE_MS);
    const samples = samplesOf(await metricsOf(service));
    const [under, over] = [0.5, 5].map(
      (le) => samples[`delivery_latency_seconds_bucket{kind=whatsapp,le=${le}}`],
    );
    expect([under, over]).toEqual([0, 1]);
    expect(samples).toMatchObject({ "unknown{kind=whatsapp}": 1, "dead{kind=whatsapp}": 0 });
  });

  test("shows a state file that was quarantined, and a gateway that is not connected", async () => {
    await using service = await startService();
    service.gateway.instances.set("ops", "close");
    await service.end();
    writeFileSync(join(service.directory, "state.db"), "garbage ".repeat(2_000));
    await service.restart();
    await service.advance(2 * MINUTE_MS);
    expect(samplesOf(await metricsOf(service))).toMatchObject({ state_quarantined: 1, gateway_open: 0 });
  });

  test("says that the store cannot be read, shows nothing of it, and not the leader", async () => {
    await using service = await startService({ store: "postgres", canFail: true, storeLimitMs: 300 });
    const namesOf = async () =>
      new Set(
        parsePrometheus(await metricsOf(service)).map(({ name, samples }) =>
          samples.length > 0 ? name : "",
        ),
      );
    const before = await namesOf();
    service.failStore();
    const absent = [...before.difference(await namesOf())].map((name) => name.replace("opsctl_webhook_", ""));
    expect(absent.sort()).toEqual(["dead", "leader", "oldest_undelivered_age_seconds", "queued", "unknown"]);
    expect(await service.metric("opsctl_webhook_state_unreadable")).toBe(1);
    expect(await service.metric('opsctl_webhook_paused{kind="whatsapp"}')).toBe(0);
  });

  requires("promtool").test(
    "passes promtool's own check, with the names that the alert rules know",
    async () => {
      await using service = await startService();
      const input = await metricsOf(service);
      const names = parsePrometheus(input).map(({ name }) => name);
      expect(names.sort()).toEqual(WEBHOOK_METRIC_NAMES.map(webhookMetric).sort());
      const { status, stderr, stdout } = spawnSync(findPromtool()!, ["check", "metrics"], {
        input,
        encoding: "utf8",
      });
      expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: "" });
    },
  );
});

/** An answer to the first send, or a setting, and the class that its failure is counted in. */
const FAILURES: [what: string, reason: string, answer: Scripted | null, options: ServiceOptions][] = [
  ["a connection that is closed", "ambiguous", "drop", {}],
  ["a wrong key", "unauthorized", null, { key: "wrong" }],
  ["a closed proxy", "unauthorized", { status: 403, json: {} }, {}],
  ["a limit", "throttled", { status: 429, json: {} }, {}],
  ["a missing route", "rejected", { status: 404, json: {} }, {}],
  ["a server's error", "ambiguous", { status: 500, json: {} }, {}],
  ["an answer that is no JSON", "ambiguous", "not_json", {}],
  ["an answer without an id", "ambiguous", { status: 201, json: {} }, {}],
];

test.each(FAILURES)("a send that ends with %s is counted as %s", async (_, reason, answer, options) => {
  await using service = await startService(options);
  if (answer !== null) service.gateway.routes.send.next(answer);
  await service.post([alertOf("a", { status: "resolved" })]);
  const failed = Object.entries(samplesOf(await metricsOf(service))).filter(
    ([name, value]) => name.startsWith("failed_total") && value > 0,
  );
  expect(failed).toEqual([[`failed_total{kind=whatsapp,reason=${reason}}`, 1]]);
});
