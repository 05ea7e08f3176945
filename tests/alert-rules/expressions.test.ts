/**
 * Every expression of a rule, proved by the metrics store's own rule tester on both sides of its threshold and over its
 * whole `for`. The rules on the logs cannot run there: they are checked by their form alone.
 */
import { expect, test } from "bun:test";
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
const DAY = 86_400;
const OTHER_HOST = 'instance="other",job="integrations/unix"';
const LOAD = named("node_load1");
const LAST_SUCCESS = "weekly_report_last_success_timestamp_seconds";
const LAST_RUN = "opsctl_collector_last_run_timestamp_seconds";

const all = alertRules({ withExtras: true });
const metricsRules = all.filter(({ source }) => source === "metrics");
const tested = requires("promtool");
const host = healthyHost();

type Edge = { uid: string; series: string; fine: number[]; bad: number[] };

/** The value of a rule's series just inside, at and just beyond its threshold; `fine` values never fire. */
const EDGES: Edge[] = [
  { uid: "opsctl-vps-load", series: LOAD, fine: [7.99, 8], bad: [8.01, 80] },
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

const ruleOf = (uid: string): AlertRule => all.find((rule) => rule.uid === uid)!;

/** Which of the rules on metrics fire: these and no other. */
const firing = (...uids: string[]): Record<string, boolean> =>
  Object.fromEntries(metricsRules.map(({ uid }) => [uid, uids.includes(uid)]));

/** A value at which the rule never fires. */
function atRest({ uid, series }: Edge, value: number): Case {
  const expectations = [{ at: `${MINUTES - 1}m`, fires: firing() }];
  return { name: `${uid} at ${value}`, series: { ...host, [series]: always(value) }, expectations };
}

/** Bad in minutes 5 to 5 + wait, both included: long enough by a hair. */
function longEnough({ uid, series, fine }: Edge, value: number): Case {
  const wait = waitOf(uid);
  const expectations = [
    { at: "4m", fires: firing() },
    { at: `${5 + wait - 1}m`, fires: firing() },
    { at: `${5 + wait}m`, fires: firing(uid) },
    { at: `${5 + wait + 1}m`, fires: firing() },
  ];
  const values = spans([5, fine[0]!], [wait + 1, value], [25, fine[0]!]);
  return { name: `${uid} at ${value} for its time`, series: { ...host, [series]: values }, expectations };
}

/** Bad for a minute too few, twice. */
function interrupted({ uid, series, fine, bad }: Edge): Case {
  const [good, ill, wait] = [fine[0]!, bad[0]!, waitOf(uid)];
  const values = spans([5, good], [wait, ill], [1, good], [wait, ill], [9, good]);
  const minutes = [5 + wait - 1, 5 + wait, 5 + wait + 1, 5 + 2 * wait, 5 + 2 * wait + 1];
  const expectations = minutes.map((minute) => ({ at: `${minute}m`, fires: firing() }));
  return { name: `${uid} with a healthy minute`, series: { ...host, [series]: values }, expectations };
}

function waitOf(uid: string): number {
  return ruleOf(uid).condition.forMinutes ?? 0;
}

tested.test.each(EDGES)(
  "$uid never fires inside its threshold, fires beyond it once its time is over, and waits again after a healthy minute",
  (edge) => {
    const cases = [
      ...edge.fine.map((value) => atRest(edge, value)),
      ...edge.bad.map((value) => longEnough(edge, value)),
      interrupted(edge),
    ];
    expect(findingsOfAll(metricsRules, cases)).toBe("");
  },
);

/** The values of all rules on metrics on the healthy host. */
const HEALTHY_VALUES = {
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
const WATCHDOGS = ["opsctl-collector-stopped", "opsctl-webhook-stopped"];
/** The rules that always have a value; the two on a Monday are silent, as this is a Thursday. */
const ALWAYS = [...WATCHDOGS, ...metricsRules.map(({ uid }) => uid).filter((uid) => /weekly/.test(uid))];
const NO_VALUES = Object.fromEntries(
  metricsRules.filter(({ uid }) => !ALWAYS.includes(uid)).map(({ uid }) => [uid, null]),
);

const noCpus = without(host, "node_cpu");
const pipeline = 'instance="main",job="node"';
const root = 'device="/dev/sda1",fstype="xfs",mountpoint="/"';
const other = (metric: string, labels = "") => named(metric, labels, OTHER_HOST);
const collected = (values: string) => ({ ...host, [named(LAST_RUN)]: values });

/** What a rule says over some series: its name, whether it fires and its value, at each time. */
type Row = [
  uid: string,
  what: string,
  series: Series,
  expected: (readonly [string, boolean, number?])[],
  step?: string,
];

const LATE = "opsctl-weekly-report-late";
const STOPPED = "opsctl-collector-stopped";
const ROWS: Row[] = [
  ...[1, 2, 4, 16, 128].flatMap((count): Row[] => [
    [
      "opsctl-vps-load",
      `is silent at the number of CPUs, ${count}`,
      { ...noCpus, ...cpus(count), [LOAD]: always(count) },
      [["30m", false, 1]],
    ],
    [
      "opsctl-vps-load",
      `fires above the number of CPUs, ${count}`,
      { ...noCpus, ...cpus(count), [LOAD]: always(count + 0.01) },
      [["30m", true]],
    ],
  ]),
  [
    "opsctl-vps-load",
    "counts each host's own CPUs: a large idle host hides no small busy one",
    { ...host, ...cpus(2, OTHER_HOST), [other("node_load1")]: always(2.5) },
    [["30m", true, 1.25]],
  ],
  [
    "opsctl-vps-load",
    "counts a host once that two pipelines of the agent ship",
    { ...host, ...cpus(8, pipeline), [LOAD]: always(8.5), [named("node_load1", "", pipeline)]: always(8.5) },
    [["30m", true, 8.5 / 8]],
  ],
  [
    "opsctl-root-disk",
    "judges several hosts by the worst share",
    {
      ...host,
      [other("node_filesystem_size_bytes", root)]: always(1000),
      [other("node_filesystem_avail_bytes", root)]: always(144),
    },
    [["30m", true, 14]],
  ],
  [
    "opsctl-ram-available",
    "judges several hosts by the worst share",
    {
      ...host,
      [other("node_memory_MemTotal_bytes")]: always(1000),
      [other("node_memory_MemAvailable_bytes")]: always(194),
    },
    [["30m", true, 19]],
  ],
  [
    "opsctl-root-disk",
    "reads what is available, not what is free",
    { ...host, ...mount("/", "/dev/vda1", 1000, 120) },
    [["30m", true, 12]],
  ],
  [
    "opsctl-ram-available",
    "reads what is available, not what is free",
    {
      ...host,
      [named("node_memory_MemFree_bytes")]: always(900 * GIB),
      [named("node_memory_MemAvailable_bytes")]: always(100 * GIB),
    },
    [["30m", true, 10]],
  ],
  [
    LATE,
    "fires beyond 8 days after the last success, and ends with the next one",
    { [named(LAST_SUCCESS)]: `0+0x${9 * 1440} ${9 * DAY}+0x60` },
    [
      ["191h50m", false],
      ["192h", false, 8 * DAY],
      ["192h10m", true],
      ["216h10m", false, 600],
    ],
    "10m",
  ],
  [LATE, "fires when there never was a success", { up: always(1) }, [["200h", true, 200 * 3600]], "10m"],
  [
    LATE,
    "takes the newest success of several hosts",
    { [named(LAST_SUCCESS)]: "0+0x12000", [other(LAST_SUCCESS)]: `${5 * DAY}+0x12000` },
    [["195h", false, 195 * 3600 - 5 * DAY]],
    "10m",
  ],
  [
    STOPPED,
    "fires beyond 300 seconds after the last run, while the agent repeats the old value",
    // The last run is in minute 10.
    collected(`0+60x10 ${spans([28, 600])}`),
    [
      ["15m", false, 300],
      ["16m", true, 360],
    ],
  ],
  [STOPPED, "fires at 301 seconds", collected(`0+60x9 ${spans([29, 599])}`), [["15m", true, 301]]],
  [STOPPED, "fires when the collector never ran", without(host, LAST_RUN), [["6m", true, 360]]],
  [
    STOPPED,
    "fires 5 minutes after its series ended",
    collected("0+60x10 stale"),
    [
      ["15m", false],
      ["16m", true],
      ["38m", true, 38 * 60],
    ],
  ],
  [
    STOPPED,
    "bears the gap that a restart of the agent leaves",
    collected(`0+60x10 ${spans([3, "stale"])} 840+60x20`),
    [11, 12, 13, 14, 20].map((minute) => [`${minute}m`, false] as const),
  ],
  [
    STOPPED,
    "is not soothed by another host whose collector runs",
    { ...host, [other(LAST_RUN)]: always(0) },
    [["6m", true, 360]],
  ],
];

tested.describe("the rules on metrics", () => {
  test.each<[string, Series, Expectation]>([
    [
      "on a healthy host none fires, and each query is one series",
      host,
      { at: "30m", fires: firing(), values: HEALTHY_VALUES },
    ],
    [
      "only the watchdogs speak when nothing arrives",
      { up: always(1) },
      { at: "30m", fires: firing(...WATCHDOGS), values: NO_VALUES },
    ],
  ])("%s", (_what, series, expected) => {
    expect(findingsOf(metricsRules, series, [expected])).toBe("");
  });

  test("are all of them in the table of a healthy host", () => {
    expect(Object.keys(HEALTHY_VALUES).sort()).toEqual(metricsRules.map(({ uid }) => uid).sort());
  });

  test.each(ROWS)("%s %s", (...[uid, , series, expected, step]) => {
    const expectations = expected.map(([at, isFiring, value]) => ({
      at,
      fires: { [uid]: isFiring },
      ...(value === undefined ? {} : { values: { [uid]: value } }),
    }));
    expect(findingsOf([ruleOf(uid)], series, expectations, step)).toBe("");
  });
});

test("the rules on the logs count all streams of job auth as one number", () => {
  const logs = all.filter(({ source }) => source === "logs");
  expect(logs.map(({ uid, query }) => [uid, query])).toEqual([
    ["opsctl-ssh-brute-force", 'sum(count_over_time({job="auth"} |= "Failed password" [5m]))'],
    // 0 without any stream.
    ["opsctl-security-log-silent", 'sum(count_over_time({job="auth"} [6h])) or vector(0)'],
  ]);
});
