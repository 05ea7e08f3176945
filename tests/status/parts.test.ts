/** What each part of a host says by what it left, and the command that comes next. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { LastPlan } from "../../lib/alert-rules/last-plan.ts";
import type { PartName } from "../../lib/platform/config/settings-table.ts";
import { readStatus } from "../../lib/status/run.ts";
import { type Host, openHost } from "../doctor/support/host.ts";
import { statusDependencies } from "./support/dependencies.ts";

const NOW = Date.parse("2026-11-23T12:00:00Z");
const MINUTE = 60_000;
const CRON = "grep opsctl /etc/cron.d/opsctl; systemctl status cron; ls -l /var/log/opsctl";
const NOTHING = { queued: 0, dead: 0, unknown: 0, oldestQueuedAgeSeconds: null };

let host: Host;
beforeAll(async () => {
  host = await openHost();
  host.setting("alert-rules", "OPSCTL_LOG_DIR", host.path("log"));
});
afterAll(async () => await host[Symbol.asyncDispose]());

async function look(part: PartName) {
  // Settings of this process, so that what comes next is the bare command.
  const reports = await readStatus({ ...statusDependencies(host), nowMs: () => NOW });
  const { status, lines, next, facts } = reports.find((one) => one.part === part)!;
  const bare = (text: string) => text.replace(/ ?OPSCTL_\w+=\S+| --env-dir \S+/g, "");
  return { status, lines: lines.map(bare), next: next === null ? null : bare(next), facts };
}

/** What is well in one line, each problem in one of its own, here behind a bar. */
async function expectSaid(part: PartName, lines: string, next: string | null): Promise<void> {
  const found = await look(part);
  expect([found.status, found.lines.join(" | "), found.next]).toEqual([
    next === null ? "ok" : "attention",
    lines,
    next,
  ]);
}

describe("status of the webhook", () => {
  /** The service answers so, but for these keys. */
  function serve({ isReady = true, ...changes }: { isReady?: boolean } & Record<string, unknown> = {}) {
    const answer = { message: NOTHING, issue: NOTHING, comment: NOTHING, gatewayOpen: true, ...changes };
    host.service.routes.health.script = () => ({ status: 200, json: { status: "ok", ...answer } });
    host.service.routes.ready.script = () => ({ status: isReady ? 200 : 503, json: {} });
  }
  const DOCTOR = "sudo opsctl doctor webhook";
  const queued = (count: number, seconds: number) => ({
    ...NOTHING,
    queued: count,
    oldestQueuedAgeSeconds: seconds,
  });

  test.each<[string, Parameters<typeof serve>[0], string, string | null]>([
    ["a healthy service", {}, "up; gateway connected; nothing queued", null],
    ["a gateway that was not asked yet", { gatewayOpen: null }, "up; nothing queued", null],
    [
      "a service that does not lead",
      { leader: false },
      "up, another host delivers; gateway connected; nothing queued",
      null,
    ],
    [
      "a queue for exactly as long as is usual",
      { message: queued(2, 900), issue: queued(1, 3) },
      "up; gateway connected; 3 queued, the oldest for 15 min",
      null,
    ],
    [
      "a queue that does not move",
      { message: queued(1, 901) },
      "up; gateway connected | 1 queued, the oldest for 15 min (OUTBOX_DELAYED)",
      "sudo opsctl webhook queue list",
    ],
    [
      "what is undelivered or unknown",
      { message: { ...NOTHING, dead: 2 }, issue: { ...NOTHING, dead: 1, unknown: 1 } },
      "up; gateway connected; nothing queued | 2 messages not delivered (OUTBOX_DEAD) | " +
        "1 issue not delivered (OUTBOX_DEAD) | 1 issue unknown: it may have arrived (OUTBOX_UNKNOWN)",
      "sudo opsctl webhook dead list",
    ],
    [
      "a phone that is not paired",
      { gatewayOpen: false },
      "up; nothing queued | gateway disconnected (sem_instancia_gateway)",
      DOCTOR,
    ],
    [
      "messages that WhatsApp does not acknowledge",
      { pendingMessages: 4 },
      "up; nothing queued | 4 messages that the gateway accepted are not acknowledged by WhatsApp (MESSAGES_NOT_ACKNOWLEDGED)",
      DOCTOR,
    ],
    [
      "a state that cannot be counted",
      { isReady: false, message: null },
      "gateway connected | it runs and cannot accept alerts (WEBHOOK_NOT_READY) | the queue cannot be counted (STATE_UNREADABLE)",
      "journalctl -u opsctl-webhook.service -n 50",
    ],
  ])("shows %s", async (_what, changes, line, next) => {
    serve(changes);
    await expectSaid("webhook", line, next);
    // What is not known is not called zero.
    if (changes?.message === null) expect((await look("webhook")).facts).toMatchObject({ outbox: null });
  });

  test("names what is paused, and why", async () => {
    serve({ paused: { message: "gateway_unauthorized", issue: null, comment: "tracker_forbidden" } });
    expect(await look("webhook")).toMatchObject({
      status: "attention",
      lines: [
        expect.anything(),
        "messages are paused until the gateway accepts them again (gateway_unauthorized)",
        "comments are paused until the issue tracker accepts them again (tracker_forbidden)",
      ],
      next: DOCTOR,
    });
  });

  test("shows that the last request from another host had another secret, without calling it a fault", async () => {
    serve({ posts: { acceptedAt: null, secretRefusedAt: "2026-11-23T11:58:00.000Z" } });
    const { status, lines } = await look("webhook");
    expect([status, lines[1]]).toEqual(["ok", expect.stringContaining("2026-11-23T11:58:00.000Z")]);
  });
});

describe("status of the collector", () => {
  const pass = (ageSeconds: number, up = 1) =>
    `opsctl_collector_up{source="source_2"} ${up}\nopsctl_collector_last_run_timestamp_seconds ${NOW / 1000 - ageSeconds}\n`;
  test.each<[string, string, string, string | null]>([
    ["the oldest pass that is no fault", pass(180), "last run 3 min ago; every source read", null],
    [
      "a pass that is too old",
      pass(181),
      "every source read | last run 3 min ago, one is due every minute (LAST_RUN_STALE)",
      CRON,
    ],
    ["a clock that differs a little", pass(-60), "last run 0 s ago; every source read", null],
    [
      "a pass to come",
      pass(-61),
      "every source read | last run dated 61 s in the future: a clock is wrong (CLOCK_WRONG)",
      "timedatectl set-ntp true",
    ],
    [
      "a source that failed, one with a digit too",
      pass(40, 0),
      "last run 40 s ago | not read: source_2 (SOURCE_FAILED)",
      "sudo opsctl collect-metrics --stdout",
    ],
    ["a file of something else", "other 1\n", "the metrics file has no time (LAST_RUN_UNREADABLE)", CRON],
  ])("shows %s", async (_what, text, line, next) => {
    host.put("textfile/custom_metrics.prom", text, 0o644);
    await expectSaid("collector", line, next);
  });
});

describe("status of the socket monitor", () => {
  const run = (ageMs: number, total: number | null, threshold = 10_000) =>
    `{"time":"2026-11-23T00:00:00.000Z","total":1}\n${JSON.stringify({ time: new Date(NOW - ageMs).toISOString(), total, threshold })}\n`;
  test.each<[string, string, string, string | null]>([
    ["as many sockets as may be", run(MINUTE, 10_000), "last run 60 s ago; 10000 TCP sockets", null],
    [
      "too many sockets",
      run(MINUTE, 10_001),
      "last run 60 s ago | 10001 TCP sockets, more than 10000 (SOCKETS_ABOVE_THRESHOLD)",
      "ss -s",
    ],
    [
      "no more sockets than the monitor is told to alert above",
      run(MINUTE, 15_000, 20_000),
      "last run 60 s ago; 15000 TCP sockets",
      null,
    ],
    ["the oldest run that is no fault", run(15 * MINUTE, 5), "last run 15 min ago; 5 TCP sockets", null],
    [
      "an old run",
      run(15 * MINUTE + 1, 5),
      "5 TCP sockets | last run 15 min ago, one is due every five minutes (LAST_RUN_STALE)",
      CRON,
    ],
    ["a clock that differs a little", run(-MINUTE, 5), "last run 0 s ago; 5 TCP sockets", null],
    [
      "a run to come",
      run(-3 * MINUTE, 5),
      "5 TCP sockets | last run dated 3 min in the future: a clock is wrong (CLOCK_WRONG)",
      "timedatectl set-ntp true",
    ],
    [
      "no count",
      run(MINUTE, null),
      "last run 60 s ago | the sockets could not be counted (SOCKETS_UNREADABLE)",
      "apt-get install iproute2",
    ],
    [
      "a log longer than what is read of it",
      `${"x".repeat(70_000)}\n${run(MINUTE, 5)}`,
      "last run 60 s ago; 5 TCP sockets",
      null,
    ],
    [
      "a line of something else",
      `${JSON.stringify({ time: "soon", total: 5 })}\n`,
      "the last line of its log cannot be read (LAST_RUN_UNREADABLE)",
      CRON,
    ],
    [
      "a torn line",
      `${run(MINUTE, 5)}{"time":"2026`,
      "the last line of its log cannot be read (LAST_RUN_UNREADABLE)",
      CRON,
    ],
    ["an empty log", "", "the last line of its log cannot be read (LAST_RUN_UNREADABLE)", CRON],
  ])("shows %s", async (_what, text, line, next) => {
    host.put("log/socket_monitor.log", text, 0o644);
    await expectSaid("socket-monitor", line, next);
  });
});

describe("status of the alert rules", () => {
  const plan = {
    command: "plan",
    at: "2026-11-20T12:00:00Z",
    withExtras: true,
    rules: 18,
    differ: 0,
  } as const;
  const APPLY = "sudo opsctl alert-rules apply --with-extras";
  const PLAN = "sudo opsctl alert-rules plan --with-extras";
  test.each<[string, Partial<LastPlan>, string, string | null]>([
    ["no difference", {}, "last plan 3 days ago: 18 rules, as in the code", null],
    ["differences", { differ: 4 }, "last plan 3 days ago: 18 rules, 4 of them differ (RULES_DIFFER)", APPLY],
    [
      "differences of the basic rules",
      { differ: 1, rules: 7, withExtras: false },
      "last plan 3 days ago: 7 rules (without extras), 1 of them differ (RULES_DIFFER)",
      "sudo opsctl alert-rules apply",
    ],
    [
      "an apply that did not succeed",
      { command: "apply", differ: 2 },
      "last apply 3 days ago: 18 rules, 2 of them differ (RULES_DIFFER)",
      APPLY,
    ],
    [
      "the last moment of thirty days",
      { at: "2026-10-24T12:00:00Z" },
      "last plan 30 days ago: 18 rules, as in the code",
      null,
    ],
  ])("shows %s", async (_what, changes, line, next) => {
    host.put("log/alert-rules.last.json", JSON.stringify({ ...plan, ...changes }));
    await expectSaid("alert-rules", line, next);
  });

  test("calls a plan older than thirty days outdated, which needs nobody", async () => {
    host.put("log/alert-rules.last.json", JSON.stringify({ ...plan, at: "2026-10-24T11:59:59Z" }));
    const { status, lines, next } = await look("alert-rules");
    expect([status, ...lines, next]).toEqual([
      "outdated",
      "last plan 30 days ago: 18 rules; not checked for 30 days (RULES_NOT_CHECKED)",
      PLAN,
    ]);
  });
});
