import { describe, expect, test } from "bun:test";
import {
  type CheckResult,
  type CommandName,
  type Finding,
  fail,
  notChecked,
  note,
  notSetUp,
  pass,
  command as run,
  warn,
} from "../../lib/doctor/finding.ts";
import { renderSummary as render } from "../../lib/doctor/render.ts";
import { NO_TERMINAL } from "../../lib/text/terminal/screen.ts";

const of = (command: CommandName, ...found: [check: string, result: CheckResult][]): Finding[] =>
  found.map(([check, result]) => ({ command, check, ...result }));

const renderSummary = (findings: readonly Finding[]) => render(findings, NO_TERMINAL);

const MISSING = fail(
  "CONFIG_INVALID",
  "DATABASE_URL is missing; expected a postgres:// URL",
  "install -D -m 0600 -o opsctl /dev/stdin /etc/opsctl/secrets/DATABASE_URL",
);
const BEHIND = notChecked(
  "PREREQUISITE_FAILED",
  "the settings of weekly that it needs are incomplete, see configuration",
);
const ALL = "All findings:\n  opsctl doctor --all\n";

describe("renderSummary()", () => {
  test("is a line for each command, and what no one can check is no fault", () => {
    const findings = [
      ...of(
        "weekly",
        ["database", pass("answers")],
        ["application", notChecked("CHECK_HAS_EFFECTS", "its routes")],
      ),
      ...of("collect-metrics", ["socket table", pass("can be read")]),
    ];
    expect(renderSummary(findings)).toBe(
      `  ok    weekly           1 ok, 1 not checked\n  ok    collect-metrics  1 ok\n\n${ALL}`,
    );
  });

  test("sends to the environment files that this doctor reads, with every command that it names", () => {
    const at = (findings: Finding[]) => render(findings, NO_TERMINAL, " --env-dir /etc/opsctl/staging");
    expect(at(of("weekly", ["cron", pass("starts")]))).toEndWith(
      ":\n  opsctl doctor --all --env-dir /etc/opsctl/staging\n",
    );
    expect(at(of("weekly", ["status", warn("WEBHOOK_NOT_ANSWERING", "nothing listens")]))).toContain(
      "\n  opsctl doctor weekly --env-dir /etc/opsctl/staging\n",
    );
    expect(at(of("weekly", ["part", notSetUp("it", "Set it")]))).toEndWith(
      "  opsctl doctor weekly --env-dir /etc/opsctl/staging\n",
    );
  });

  test("shows once what one missing setting causes, and the one step that fixes it", () => {
    const findings = [
      ...of("weekly", ["configuration", MISSING], ["database", BEHIND], ["recipients", BEHIND]),
      ...of("reports", ["configuration", MISSING], ["database", BEHIND]),
      ...of(
        "deliveries",
        ["configuration", MISSING],
        ["configuration", fail("CONFIG_INVALID", "GATEWAY_URL is missing", "Set it")],
      ),
    ];
    expect(renderSummary(findings)).toBe(
      [
        "  FAIL  weekly      configuration: DATABASE_URL is missing; expected a postgres:// URL (CONFIG_INVALID)",
        "  FAIL  reports     as weekly",
        "  FAIL  deliveries  configuration: GATEWAY_URL is missing (CONFIG_INVALID)",
        "",
        "Next, for weekly:",
        "  install -D -m 0600 -o opsctl /dev/stdin /etc/opsctl/secrets/DATABASE_URL",
        "",
        ALL,
      ].join("\n"),
    );
  });

  test("shows the worst, how much more there is, and begins with what fails", () => {
    const findings = [
      ...of("weekly", [
        "host time zone",
        warn("TIME_ZONE_NOT_UTC", "the host is not on UTC", "timedatectl set-timezone UTC"),
      ]),
      ...of(
        "webhook",
        ["unit", warn("UNIT_DISABLED", "it is disabled", "systemctl enable it")],
        ["issue tracker", fail("tracker_unauthorized", "refused", "Correct ISSUE_TRACKER_TOKEN")],
        ["status", warn("WEBHOOK_NOT_ANSWERING", "nothing listens", "systemctl start it")],
      ),
    ];
    expect(renderSummary(findings)).toBe(
      [
        "  warn  weekly   host time zone: the host is not on UTC (TIME_ZONE_NOT_UTC)",
        "  FAIL  webhook  issue tracker: refused (tracker_unauthorized) (and 2 more)",
        "",
        "Next, for webhook:",
        "  Correct ISSUE_TRACKER_TOKEN",
        "",
        ALL,
      ].join("\n"),
    );
  });

  test("names the command that says more where no line fixes a finding", () => {
    const text = renderSummary(of("weekly", ["recipients", warn("NO_OWNERS", "no owner is eligible")]));
    expect(text).toContain("Next, for weekly:\n  opsctl doctor weekly\n");
  });

  test("begins with the warning that a line fixes, where nothing fails", () => {
    const text = renderSummary([
      ...of("weekly", ["last success", warn("LAST_RUN_MISSING", "no run has ended yet")]),
      ...of(
        "webhook",
        ["status", warn("WEBHOOK_NOT_ANSWERING", "nothing listens")],
        ["unit", warn("UNIT_DISABLED", "it is disabled", "systemctl enable it")],
      ),
    ]);
    expect(text).toContain("Next, for webhook:\n  systemctl enable it\n");
  });

  test("begins with what a person can do today, and with Monday's run where nothing else is left", () => {
    const onMonday = run("opsctl weekly --dry-run", "The run of a Monday does it; on any day:");
    const settled = of("weekly", ["status", note("HEARTBEAT_STALE", "it is 9 days old", onMonday)]);
    const monday = of("weekly", ["status", note("HEARTBEAT_STALE", "it is 12 days old", onMonday)]);
    const port = of("webhook", ["status", warn("WEBHOOK_NOT_ANSWERING", "nothing listens")]);
    const unit = of("webhook", ["unit", warn("UNIT_DISABLED", "it is disabled", "systemctl enable it")]);
    expect(renderSummary([...monday, ...unit])).toContain("Next, for webhook:\n  systemctl enable it\n");
    expect(renderSummary([...settled, ...unit])).toContain("Next, for webhook:\n  systemctl enable it\n");
    expect(renderSummary([...monday, ...port])).toContain("Next, for webhook:\n  opsctl doctor webhook\n");
    expect(renderSummary(monday)).toContain(
      "Next, for weekly:\n  The run of a Monday does it; on any day:\n  opsctl weekly --dry-run\n",
    );
  });

  test("decides by the kind of a warning, not by its words", () => {
    const worded = of("weekly", ["port", warn("SYSTEMD_MISSING", "not checked: it is in the log")]);
    expect(renderSummary(worded)).toContain(
      "  warn  weekly  port: not checked: it is in the log (SYSTEMD_MISSING)",
    );
    const kind = of("weekly", [
      "port",
      { ...warn("SYSTEMD_MISSING", "nobody looked"), because: "not_checked" as const },
    ]);
    expect(renderSummary(kind)).toContain("  ok    weekly  0 ok, 1 not checked");
  });

  test("begins with a fault that no line fixes before a warning that one does", () => {
    const text = renderSummary([
      ...of("weekly", [
        "host time zone",
        warn("TIME_ZONE_NOT_UTC", "the host is not on UTC", "timedatectl set-timezone UTC"),
      ]),
      ...of("webhook", ["status", fail("WEBHOOK_NOT_ANSWERING", "nothing listens")]),
    ]);
    expect(text).toContain("Next, for webhook:\n  opsctl doctor webhook\n");
  });

  test("calls a part that this host does not use not set up, which is no fault", () => {
    const leftOut = notSetUp("this host does not use it", "What it needs: opsctl doctor webhook");
    const findings = [
      ...of(
        "weekly",
        ["database", pass("answers")],
        ["alert webhook", notSetUp("the announcement", "Set it")],
      ),
      ...of("webhook", ["configuration", leftOut]),
    ];
    expect(renderSummary(findings)).toBe(
      `  ok    weekly   1 ok, 1 not set up\n  -     webhook  not set up\n\n${ALL}`,
    );
  });

  test("says where to begin on a host without any part", () => {
    const findings = of("webhook", ["configuration", notSetUp("this host does not use it", "What it needs")]);
    expect(renderSummary(findings)).toBe(
      "  -     webhook  not set up\n\nNothing is set up on this host yet. What the first part needs:\n  opsctl doctor weekly\n",
    );
  });

  test("keeps two faults apart that have the same reason in different checks", () => {
    const late = fail("CHECK_TIMED_OUT", "no answer within 4 s", "See that the peer runs");
    const findings = [...of("weekly", ["database", late]), ...of("webhook", ["issue tracker", late])];
    expect(renderSummary(findings)).toContain(
      "  FAIL  webhook  issue tracker: no answer within 4 s (CHECK_TIMED_OUT)\n",
    );
  });
});
