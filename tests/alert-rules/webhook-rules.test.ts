/**
 * The rules on the webhook itself, minute by minute around their thresholds.
 */
import { expect, test } from "bun:test";
import { alertRules } from "../../lib/alert-rules/rules/all.ts";
import {
  always,
  healthyWebhook,
  MINUTES,
  type Series,
  spans,
  webhookSeries,
} from "../fixtures/rules/series.ts";
import { requires } from "../support/requires.ts";
import { type Expectation, findingsOf } from "./support/rule-tester.ts";

const [STOPPED, STUCK] = ["opsctl-webhook-stopped", "opsctl-webhook-stuck"] as const;
const [GIVEN_UP, GATEWAY] = ["opsctl-webhook-given-up", "opsctl-gateway-disconnected"] as const;
const UNACKNOWLEDGED = "opsctl-messages-unacknowledged";
const UIDS: string[] = [STOPPED, STUCK, GIVEN_UP, GATEWAY, UNACKNOWLEDGED];
const STANDBY = 'instance="standby",job="opsctl-webhook"';

const LEADING = webhookSeries("leading");
const SENT = webhookSeries("sent_total", 'kind="whatsapp"');
const OLDEST = webhookSeries("oldest_undelivered_age_seconds", 'kind="whatsapp"');

const rules = alertRules({ withExtras: true }).filter(({ uid }) => UIDS.includes(uid));
const tested = requires("promtool");

function findings(series: Series, expectations: Expectation[]): string {
  return findingsOf(rules, series, expectations);
}

/** At a minute exactly these rules fire. */
function ringing(minute: number, ...uids: string[]): Expectation {
  return { at: `${minute}m`, fires: Object.fromEntries(UIDS.map((uid) => [uid, uids.includes(uid)])) };
}

tested.describe(STOPPED, () => {
  test("fires when five minutes have passed since the service was last seen, and ends at once", () => {
    const series = Object.fromEntries(
      Object.entries(healthyWebhook()).map(([name, values]) => {
        const before = values.includes("+1x") ? "0+1x10" : `${spans([11, Number(values[0])])}`;
        return [name, `${before} ${spans([9, "stale"], [20, 1])}`];
      }),
    );
    // The last sample is of minute 10; whether minute 15 still sees it is another answer in each version of the store.
    const fires = (minute: number, isFiring: boolean) => ({
      at: `${minute}m`,
      fires: { [STOPPED]: isFiring },
    });
    const expected = [fires(14, false), fires(16, true), fires(19, true), fires(20, false)];
    expect(findings(series, expected)).toBe("");
  });

  test("fires where it never was, and then alone", () => {
    const series = { up: always(1) };
    expect(findings(series, [{ ...ringing(0, STOPPED), values: { [STOPPED]: 0, [STUCK]: null } }])).toBe("");
  });

  test("fires when nobody leads for five minutes, and bears the change of the leader", () => {
    const other = webhookSeries("leading", "", STANDBY);
    const none = { ...healthyWebhook(), [LEADING]: spans([10, 1], [30, 0]), [other]: always(0) };
    expect(findings(none, [ringing(13), ringing(15, STOPPED)])).toBe("");
    const change = { ...none, [other]: spans([13, 0], [27, 1]) };
    expect(findings(change, [ringing(12), ringing(13), ringing(14), ringing(30)])).toBe("");
  });
});

tested.describe(STUCK, () => {
  /** Nothing is sent from minute 10 on; the oldest row is of minute 10. */
  const halted = {
    ...healthyWebhook(),
    [SENT]: `0+1x10 ${spans([30, 10])}`,
    [OLDEST]: `${spans([10, 0])} 0+60x30`,
  };

  test("fires when the oldest waits for more than 600 seconds and ten minutes saw nothing sent", () => {
    expect(
      findings(halted, [
        { ...ringing(18), values: { [STUCK]: 0 } },
        { ...ringing(20), values: { [STUCK]: 600 } },
        { ...ringing(21, STUCK), values: { [STUCK]: 660 } },
      ]),
    ).toBe("");
  });

  test("is silent while anything of the kind is sent, however old the oldest", () => {
    const slow = { ...halted, [SENT]: `0+0x9 1+0x8 2+0x8 3+0x15` };
    expect(findings(slow, [ringing(21), ringing(26), { ...ringing(30), values: { [STUCK]: 0 } }])).toBe("");
  });

  test("ends with the first that is sent", () => {
    const sendsAgain = { ...halted, [SENT]: `0+1x10 ${spans([14, 10], [16, 11])}` };
    expect(findings(sendsAgain, [ringing(24, STUCK), ringing(25)])).toBe("");
  });

  test("is not soothed by the other kind", () => {
    const issues = webhookSeries("sent_total", 'kind="issue"');
    expect(findings({ ...halted, [issues]: `0+5x${MINUTES}` }, [ringing(21, STUCK)])).toBe("");
  });

  test("says nothing of comments on issues", () => {
    const comment = 'kind="comment"';
    const series = {
      ...healthyWebhook(),
      [webhookSeries("sent_total", comment)]: always(0),
      [webhookSeries("oldest_undelivered_age_seconds", comment)]: always(4_000),
      [webhookSeries("dead", comment)]: always(3),
    };
    expect(findings(series, [ringing(30)])).toBe("");
  });

  test("counts a restart of the service as no sending", () => {
    const restarted = { ...halted, [SENT]: `0+1x10 ${spans([5, 10], [25, 0])}` };
    expect(findings(restarted, [ringing(20), ringing(21, STUCK), ringing(30, STUCK)])).toBe("");
  });

  test("asks the host that leads: one that stands by sends nothing, and sees the same rows", () => {
    const standby = healthyWebhook(STANDBY);
    const waiting = {
      ...standby,
      [webhookSeries("leading", "", STANDBY)]: always(0),
      [webhookSeries("sent_total", 'kind="whatsapp"', STANDBY)]: always(0),
      [webhookSeries("oldest_undelivered_age_seconds", 'kind="whatsapp"', STANDBY)]: always(900),
    };
    expect(findings({ ...healthyWebhook(), ...waiting }, [ringing(30)])).toBe("");
    expect(findings({ ...halted, ...waiting }, [ringing(20), ringing(21, STUCK)])).toBe("");
  });
});

tested.describe(GIVEN_UP, () => {
  test.each(["dead", "in_doubt"] as const)("fires while one row is %s, of either kind", (metric) => {
    for (const kind of ["whatsapp", "issue"]) {
      const series = {
        ...healthyWebhook(),
        [webhookSeries(metric, `kind="${kind}"`)]: spans([5, 0], [5, 1], [30, 0]),
      };
      expect(
        findings(series, [
          ringing(4),
          { ...ringing(5, GIVEN_UP), values: { [GIVEN_UP]: 1 } },
          ringing(9, GIVEN_UP),
          ringing(10),
        ]),
      ).toBe("");
    }
  });

  test("counts the rows of a shared state once, and goes without the series that an older service lacks", () => {
    const dead = 'kind="whatsapp"';
    const series = {
      [webhookSeries("dead", dead)]: always(2),
      [webhookSeries("dead", dead, STANDBY)]: always(2),
      [LEADING]: always(1),
    };
    expect(findings(series, [{ at: "5m", fires: { [GIVEN_UP]: true }, values: { [GIVEN_UP]: 2 } }])).toBe("");
  });
});

tested.describe(GATEWAY, () => {
  const OPEN = webhookSeries("gateway_open");

  test("fires when it was closed for five minutes, not for a short loss", () => {
    const series = { ...healthyWebhook(), [OPEN]: spans([5, 1], [5, 0], [5, 1], [6, 0], [19, 1]) };
    const minutes = [5, 9, 10, 15, 19].map((minute) => ringing(minute));
    expect(findings(series, [...minutes, ringing(20, GATEWAY), ringing(21)])).toBe("");
  });

  test("is silent where the state is not known, and where a host that stands by does not ask", () => {
    const unknown = { ...healthyWebhook() };
    delete unknown[OPEN];
    expect(findings(unknown, [{ ...ringing(30), values: { [GATEWAY]: null } }])).toBe("");
    const standby = {
      [webhookSeries("leading", "", STANDBY)]: always(0),
      [webhookSeries("gateway_open", "", STANDBY)]: always(0),
    };
    expect(
      findings({ ...healthyWebhook(), ...standby }, [{ ...ringing(30), values: { [GATEWAY]: 1 } }]),
    ).toBe("");
  });
});

tested.describe(UNACKNOWLEDGED, () => {
  const NEWEST = webhookSeries("newest_unacknowledged_messages");

  test("fires when three in a row were not acknowledged for ten minutes, and ends with one that is", () => {
    const series = { ...healthyWebhook(), [NEWEST]: spans([5, 0], [5, 2], [8, 3], [4, 5], [18, 0]) };
    const minutes = [9, 10, 19, 22].map((minute) => ringing(minute));
    expect(findings(series, [...minutes, ringing(20, UNACKNOWLEDGED), ringing(21, UNACKNOWLEDGED)])).toBe("");
  });

  test("bears a restart, after which the service leads and knows a minute later", () => {
    const series = {
      ...healthyWebhook(),
      [LEADING]: spans([10, 1], [1, 0], [29, 1]),
      [NEWEST]: spans([5, 0], [5, 3], [2, "stale"], [28, 3]),
    };
    expect(findings(series, [ringing(14), ringing(15, UNACKNOWLEDGED), ringing(30, UNACKNOWLEDGED)])).toBe(
      "",
    );
  });

  test("is silent where it is not known, and where a host stands by", () => {
    const unknown = { ...healthyWebhook() };
    delete unknown[NEWEST];
    expect(findings(unknown, [{ ...ringing(30), values: { [UNACKNOWLEDGED]: null } }])).toBe("");
    const standby = {
      [webhookSeries("leading", "", STANDBY)]: always(0),
      [webhookSeries("newest_unacknowledged_messages", "", STANDBY)]: always(9),
    };
    expect(
      findings({ ...healthyWebhook(), ...standby }, [{ ...ringing(30), values: { [UNACKNOWLEDGED]: 0 } }]),
    ).toBe("");
  });
});
