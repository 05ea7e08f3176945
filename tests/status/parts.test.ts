import { describe, expect, test } from "bun:test";
import type { LastPlan } from "../../lib/alert-rules/last-plan.ts";
import { judgePlan } from "../../lib/status/parts/alert-rules.ts";
import { judgePass } from "../../lib/status/parts/collector.ts";
import { judgeReadings } from "../../lib/status/parts/socket-monitor.ts";
import { judgeHealth } from "../../lib/status/parts/webhook.ts";
import type { ServiceHealth } from "../../lib/webhook/http/service-health.ts";

const NOW = Date.parse("2026-11-23T12:00:00Z");
const NOTHING = { queued: 0, dead: 0, inDoubt: 0, oldestQueuedAgeMs: null };
const health = (changes: Partial<ServiceHealth> = {}): ServiceHealth => ({
  isReady: true,
  isLeading: true,
  outbox: { message: NOTHING, issue: NOTHING, comment: NOTHING },
  holds: { message: null, issue: null, comment: null },
  gatewayOpen: true,
  pendingMessages: 0,
  secretRefusedAt: null,
  ...changes,
});
const waiting = (message: object, issue: object = {}) => ({
  outbox: { message: { ...NOTHING, ...message }, issue: { ...NOTHING, ...issue }, comment: NOTHING },
});
const DOCTOR = "sudo opsctl doctor webhook";
const MINUTE = 60_000;

describe("judgeHealth()", () => {
  test.each<[string, Partial<ServiceHealth>, string, string | null]>([
    ["a healthy service", {}, "up; nothing waits; 0 given up; gateway connected", null],
    [
      "one that has not asked yet",
      { gatewayOpen: null },
      "up; nothing waits; 0 given up; gateway not known",
      null,
    ],
    [
      "one that does not lead",
      { isLeading: false },
      "up, another host delivers; nothing waits; 0 given up; gateway connected",
      null,
    ],
    [
      "a queue for a moment",
      waiting({ queued: 2, oldestQueuedAgeMs: 12_000 }, { queued: 1, oldestQueuedAgeMs: 3_000 }),
      "up; 3 wait, the oldest for 12 s; 0 given up; gateway connected",
      null,
    ],
    [
      "a queue for exactly as long as is usual",
      waiting({ queued: 1, oldestQueuedAgeMs: 15 * MINUTE }),
      "up; 1 wait, the oldest for 15 min; 0 given up; gateway connected",
      null,
    ],
    [
      "a queue that does not move",
      waiting({ queued: 1, oldestQueuedAgeMs: 15 * MINUTE + 1_000 }),
      "up; 1 wait, the oldest for 15 min; 0 given up; gateway connected",
      "sudo opsctl webhook queue list",
    ],
    [
      "what was given up",
      waiting({ dead: 2 }, { dead: 1, inDoubt: 1 }),
      "up; nothing waits; 3 given up, 1 in doubt; gateway connected",
      "sudo opsctl webhook dead list",
    ],
    [
      "a phone that is not paired",
      { gatewayOpen: false },
      "up; nothing waits; 0 given up; gateway disconnected",
      DOCTOR,
    ],
    [
      "messages that WhatsApp does not acknowledge",
      { pendingMessages: 4 },
      "up; nothing waits; 0 given up; gateway holds 4 messages that WhatsApp has not acknowledged",
      DOCTOR,
    ],
    [
      "a state that cannot be counted",
      { isReady: false, outbox: null },
      "runs and cannot accept alerts; what waits is not known; gateway connected",
      "journalctl -u opsctl-webhook -n 50",
    ],
  ])("says of %s what it is", (_what, changes, line, next) => {
    expect(judgeHealth(health(changes))).toMatchObject({
      status: next === null ? "ok" : "attention",
      lines: [line],
      next,
    });
  });

  test("names what it holds, and why", () => {
    const holds = { message: "gateway_unauthorized", issue: null, comment: "tracker_forbidden" };
    const report = judgeHealth(health({ holds }));
    expect(report.lines.slice(1)).toEqual([
      "holds its messages: gateway_unauthorized",
      "holds its comments: tracker_forbidden",
    ]);
    expect(report.next).toBe(DOCTOR);
  });

  test("shows that the last post from elsewhere had another secret, without calling it a fault", () => {
    expect(judgeHealth(health({ secretRefusedAt: "2026-11-23T11:58:00.000Z" }))).toMatchObject({
      status: "ok",
      lines: [
        "up; nothing waits; 0 given up; gateway connected",
        `refused the last post from elsewhere for its secret, at 2026-11-23T11:58:00.000Z: ${DOCTOR}`,
      ],
    });
  });

  test("says that it does not know, instead of zero, in its facts too", () => {
    expect(judgeHealth(health({ outbox: null })).facts).toMatchObject({ outbox: null });
  });
});

describe("judgePass()", () => {
  const text = (ageSeconds: number, up = 1) =>
    `opsctl_collector_up{source="source_2"} ${up}\nopsctl_collector_last_run_timestamp_seconds ${NOW / 1000 - ageSeconds}\n`;
  test.each<[string, string, string, string | null]>([
    ["a pass of this minute", text(40), "last pass 40 s ago, every source read", null],
    ["the oldest one that is no fault", text(180), "last pass 3 min ago, every source read", null],
    [
      "a pass that is too old",
      text(181),
      "last pass 3 min ago (one is due every minute), every source read",
      "sudo opsctl doctor collect-metrics",
    ],
    ["one of a clock that differs a little", text(-60), "last pass 0 s ago, every source read", null],
    [
      "one that is still to come",
      text(-61),
      "last pass at a time to come, in 61 s (see the clock), every source read",
      "sudo opsctl doctor collect-metrics",
    ],
    [
      "a source that failed, one with a digit too",
      text(40, 0),
      "last pass 40 s ago, not read: source_2",
      "sudo opsctl collect-metrics --stdout",
    ],
    [
      "a file of something else",
      "other 1\n",
      "the metrics file does not say when it was written",
      "sudo opsctl doctor collect-metrics",
    ],
  ])("says of %s what it is", (_what, metrics, line, next) => {
    expect(judgePass(metrics, NOW)).toMatchObject({ lines: [line], next });
  });
});

describe("judgeReadings()", () => {
  const line = (ageMs: number, total: number | null) =>
    `{"time":"2026-11-23T00:00:00.000Z","total":1}\n${JSON.stringify({ time: new Date(NOW - ageMs).toISOString(), total })}\n`;
  const doctor = "sudo opsctl doctor socket-monitor";
  test.each<[string, string, string, string | null]>([
    ["a recent run", line(2 * MINUTE, 512), "last run 2 min ago, 512 TCP sockets", null],
    ["as many sockets as may be", line(MINUTE, 10_000), "last run 60 s ago, 10000 TCP sockets", null],
    [
      "too many sockets",
      line(MINUTE, 10_001),
      "last run 60 s ago, 10001 TCP sockets, more than 10000",
      "ss -s",
    ],
    [
      "an old run",
      line(15 * MINUTE + 1, 5),
      "last run 15 min ago (one is due every five minutes), 5 TCP sockets",
      doctor,
    ],
    ["one of a clock that differs a little", line(-MINUTE, 5), "last run 0 s ago, 5 TCP sockets", null],
    [
      "a run that is still to come",
      line(-3 * MINUTE, 5),
      "last run at a time to come, in 3 min (see the clock), 5 TCP sockets",
      doctor,
    ],
    ["no count", line(MINUTE, null), "last run 60 s ago, the sockets could not be counted", doctor],
    ["a torn line", `${line(MINUTE, 5)}{"time":"2026`, "the last line of its log cannot be read", doctor],
    ["an empty log", "", "the last line of its log cannot be read", doctor],
  ])("says of %s what it is", (_what, text, said, next) => {
    expect(judgeReadings(text, NOW)).toMatchObject({ lines: [said], next });
  });
});

describe("judgePlan()", () => {
  const plan = (changes: Partial<LastPlan> = {}): LastPlan => ({
    ...{ command: "plan", at: "2026-11-20T12:00:00Z", withExtras: true, rules: 18, differ: 0 },
    ...changes,
  });
  test.each<[string, LastPlan, string, string | null]>([
    ["no difference", plan(), "last plan 3 days ago: 18 rules, as in the code", null],
    [
      "differences",
      plan({ differ: 4 }),
      "last plan 3 days ago: 18 rules, 4 of them differ",
      "sudo opsctl alert-rules apply --with-extras",
    ],
    [
      "differences of the basic rules",
      plan({ differ: 1, rules: 7, withExtras: false }),
      "last plan 3 days ago: 7 rules (without extras), 1 of them differ",
      "sudo opsctl alert-rules apply",
    ],
    [
      "an apply that did not succeed",
      plan({ command: "apply", differ: 2 }),
      "last apply 3 days ago: 18 rules, 2 of them are not in place",
      "sudo opsctl alert-rules apply --with-extras",
    ],
    [
      "the last moment of thirty days",
      plan({ at: "2026-10-24T12:00:00Z" }),
      "last plan 30 days ago: 18 rules, as in the code",
      null,
    ],
    [
      "what is older than that",
      plan({ at: "2026-10-24T11:59:59Z" }),
      "last plan 30 days ago: 18 rules, as in the code then; older than 30 days",
      "sudo opsctl alert-rules plan --with-extras",
    ],
    [
      "differences that were found a year ago",
      plan({ at: "2025-11-23T12:00:00Z", command: "apply", differ: 1, rules: 7, withExtras: false }),
      "last apply 365 days ago: 7 rules (without extras), 1 of them are not in place then; older than 30 days",
      "sudo opsctl alert-rules plan",
    ],
    [
      "a time to come",
      plan({ at: "2027-11-23T12:00:00Z" }),
      "last plan at a time to come, in 365 days (see the clock): 18 rules, as in the code",
      "sudo opsctl alert-rules plan --with-extras",
    ],
  ])("says of %s what it is", (_what, last, line, next) => {
    expect(judgePlan(last, NOW)).toMatchObject({ lines: [line], next });
  });
});
