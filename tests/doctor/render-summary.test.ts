/** The summary of doctor: a line for each command, and the one next step. */
import { expect, test } from "bun:test";
import type { CommandName, Finding } from "../../lib/doctor/context.ts";
import { renderSummary } from "../../lib/doctor/render.ts";
import {
  type CheckResult,
  command,
  fail,
  notChecked,
  note,
  notSetUp,
  pass,
  warn,
} from "../../lib/health/result.ts";
import { NO_TERMINAL } from "../../lib/text/terminal/screen.ts";

const of = (name: CommandName, ...found: [check: string, result: CheckResult][]): Finding[] =>
  found.map(([check, result]) => ({ command: name, check, ...result }));

const MISSING = fail("CONFIG_INVALID", "DATABASE_URL is missing", command("opsctl secret set DATABASE_URL"));
const BEHIND = notChecked("PREREQUISITE_FAILED", "it needs DATABASE_URL, see configuration");
const LATE = fail("CHECK_TIMED_OUT", "no answer within 4 s", "See that it runs");
const UNUSED = notSetUp("this host does not use it", "What it needs: opsctl doctor webhook");
const ALL = "All findings:\n  opsctl doctor --all";

const ZONE = of("weekly", ["zone", warn("TIME_ZONE_NOT_UTC", "not on UTC", "timedatectl set-timezone UTC")]);
const UNIT = of("webhook", ["unit", warn("UNIT_DISABLED", "it is disabled", "systemctl enable it")]);
const PORT = of("webhook", ["port", warn("PORT_CLOSED", "nothing listens")]);
const MONDAY = of("weekly", [
  "status",
  note("HEARTBEAT_STALE", "9 days old", command("opsctl weekly --dry-run")),
]);

test.each<[string, Finding[], string[]]>([
  [
    "what no one can check is no fault",
    [
      ...of("weekly", ["database", pass("answers")], ["routes", notChecked("CHECK_HAS_EFFECTS", "routes")]),
      ...of("collect-metrics", ["socket table", pass("can be read")]),
    ],
    ["  ok    weekly           1 ok, 1 not checked", "  ok    collect-metrics  1 ok", "", ALL],
  ],
  [
    "what one missing setting causes is listed once",
    [
      ...of("weekly", ["configuration", MISSING], ["database", BEHIND], ["recipients", BEHIND]),
      ...of("reports", ["configuration", MISSING], ["database", BEHIND]),
      ...of(
        "deliveries",
        ["configuration", MISSING],
        ["configuration", fail("CONFIG_INVALID", "X is missing")],
      ),
    ],
    [
      "  FAIL  weekly      configuration: DATABASE_URL is missing (CONFIG_INVALID)",
      "  FAIL  reports     as weekly",
      "  FAIL  deliveries  configuration: X is missing (CONFIG_INVALID)",
      ...["", "Next, for weekly:", "  opsctl secret set DATABASE_URL", "", ALL],
    ],
  ],
  [
    "the worst is shown, and how much more there is",
    [
      ...ZONE,
      ...UNIT,
      ...of("webhook", ["tracker", fail("tracker_forbidden", "refused", "Correct it")]),
      ...PORT,
    ],
    [
      "  warn  weekly   zone: not on UTC (TIME_ZONE_NOT_UTC)",
      "  FAIL  webhook  tracker: refused (tracker_forbidden) (and 2 more)",
      ...["", "Next, for webhook:", "  Correct it", "", ALL],
    ],
  ],
  [
    "two checks keep their faults apart that have the same reason",
    [...of("weekly", ["database", LATE]), ...of("webhook", ["issue tracker", LATE])],
    [
      "  FAIL  weekly   database: no answer within 4 s (CHECK_TIMED_OUT)",
      "  FAIL  webhook  issue tracker: no answer within 4 s (CHECK_TIMED_OUT)",
      ...["", "Next, for weekly:", "  See that it runs", "", ALL],
    ],
  ],
  [
    "a warning counts by its kind, not by its words",
    of("weekly", ["port", warn("SYSTEMD_MISSING", "not checked: it is in the log")]),
    [
      "  warn  weekly  port: not checked: it is in the log (SYSTEMD_MISSING)",
      ...["", "Next, for weekly:", "  opsctl doctor weekly", "", ALL],
    ],
  ],
  [
    "a part that this host does not use is no fault",
    [
      ...of("weekly", ["database", pass("answers")], ["hook", UNUSED]),
      ...of("webhook", ["configuration", UNUSED]),
    ],
    ["  ok    weekly   1 ok, 1 not set up", "  -     webhook  not set up", "", ALL],
  ],
  [
    "a host without any part begins with the first",
    of("webhook", ["configuration", UNUSED]),
    [
      ...["  -     webhook  not set up", ""],
      ...["Nothing is set up on this host yet. What the first part needs:", "  opsctl doctor weekly"],
    ],
  ],
])("%s", (_what, findings, lines) => {
  expect(renderSummary(findings, NO_TERMINAL, "")).toBe(`${lines.join("\n")}\n`);
});

test.each<[string, Finding[], string]>([
  [
    "what fails, also without a fix",
    [...ZONE, ...of("webhook", ["port", fail("X", "y")])],
    "opsctl doctor webhook",
  ],
  ["a warning with a fix", [...PORT, ...UNIT], "systemctl enable it"],
  ["a warning without one", [...MONDAY, ...PORT], "opsctl doctor webhook"],
  ["what nobody has to do today", MONDAY, "opsctl weekly --dry-run"],
])("the next step is first for %s", (_what, findings, step) => {
  expect(renderSummary(findings, NO_TERMINAL, "")).toMatch(new RegExp(`\nNext, for \\w+:\n  ${step}\n`));
});

test.each([
  ["cron", pass("starts"), "--all"],
  ["port", warn("PORT_CLOSED", "nothing listens"), "weekly"],
  ["part", UNUSED, "weekly"],
] as const)("the commands name the environment files that were read: %s", (check, result, word) => {
  const text = renderSummary(of("weekly", [check, result]), NO_TERMINAL, " --env-dir /srv/etc");
  expect(text).toContain(`\n  opsctl doctor ${word} --env-dir /srv/etc\n`);
});
