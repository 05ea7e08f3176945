/** The rules on the webhook itself, minute by minute around their thresholds. */
import { expect } from "bun:test";
import { alertRules } from "../../lib/alert-rules/rules/all.ts";
import {
  always,
  healthyWebhook,
  MINUTES,
  type Series,
  spans,
  webhookSeries,
  without,
} from "../fixtures/rules/series.ts";
import { requires } from "../support/requires.ts";
import { type Expectation, findingsOf } from "./support/rule-tester.ts";

const [STOPPED, STUCK] = ["opsctl-webhook-stopped", "opsctl-webhook-stuck"] as const;
const [GIVEN_UP, GATEWAY] = ["opsctl-webhook-given-up", "opsctl-gateway-disconnected"] as const;
const UNACKNOWLEDGED = "opsctl-messages-unacknowledged";
const UIDS: string[] = [STOPPED, STUCK, GIVEN_UP, GATEWAY, UNACKNOWLEDGED];
const STANDBY = 'instance="standby",job="opsctl-webhook"';
const [WHATSAPP, COMMENT] = ['kind="whatsapp"', 'kind="comment"'];

const LEADER = webhookSeries("leader");
const STANDS_BY = webhookSeries("leader", "", STANDBY);
const SENT = webhookSeries("sent_total", WHATSAPP);
const OLDEST = webhookSeries("oldest_undelivered_age_seconds", WHATSAPP);
const OPEN = webhookSeries("gateway_open");
const NEWEST = webhookSeries("newest_unacknowledged_messages");

const rules = alertRules({ withExtras: true }).filter(({ watchesWebhook }) => watchesWebhook);
const healthy = healthyWebhook();

/** At a minute exactly these rules fire. */
function ringing(minute: number, ...uids: string[]): Expectation {
  return { at: `${minute}m`, fires: Object.fromEntries(UIDS.map((uid) => [uid, uids.includes(uid)])) };
}

/** At a minute exactly these rules fire, and the first of them, or another, has this value. */
const valued = (minute: number, uid: string, value: number | null, ...uids: string[]): Expectation => ({
  ...ringing(minute, ...uids),
  values: { [uid]: value },
});

/** The service is gone from minute 11 until minute 20. */
const gone = Object.fromEntries(
  Object.entries(healthy).map(([name, values]) => {
    const before = values.includes("+1x") ? "0+1x10" : spans([11, Number(values[0])]);
    return [name, `${before} ${spans([9, "stale"], [20, 1])}`];
  }),
);
// Whether minute 15 still sees the sample of minute 10 is another answer in each version of the store.
const isStopped = (minute: number, isFiring: boolean) => ({
  at: `${minute}m`,
  fires: { [STOPPED]: isFiring },
});
const nobodyLeads = { ...healthy, [LEADER]: spans([10, 1], [30, 0]), [STANDS_BY]: always(0) };
/** Nothing is sent from minute 10 on; the oldest row is of minute 10. */
const halted = {
  ...healthy,
  [SENT]: `0+1x10 ${spans([30, 10])}`,
  [OLDEST]: `${spans([10, 0])} 0+60x30`,
};
const standby = {
  ...healthyWebhook(STANDBY),
  [STANDS_BY]: always(0),
  [webhookSeries("sent_total", WHATSAPP, STANDBY)]: always(0),
  [webhookSeries("oldest_undelivered_age_seconds", WHATSAPP, STANDBY)]: always(900),
  [webhookSeries("gateway_open", "", STANDBY)]: always(0),
  [webhookSeries("newest_unacknowledged_messages", "", STANDBY)]: always(9),
};
const comments = {
  [webhookSeries("sent_total", COMMENT)]: always(0),
  [webhookSeries("oldest_undelivered_age_seconds", COMMENT)]: always(4_000),
  [webhookSeries("dead", COMMENT)]: always(3),
};

const undelivered = (["dead", "unknown"] as const).flatMap((metric) =>
  ["whatsapp", "issue"].map((kind): Row => {
    const series = { ...healthy, [webhookSeries(metric, `kind="${kind}"`)]: spans([5, 0], [5, 1], [30, 0]) };
    const expected = [ringing(4), valued(5, GIVEN_UP, 1, GIVEN_UP), ringing(9, GIVEN_UP), ringing(10)];
    return [GIVEN_UP, `fires while a row of ${kind} is ${metric}`, series, expected];
  }),
);

type Row = [uid: string, what: string, series: Series, expectations: Expectation[]];

requires("promtool").test.each<Row>([
  [
    STOPPED,
    "fires when five minutes have passed since the service was last seen, and ends at once",
    gone,
    [isStopped(14, false), isStopped(16, true), isStopped(19, true), isStopped(20, false)],
  ],
  [
    STOPPED,
    "fires where the service never was, and then alone",
    { up: always(1) },
    [{ ...ringing(0, STOPPED), values: { [STOPPED]: 0, [STUCK]: null } }],
  ],
  [STOPPED, "fires when nobody leads for five minutes", nobodyLeads, [ringing(13), ringing(15, STOPPED)]],
  [
    STOPPED,
    "bears the change of the leader",
    { ...nobodyLeads, [STANDS_BY]: spans([13, 0], [27, 1]) },
    [ringing(12), ringing(13), ringing(14), ringing(30)],
  ],
  [
    STUCK,
    "fires when the oldest waits for more than 600 seconds and ten minutes saw nothing sent",
    halted,
    [valued(18, STUCK, 0), valued(20, STUCK, 600), valued(21, STUCK, 660, STUCK)],
  ],
  [
    STUCK,
    "is silent while anything of the kind is sent, however old the oldest",
    { ...halted, [SENT]: "0+0x9 1+0x8 2+0x8 3+0x15" },
    [ringing(21), ringing(26), valued(30, STUCK, 0)],
  ],
  [
    STUCK,
    "ends with the first that is sent",
    { ...halted, [SENT]: `0+1x10 ${spans([14, 10], [16, 11])}` },
    [ringing(24, STUCK), ringing(25)],
  ],
  [
    STUCK,
    "is not soothed by the other kind",
    { ...halted, [webhookSeries("sent_total", 'kind="issue"')]: `0+5x${MINUTES}` },
    [ringing(21, STUCK)],
  ],
  [STUCK, "says nothing of comments on issues", { ...healthy, ...comments }, [ringing(30)]],
  [
    STUCK,
    "counts a restart of the service as no sending",
    { ...halted, [SENT]: `0+1x10 ${spans([5, 10], [25, 0])}` },
    [ringing(20), ringing(21, STUCK), ringing(30, STUCK)],
  ],
  [STUCK, "asks the leader", { ...halted, ...standby }, [ringing(20), ringing(21, STUCK)]],
  ["every rule", "is silent about a host that stands by", { ...healthy, ...standby }, [ringing(30)]],
  ...undelivered,
  [
    GIVEN_UP,
    "counts the rows of a shared state once, and goes without the series that an older service lacks",
    {
      [webhookSeries("dead", WHATSAPP)]: always(2),
      [webhookSeries("dead", WHATSAPP, STANDBY)]: always(2),
      [LEADER]: always(1),
    },
    [{ at: "5m", fires: { [GIVEN_UP]: true }, values: { [GIVEN_UP]: 2 } }],
  ],
  [
    GATEWAY,
    "fires when it was closed for five minutes, not for a short loss",
    { ...healthy, [OPEN]: spans([5, 1], [5, 0], [5, 1], [6, 0], [19, 1]) },
    [...[5, 9, 10, 15, 19].map((minute) => ringing(minute)), ringing(20, GATEWAY), ringing(21)],
  ],
  [GATEWAY, "is silent where the state is not known", without(healthy, OPEN), [valued(30, GATEWAY, null)]],
  [
    UNACKNOWLEDGED,
    "fires when three in a row were not acknowledged for ten minutes, and ends with one that is",
    { ...healthy, [NEWEST]: spans([5, 0], [5, 2], [8, 3], [4, 5], [18, 0]) },
    [
      ...[9, 10, 19, 22].map((minute) => ringing(minute)),
      ...[20, 21].map((minute) => ringing(minute, UNACKNOWLEDGED)),
    ],
  ],
  [
    UNACKNOWLEDGED,
    "bears a restart, after which the service leads and knows a minute later",
    {
      ...healthy,
      [LEADER]: spans([10, 1], [1, 0], [29, 1]),
      [NEWEST]: spans([5, 0], [5, 3], [2, "stale"], [28, 3]),
    },
    [ringing(14), ringing(15, UNACKNOWLEDGED), ringing(30, UNACKNOWLEDGED)],
  ],
  [
    UNACKNOWLEDGED,
    "is silent where it is not known",
    without(healthy, NEWEST),
    [valued(30, UNACKNOWLEDGED, null)],
  ],
])("%s %s", (_uid, _what, series, expectations) => {
  expect(findingsOf(rules, series, expectations)).toBe("");
});
