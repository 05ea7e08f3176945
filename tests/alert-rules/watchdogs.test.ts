/**
 * The two rules that speak when nothing arrives, over the days and gaps that they are about.
 */
import { expect, test } from "bun:test";
import { alertRules } from "../../lib/alert-rules/rules/all.ts";
import { always, healthyHost, named, type Series, spans, without } from "../fixtures/rules/series.ts";
import { requires } from "../support/requires.ts";
import { type Expectation, findingsOf } from "./support/rule-tester.ts";

const OTHER_HOST = 'instance="other",job="integrations/unix"';
const WEEKLY = named("weekly_report_last_success_timestamp_seconds");
const LAST_RUN = named("opsctl_collector_last_run_timestamp_seconds");

const rules = alertRules({ withExtras: true }).filter(({ source }) => source === "metrics");
const tested = requires("promtool");

function findings(series: Series, expectations: Expectation[]): string {
  return findingsOf(rules, series, expectations);
}

/** That none of the rules but `uid` fires. */
function silentBut(uid: string): Record<string, boolean> {
  return Object.fromEntries(rules.filter((rule) => rule.uid !== uid).map((rule) => [rule.uid, false]));
}

tested.describe("opsctl-weekly-report-late", () => {
  const uid = "opsctl-weekly-report-late";
  const only = rules.filter((rule) => rule.uid === uid);
  const DAY = 86_400;
  const late = (series: Series, expectations: Expectation[]) => findingsOf(only, series, expectations, "10m");

  test("fires beyond 8 days after the last success, and ends with the next one", () => {
    const minutes = 9 * 1440;
    const series = { [WEEKLY]: `0+0x${minutes} ${9 * DAY}+0x60` };
    expect(
      late(series, [
        { at: "191h50m", fires: { [uid]: false } },
        { at: "192h", fires: { [uid]: false }, values: { [uid]: 8 * DAY } },
        { at: "192h10m", fires: { [uid]: true } },
        { at: "216h10m", fires: { [uid]: false }, values: { [uid]: 600 } },
      ]),
    ).toBe("");
  });

  test("fires when there never was a success", () => {
    const series = { [named("up")]: always(1) };
    expect(late(series, [{ at: "200h", fires: { [uid]: true }, values: { [uid]: 200 * 3600 } }])).toBe("");
  });

  test("takes the newest success of several hosts", () => {
    const other = named("weekly_report_last_success_timestamp_seconds", "", OTHER_HOST);
    const series = { [WEEKLY]: `0+0x12000`, [other]: `${5 * DAY}+0x12000` };
    expect(
      late(series, [{ at: "195h", fires: { [uid]: false }, values: { [uid]: 195 * 3600 - 5 * DAY } }]),
    ).toBe("");
  });
});

tested.describe("opsctl-collector-stopped", () => {
  const uid = "opsctl-collector-stopped";

  test("fires beyond 300 seconds after the last run, while the agent repeats the old value", () => {
    // The last run is in minute 10.
    const host = { ...healthyHost(), [LAST_RUN]: `0+60x10 ${spans([28, 600])}` };
    expect(
      findings(host, [
        { at: "15m", fires: { ...silentBut(uid), [uid]: false }, values: { [uid]: 300 } },
        { at: "16m", fires: { ...silentBut(uid), [uid]: true }, values: { [uid]: 360 } },
      ]),
    ).toBe("");
    const second = { ...healthyHost(), [LAST_RUN]: `0+60x9 ${spans([29, 599])}` };
    expect(findings(second, [{ at: "15m", fires: { [uid]: true }, values: { [uid]: 301 } }])).toBe("");
  });

  test("fires when the collector never ran, and 5 minutes after its series ended", () => {
    const never = without(healthyHost(), "opsctl_collector_last_run");
    expect(findings(never, [{ at: "6m", fires: { [uid]: true }, values: { [uid]: 360 } }])).toBe("");
    const ended = { ...healthyHost(), [LAST_RUN]: `0+60x10 stale` };
    const expectations = [
      { at: "15m", fires: { [uid]: false } },
      { at: "16m", fires: { [uid]: true } },
      { at: "38m", fires: { [uid]: true }, values: { [uid]: 38 * 60 } },
    ];
    expect(findings(ended, expectations)).toBe("");
  });

  test("bears the gap that a restart of the agent leaves", () => {
    const host = { ...healthyHost(), [LAST_RUN]: `0+60x10 ${spans([3, "stale"])} 840+60x20` };
    const expectations = [11, 12, 13, 14, 20].map((minute) => ({
      at: `${minute}m`,
      fires: { [uid]: false },
    }));
    expect(findings(host, expectations)).toBe("");
  });

  test("is not soothed by another host whose collector runs", () => {
    const other = named("opsctl_collector_last_run_timestamp_seconds", "", OTHER_HOST);
    const host = { ...healthyHost(), [other]: always(0) };
    expect(findings(host, [{ at: "6m", fires: { [uid]: true }, values: { [uid]: 360 } }])).toBe("");
  });
});
