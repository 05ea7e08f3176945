/**
 * Every expression of a rule, proved by the metrics platform's own rule tester on both sides of its threshold and
 * over its whole `for`. The rules on the logs cannot run there: they are checked by their form alone.
 */
import { describe, expect, test } from "bun:test";
import { alertRules } from "../../lib/alert-rules/rules/all.ts";
import type { AlertRule } from "../../lib/alert-rules/rules/rule.ts";
import {
  always,
  cpus,
  healthyHost,
  MINUTES,
  mount,
  named,
  project,
  ROOT_AVAILABLE,
  type Series,
  spans,
  webhookSeries,
  without,
} from "../fixtures/rules/series.ts";
import { requires } from "../support/requires.ts";
import { type Case, type Expectation, findingsOf, findingsOfAll } from "./support/rule-tester.ts";

const GIB = 1_073_741_824;
const OTHER_HOST = 'instance="other",job="integrations/unix"';

const all = alertRules({ withExtras: true });
const metricsRules = all.filter(({ source }) => source === "metrics");
const tested = requires("promtool");

type Edge = { uid: string; series: string; fine: number[]; bad: number[] };

/** The value of a rule's series just inside, at and just beyond its threshold; `fine` values never fire. */
const EDGES: Edge[] = [
  { uid: "opsctl-vps-load", series: named("node_load1"), fine: [7.99, 8], bad: [8.01, 80] },
  {
    uid: "opsctl-traefik-ram",
    series: named("proxy_memory_bytes"),
    fine: [524_287_999, 524_288_000],
    bad: [524_288_001],
  },
  { uid: "opsctl-tcp-close-wait", series: named("tcp_close_wait_total"), fine: [999, 1000], bad: [1001] },
  {
    uid: "opsctl-root-disk",
    series: ROOT_AVAILABLE,
    // Of 1000 GiB: rounding is part of the rule, and a half rounds up.
    fine: [150 * GIB, 146 * GIB, 145 * GIB],
    bad: [144.9 * GIB, 144 * GIB, 0],
  },
  {
    uid: "opsctl-ram-available",
    series: named("node_memory_MemAvailable_bytes"),
    fine: [200 * GIB, 195 * GIB],
    bad: [194.9 * GIB, 194 * GIB],
  },
  { uid: "opsctl-deploy-failed", series: project(11), fine: [0], bad: [1] },
  { uid: "opsctl-tcp-sockets", series: named("tcp_sockets_total"), fine: [9999, 10_000], bad: [10_001] },
  {
    uid: "opsctl-collector-failing",
    series: named("opsctl_collector_up", 'source="hosting"'),
    fine: [1],
    bad: [0],
  },
  { uid: "opsctl-gateway-disconnected", series: webhookSeries("gateway_open"), fine: [1], bad: [0] },
  {
    uid: "opsctl-messages-unacknowledged",
    series: webhookSeries("newest_unacknowledged_messages"),
    fine: [0, 2],
    bad: [3],
  },
];

function ruleOf(uid: string): AlertRule {
  return all.find((rule) => rule.uid === uid)!;
}

function findings(
  series: Series,
  expectations: Expectation[],
  uids = metricsRules.map(({ uid }) => uid),
): string {
  return findingsOf(
    uids.map((uid) => ruleOf(uid)),
    series,
    expectations,
  );
}

/** That none of the rules but `except` fires. */
function silent(...except: string[]): Record<string, boolean> {
  return Object.fromEntries(
    metricsRules.filter(({ uid }) => !except.includes(uid)).map(({ uid }) => [uid, false]),
  );
}

tested.describe("on a healthy host", () => {
  test("no rule fires, and every query is exactly one series", () => {
    const values = {
      "opsctl-vps-load": 2.5 / 8,
      "opsctl-traefik-ram": 150_000_000,
      "opsctl-tcp-close-wait": 12,
      "opsctl-root-disk": 50,
      "opsctl-ram-available": 60,
      "opsctl-deploy-failed": 0,
      "opsctl-tcp-sockets": 800,
      "opsctl-weekly-report-late": 1800,
      "opsctl-weekly-report-not-run": 0,
      "opsctl-weekly-report-incomplete": 0,
      "opsctl-collector-stopped": 0,
      "opsctl-collector-failing": 1,
      "opsctl-webhook-stopped": 1,
      "opsctl-webhook-stuck": 0,
      "opsctl-webhook-given-up": 0,
      "opsctl-gateway-disconnected": 1,
      "opsctl-messages-unacknowledged": 0,
    };
    expect(Object.keys(values).sort()).toEqual(metricsRules.map(({ uid }) => uid).sort());
    expect(findings(healthyHost(), [{ at: "30m", fires: silent(), values }])).toBe("");
  });

  test("only the watchdogs speak when nothing arrives", () => {
    // The two rules on a Monday always have a value, and this is a Thursday.
    const onMonday = ["opsctl-weekly-report-not-run", "opsctl-weekly-report-incomplete"];
    const watchdogs = ["opsctl-collector-stopped", "opsctl-webhook-stopped"];
    const missing = ["opsctl-weekly-report-late", ...watchdogs, ...onMonday];
    const none = Object.fromEntries(
      metricsRules.filter(({ uid }) => !missing.includes(uid)).map(({ uid }) => [uid, null]),
    );
    const noise = { [named("up")]: always(1) };
    const fires = {
      ...silent(...watchdogs),
      ...Object.fromEntries(watchdogs.map((uid) => [uid, true])),
    };
    expect(findings(noise, [{ at: "30m", fires, values: none }])).toBe("");
  });
});

/** A value at which the rule never fires. */
function atRest({ uid, series }: Edge, value: number): Case {
  const host = { ...healthyHost(), [series]: always(value) };
  return {
    name: `${uid} at ${value}`,
    series: host,
    expectations: [{ at: `${MINUTES - 1}m`, fires: silent() }],
  };
}

/** Bad in minutes 5 to 5 + wait, both included: long enough by a hair. */
function longEnough({ uid, series, fine }: Edge, value: number): Case {
  const wait = waitOf(uid);
  const host = { ...healthyHost(), [series]: spans([5, fine[0]!], [wait + 1, value], [25, fine[0]!]) };
  const expectations = [
    { at: "4m", fires: silent() },
    { at: `${5 + wait - 1}m`, fires: silent() },
    { at: `${5 + wait}m`, fires: { ...silent(uid), [uid]: true } },
    { at: `${5 + wait + 1}m`, fires: silent() },
  ];
  return { name: `${uid} at ${value} once its time is over, and not after`, series: host, expectations };
}

/** Bad for a minute too few, twice. */
function interrupted({ uid, series, fine, bad }: Edge): Case {
  const [good, ill, wait] = [fine[0]!, bad[0]!, waitOf(uid)];
  const host = {
    ...healthyHost(),
    [series]: spans([5, good], [wait, ill], [1, good], [wait, ill], [9, good]),
  };
  const minutes = [5 + wait - 1, 5 + wait, 5 + wait + 1, 5 + 2 * wait, 5 + 2 * wait + 1];
  const expectations = minutes.map((minute) => ({ at: `${minute}m`, fires: silent() }));
  return { name: `${uid} with a healthy minute in between`, series: host, expectations };
}

function waitOf(uid: string): number {
  return ruleOf(uid).condition.forMinutes ?? 0;
}

tested.test.each(EDGES)(
  "$uid never fires inside its threshold, fires beyond it once its time is over, and begins anew after a healthy minute",
  (edge) => {
    const cases = [
      ...edge.fine.map((value) => atRest(edge, value)),
      ...edge.bad.map((value) => longEnough(edge, value)),
      interrupted(edge),
    ];
    expect(findingsOfAll(metricsRules, cases)).toBe("");
  },
);

tested.describe("opsctl-vps-load", () => {
  const uid = "opsctl-vps-load";

  test.each([1, 2, 4, 16, 128])("compares with the number of CPUs, %i", (count) => {
    const host = { ...without(healthyHost(), "node_cpu"), ...cpus(count) };
    const load = (value: number) => ({ ...host, [named("node_load1")]: always(value) });
    const [at, by] = [
      { name: "at it", series: load(count) },
      { name: "above it", series: load(count + 0.01) },
    ];
    const cases = [
      { ...at, expectations: [{ at: "30m", fires: { [uid]: false }, values: { [uid]: 1 } }] },
      { ...by, expectations: [{ at: "30m", fires: { [uid]: true } }] },
    ];
    expect(findingsOfAll([ruleOf(uid)], cases)).toBe("");
  });

  test("counts each host's own CPUs: a large idle host hides no small busy one", () => {
    const two = {
      ...healthyHost(),
      ...cpus(2, OTHER_HOST),
      [named("node_load1", "", OTHER_HOST)]: always(2.5),
    };
    expect(findings(two, [{ at: "30m", fires: { [uid]: true }, values: { [uid]: 1.25 } }])).toBe("");
  });

  test("counts a host once that two pipelines of the agent ship", () => {
    const again = 'instance="main",job="node"';
    const twice = {
      ...healthyHost(),
      ...cpus(8, again),
      [named("node_load1")]: always(8.5),
      [named("node_load1", "", again)]: always(8.5),
    };
    expect(findings(twice, [{ at: "30m", fires: { [uid]: true }, values: { [uid]: 8.5 / 8 } }])).toBe("");
  });
});

tested.describe("the shares of disk and memory", () => {
  test("several hosts are judged by the worst share", () => {
    const other = (metric: string, labels = "") => named(metric, labels, OTHER_HOST);
    const root = 'device="/dev/sda1",fstype="xfs",mountpoint="/"';
    const two = {
      ...healthyHost(),
      [other("node_filesystem_size_bytes", root)]: always(1000),
      [other("node_filesystem_avail_bytes", root)]: always(144),
      [other("node_memory_MemTotal_bytes")]: always(1000),
      [other("node_memory_MemAvailable_bytes")]: always(194),
    };
    const values = { "opsctl-root-disk": 14, "opsctl-ram-available": 19 };
    const fires = { "opsctl-root-disk": true, "opsctl-ram-available": true };
    expect(findings(two, [{ at: "30m", fires, values }])).toBe("");
  });

  test("read what is available, not what is free", () => {
    const host = {
      ...healthyHost(),
      ...mount("/", "/dev/vda1", 1000, 120),
      [named("node_memory_MemFree_bytes")]: always(900 * GIB),
      [named("node_memory_MemAvailable_bytes")]: always(100 * GIB),
    };
    const values = { "opsctl-root-disk": 12, "opsctl-ram-available": 10 };
    expect(findings(host, [{ at: "30m", values }])).toBe("");
  });
});

describe("the rules on the logs are proved by their form alone", () => {
  const logs = new Map(all.filter(({ source }) => source === "logs").map((rule) => [rule.uid, rule]));

  test("two rules are on the logs", () => {
    expect([...logs.keys()]).toEqual(["opsctl-ssh-brute-force", "opsctl-security-log-silent"]);
  });

  test("one number over all streams of job auth, counted over 5 minutes", () => {
    const rule = logs.get("opsctl-ssh-brute-force")!;
    expect(rule.query).toBe('sum(count_over_time({job="auth"} |= "Failed password" [5m]))');
  });

  test("one number over all streams of job auth, counted over 6 hours, and 0 without any stream", () => {
    const rule = logs.get("opsctl-security-log-silent")!;
    expect(rule.query).toBe('sum(count_over_time({job="auth"} [6h])) or vector(0)');
    expect(rule.condition).toEqual({ operator: "<", threshold: 1 });
  });
});
