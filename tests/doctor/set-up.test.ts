/** What counts as set up on a host, by doctor and by status alike. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, rmSync } from "node:fs";
import type { PartName } from "../../lib/platform/config/settings-table.ts";
import { readStatus } from "../../lib/status/run.ts";
import { statusDependencies } from "../status/support/dependencies.ts";
import { lastRun } from "../status/support/run.ts";
import { type Host, openHost, silenceWebhook } from "./support/host.ts";

const COMMANDS = {
  weekly: ["weekly", "migrate", "reports", "deliveries"],
  webhook: ["webhook"],
  collector: ["collect-metrics"],
  "socket-monitor": ["socket-monitor"],
  "alert-rules": ["alert-rules"],
} as const;
const SAMPLE = "APP_BASE_URL=\nMESSAGING_API_URL=\nTEXTFILE_DIR=\n";

let host: Host;
let adminPort: string;
beforeEach(async () => {
  host = await openHost();
  for (const folder of ["etc", "secrets", "log", "textfile"])
    for (const name of readdirSync(host.path(folder))) rmSync(host.path(folder, name));
  for (const name of ["weekly", "webhook", "collect-metrics", "socket-monitor", "alert-rules"])
    host.put(`etc/${name}.env`, SAMPLE);
  const places = { OPSCTL_LOG_DIR: host.path("log"), OPSCTL_STATE_DIR: host.path("state") };
  host.dependencies.env = { ...host.dependencies.env, ...places };
  adminPort = "1";
  silenceWebhook(host);
});
afterEach(async () => await host[Symbol.asyncDispose]());

async function setUpByStatus(): Promise<PartName[]> {
  const { OPSCTL_LOG_DIR, OPSCTL_STATE_DIR } = host.dependencies.env;
  const env = { OPSCTL_LOG_DIR, OPSCTL_STATE_DIR, WEBHOOK_ADMIN_PORT: adminPort };
  const reports = await readStatus(statusDependencies(host, env));
  return reports.filter(({ status }) => status !== "not_set_up").map(({ part }) => part);
}

async function setUpByDoctor(): Promise<PartName[]> {
  const findings = await host.examine();
  return (Object.keys(COMMANDS) as PartName[]).filter((part) =>
    COMMANDS[part].some((command) => {
      const own = findings.filter((finding) => finding.command === command);
      return own.length !== 1 || own[0]!.status !== "not_set_up";
    }),
  );
}

describe("a part of a host", () => {
  test("without settings is not set up, and no fault of the whole host", async () => {
    const findings = await host.examine();
    expect(findings.map(({ check, status }) => [check, status])).toEqual(
      Array(8).fill(["configuration", "not_set_up"]),
    );
    expect(findings[1]!.fix).toEqual({ text: "What it needs:", command: "opsctl doctor webhook" });
    expect(await setUpByStatus()).toEqual([]);
  });

  test("a part that a person names is checked although it is not set up", async () => {
    const findings = await host.examine("webhook");
    expect(
      findings.filter(({ check, status }) => check === "configuration" && status === "fail").length,
    ).toBe(6);
  });

  const found = (text: object) => JSON.stringify(text);
  test.each<[string, () => void, PartName[]]>([
    [
      "a variable of the weekly run",
      () => host.setting("weekly", "GATEWAY_URL", "https://g.example"),
      ["weekly"],
    ],
    [
      "the database's address",
      () => host.put("secrets/DATABASE_URL", "postgres://u:p@127.0.0.1:1/a"),
      ["weekly"],
    ],
    ["a secret of the weekly run", () => host.put("secrets/TRIGGER_SECRET", "canary"), ["weekly"]],
    [
      "what a run left",
      () => host.put("log/weekly_performance_reports.last.json", found(lastRun().run)),
      ["weekly"],
    ],
    ["a secret that several parts have", () => host.put("secrets/WEBHOOK_SECRET", "canary"), []],
    ["a secret of the webhook", () => host.put("secrets/ISSUE_TRACKER_TOKEN", "canary"), ["webhook"]],
    [
      "a variable of the webhook, with which the monitor sends as well",
      () => host.put("etc/webhook.env", "MESSAGING_PHONE=5511987654321\n"),
      ["webhook", "socket-monitor"],
    ],
    [
      "a service that answers",
      () => {
        adminPort = new URL(host.service.url).port;
        host.dependencies.env = { ...host.dependencies.env, WEBHOOK_ADMIN_PORT: adminPort };
      },
      ["webhook"],
    ],
    [
      "the state of a webhook that is stopped and has lost its settings",
      () => host.put("state/dispatcher.lock", ""),
      ["webhook"],
    ],
    ["a secret of the collector", () => host.put("secrets/HOSTING_TOKEN", "canary"), ["collector"]],
    ["a line of the socket monitor", () => host.put("log/socket_monitor.log", "{}\n"), ["socket-monitor"]],
    ["a variable of the rules", () => host.put("etc/alert-rules.env", "MONITORING_URL=x\n"), ["alert-rules"]],
    ["what a plan left", () => host.put("log/alert-rules.last.json", "{}"), ["alert-rules"]],
    ["settings open to others", () => host.put("etc/alert-rules.env", "A=\n", 0o666), ["alert-rules"]],
  ])("is set up by %s, as status says it", async (_what, change, parts) => {
    change();
    expect(await setUpByDoctor()).toEqual(parts);
    expect(await setUpByStatus()).toEqual(parts);
  });

  test("is not set up by a run of cron that only missed its settings", async () => {
    const { run } = lastRun({
      status: "not_ready",
      begunAt: null,
      window: null,
      error: { code: "CONFIG_INVALID" },
    });
    host.put("log/weekly_performance_reports.last.json", JSON.stringify(run));
    expect([await setUpByDoctor(), await setUpByStatus()]).toEqual([[], []]);
  });
});
