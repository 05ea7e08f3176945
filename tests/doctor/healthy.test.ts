import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { utimesSync } from "node:fs";
import type { Finding } from "../../lib/doctor/context.ts";
import { COMMAND_NAMES } from "../../lib/platform/config/settings-table.ts";
import { databaseSnapshot } from "../support/database-snapshot.ts";
import { PASSWORD } from "../support/postgres.ts";
import { CANARIES, type Host, NOW_MS, openHost, treeOf } from "./support/host.ts";

let host: Host;
let before: { tree: string[]; rows: Record<string, string[]> };
let findings: Finding[];
let after: typeof before;

beforeAll(async () => {
  host = await openHost();
  utimesSync(host.path("log/weekly_performance_reports.success"), NOW_MS / 1000, NOW_MS / 1000 - 86_400);
  host.setting("webhook", "ALERT_EMAIL_TO", "ops@client.example");
  host.setting("webhook", "ALERT_EMAIL_FROM", "alarm@mail.example");
  host.setting("webhook", "ALERT_EMAIL_API_KEY", CANARIES.EMAIL_API_KEY);
  host.setting("webhook", "ALERT_EMAIL_API_URL", host.email.url);
  const see = async () => ({ tree: treeOf(host.folder), rows: await databaseSnapshot(host.db.sql) });
  // The real clock here, as the database has.
  host.dependencies.nowMs = () => Date.now();
  const lastRun = Math.round(Date.now() / 1000);
  host.put("textfile/custom_metrics.prom", `opsctl_collector_last_run_timestamp_seconds ${lastRun}\n`, 0o644);
  host.put("log/socket_monitor.log", `{"time":"${new Date().toISOString()}","total":12}\n`, 0o644);
  utimesSync(host.path("log/weekly_performance_reports.success"), new Date(), new Date());
  before = await see();
  findings = await host.examine();
  after = await see();
});
afterAll(async () => await host[Symbol.asyncDispose]());

describe("runDoctor() on a healthy host", () => {
  test("finds nothing wrong, and says what it did not look at", () => {
    const notWell = findings.filter(({ status }) => status !== "pass");
    expect(notWell.map(({ command, check, status, reason }) => ({ command, check, status, reason }))).toEqual(
      [
        {
          command: "weekly",
          check: "application",
          status: "warn",
          reason: "not checked: its routes and TRIGGER_SECRET, because each call of them has an effect",
        },
        {
          ...{ command: "weekly", check: "alert webhook", status: "not_set_up" },
          reason: "not set up: the announcement of a run that fails, to an alert webhook",
        },
      ],
    );
  });

  test("has findings of every command and every check", () => {
    expect([...new Set(findings.map(({ command }) => command))]).toEqual([...COMMAND_NAMES]);
    const namesOf = (command: string) => [
      ...new Set(findings.filter((one) => one.command === command).map(({ check }) => check)),
    ];
    const settings = ["configuration", "environment file"];
    const asAccount = ["configuration", "service account", "environment file"];
    expect(namesOf("weekly")).toEqual([
      ...[...asAccount, "secrets", "database", "database schema", "messaging gateway"],
      ...["whatsapp sender", "e-mail sender", "e-mail provider", "recipients", "application"],
      ...["log directory", "status", "alert webhook", "cron"],
      "host time zone",
    ]);
    expect(namesOf("webhook")).toEqual([
      ...[
        ...asAccount,
        "secrets",
        "messaging gateway",
        "fallback channel",
        "issue tracker",
        "state directory",
      ],
      ...["unit", "status"],
    ]);
    expect(namesOf("collect-metrics")).toEqual([
      ...[
        ...settings,
        "secrets",
        "text-file directory",
        "metrics file",
        "status",
        "container",
        "hosting provider",
      ],
      ...["socket table", "cron"],
    ]);
    // No finding about secrets: the key stands in the webhook's file.
    expect(namesOf("socket-monitor")).toEqual([
      ...[...asAccount, "messaging gateway", "socket table"],
      ...["directories", "status", "cron"],
    ]);
    expect(namesOf("alert-rules")).toEqual([
      ...[...settings, "secrets", "rules", "folder", "metrics data source", "logs data source"],
      "status",
    ]);
    expect(namesOf("migrate")).toEqual([...settings, "secrets", "database", "migrations"]);
    expect(namesOf("reports")).toEqual([...settings, "secrets", "database", "database schema"]);
    expect(namesOf("deliveries")).toEqual([...settings, "secrets", "database", "database schema"]);
  });

  test("has reached every peer", () => {
    const reached = host.peers;
    expect(reached.map((peer) => peer.ledger.length > 0)).toEqual(reached.map(() => true));
    expect(host.peers.flatMap((peer) => peer.unexpected.map(({ path }) => path))).toEqual([]);
  });

  test("writes nothing: no file, no row, no message, no issue, no rule", () => {
    expect(after).toEqual(before);
    const calls = host.peers.filter((peer) => peer !== host.tracker).flatMap((peer) => peer.ledger);
    expect([...new Set(calls.map(({ method }) => method))]).toEqual(["GET"]);
    expect(host.application.ledger.map(({ path }) => path)).toEqual(["/"]);
    expect(host.tracker.issues).toEqual([]);
    const queries = host.tracker.ledger.map(({ body }) => (body as { query: string }).query);
    expect(queries.length).toBeGreaterThan(0);
    expect(queries.filter((query) => /\bmutation\b/.test(query))).toEqual([]);
    expect([host.gateway.accepted, host.email.accepted, host.monitoring.writes()]).toEqual([[], [], []]);
  });

  test("shows no secret, no phone and no address", async () => {
    const text = JSON.stringify(findings);
    for (const secret of [...Object.values(CANARIES), PASSWORD, "987654321"])
      expect(text).not.toContain(secret);
    expect(text).not.toMatch(/[a-z0-9.]+@[a-z]+\.example/);
  });
});
