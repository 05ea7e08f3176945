/** `opsctl status` as a process of its own: as an ordinary start, and as root on a machine that has the account. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LastPlan } from "../../../lib/alert-rules/last-plan.ts";
import type { PartReport } from "../../../lib/status/run.ts";
import { startMonitoring } from "../../standins/grafana.ts";
import { startSilentPeer } from "../../standins/raw-peer.ts";
import { ACCOUNT, type AccountHost, openAccountHost } from "../../support/account-host.ts";
import { requires } from "../../support/requires.ts";
import { seedOwner } from "../../support/seed.ts";
import { openFixture } from "../support/fixture.ts";
import { type Ended, opsctl, startProgram } from "../support/opsctl.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-status-"));
  mkdirSync(join(folder, "log"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const partsOf = ({ json }: Ended) =>
  Object.fromEntries((json.parts as PartReport[]).map(({ part, ...report }) => [part, report]));

/** Nothing of this machine, and nothing at all. */
const nowhere = () => ({
  OPSCTL_SECRETS_DIR: join(folder, "none"),
  OPSCTL_LOG_DIR: join(folder, "log"),
  TEXTFILE_DIR: join(folder, "none"),
});

describe("opsctl status of a host that hangs", () => {
  test("ends although the database hangs, with 1 and the command that comes next", async () => {
    const database = await startSilentPeer();
    const DATABASE_URL = `postgres://u:secret-of-the-url@127.0.0.1:${database.port}/app`;
    const env = { ...nowhere(), DATABASE_URL };
    const ended = await opsctl(["status", "--json"], { env });
    expect([ended.exitCode, ended.json.status, ended.json.error]).toEqual([1, "failed", null]);
    expect(partsOf(ended).weekly).toEqual({
      status: "attention",
      lines: ["the database did not answer in time (CHECK_TIMED_OUT)"],
      next: `sudo OPSCTL_SECRETS_DIR=${env.OPSCTL_SECRETS_DIR} opsctl doctor weekly`,
      facts: null,
    });
    expect(ended.stdout + ended.stderr).not.toContain("secret-of-the-url");
    await database.stop();
  });
});

describe("a directory of environment files that is no absolute path", () => {
  test("is named by status, and refused by doctor unless its option names another", async () => {
    const env = { ...nowhere(), OPSCTL_ENV_DIR: "staging" };
    const status = await opsctl(["status", "--json"], { env });
    expect([status.exitCode, partsOf(status).weekly?.lines]).toEqual([
      1,
      [expect.stringMatching(/OPSCTL_ENV_DIR.*\(CONFIG_INVALID\)$/)],
    ]);
    const doctor = await opsctl(["doctor", "weekly", "--json"], { env });
    expect([doctor.exitCode, doctor.json.error]).toMatchObject([3, { code: "CONFIG_INVALID" }]);
    const named = await opsctl(["doctor", "socket-monitor", "--json", "--env-dir", folder], { env });
    expect(named.json.error).toBeNull();
  });
});

describe("opsctl status, after a plan", () => {
  test("remembers what a plan and an apply of the alert rules found", async () => {
    const token = "glsa_canary";
    const platform = await startMonitoring({ token, folders: ["vps"] });
    const logDir = join(folder, "log-of-a-plan");
    mkdirSync(logDir);
    const env = {
      ...{ ...nowhere(), OPSCTL_LOG_DIR: logDir, MONITORING_URL: platform.url, MONITORING_TOKEN: token },
      ...{ MONITORING_FOLDER_UID: "vps", MONITORING_PROMETHEUS_UID: "p", MONITORING_LOKI_UID: "l" },
    };
    const run = (...args: string[]) => opsctl(args, { env });
    const rules = async () => partsOf(await run("status", "--json"))["alert-rules"]!;
    expect(await rules()).toMatchObject({
      status: "attention",
      lines: ["never planned on this host (RULES_NOT_PLANNED)"],
    });
    await run("alert-rules", "plan");
    expect(await rules()).toMatchObject({
      status: "attention",
      next: `sudo OPSCTL_SECRETS_DIR=${env.OPSCTL_SECRETS_DIR} OPSCTL_ENV_DIR= opsctl alert-rules apply`,
      facts: { command: "plan", rules: 7, differ: 7, withExtras: false } satisfies Partial<LastPlan>,
    });
    await run("alert-rules", "apply");
    expect(await rules()).toMatchObject({ status: "ok", facts: { command: "apply", rules: 7, differ: 0 } });
    await platform.stop();
  });
});

describe("opsctl status after a weekly run", () => {
  test("calls the week clean, and an open one with its deadline and the command that comes next", async () => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);
    const env = { ...nowhere(), ...fixture.env };
    const weekly = async () => partsOf(await opsctl(["status", "--json"], { env })).weekly!;
    expect((await fixture.weekly(["--json"])).exitCode).toBe(0);
    expect(await weekly()).toMatchObject({
      ...{ status: "ok", lines: ["week of 2026-11-16: clean, 1 owner"], next: null },
      facts: { clean: true, open: 0, owners: 1, lastRun: { status: "success" } },
    });
    await seedOwner(fixture.db.sql);
    expect(await weekly()).toMatchObject({
      status: "attention",
      lines: [
        "week of 2026-11-16: OPEN: reports: 1 missing; it can be repeated until 2026-11-24 00:00:00 (São Paulo) (WEEK_OPEN)",
      ],
      next: `sudo OPSCTL_SECRETS_DIR=${env.OPSCTL_SECRETS_DIR} OPSCTL_ENV_DIR= opsctl reports status`,
    });
  });
});

describe("opsctl status", () => {
  test("ends with 0 where what is set up is well, in words without colour on a pipe", async () => {
    const seconds = Math.round(Date.now() / 1000);
    const metrics = `opsctl_collector_last_run_timestamp_seconds ${seconds}\n`;
    writeFileSync(join(folder, "custom_metrics.prom"), metrics);
    const env = { ...nowhere(), TEXTFILE_DIR: folder };
    const { exitCode, stdout, stderr } = await opsctl(["status"], { env });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toStartWith("  -     weekly          not set up\n  -     webhook ");
    expect(stdout).toMatch(/^ {2}ok {4}collector {7}last run \d+ s ago; every source read$/m);
    expect(stdout).not.toContain("\x1b");
  });

  test("goes on without the directory that plan could write to", async () => {
    writeFileSync(join(folder, "a-file"), "");
    const platform = await startMonitoring({ token: "t", folders: ["vps"] });
    const env = {
      ...{ ...nowhere(), OPSCTL_LOG_DIR: join(folder, "a-file"), MONITORING_URL: platform.url },
      ...{ MONITORING_TOKEN: "t", MONITORING_FOLDER_UID: "vps" },
      ...{ MONITORING_PROMETHEUS_UID: "p", MONITORING_LOKI_UID: "l" },
    };
    const { exitCode, stderr } = await opsctl(["alert-rules", "plan"], { env });
    expect(exitCode).toBe(0);
    expect(stderr).toContain("The result was not saved for opsctl status");
    await platform.stop();
  });
});

describe("opsctl status started by root", () => {
  const { test } = requires("account");
  let host: AccountHost;
  beforeAll(() => {
    host = openAccountHost();
    host.make("etc");
    host.make("log", 0o750, ACCOUNT.uid);
    host.make("textfile");
    const log = `OPSCTL_LOG_DIR=${host.path("log")}\n`;
    host.put("etc/collect-metrics.env", `TEXTFILE_DIR=${host.path("textfile")}\n`);
    host.put("etc/socket-monitor.env", log, 0o600, ACCOUNT.uid);
    host.put("etc/alert-rules.env", log, 0o600, ACCOUNT.uid);
    host.put("etc/weekly.env", log, 0o600, ACCOUNT.uid);
    const seconds = Math.round(Date.now() / 1000);
    const metrics = `opsctl_collector_up{source="s3"} 0\nopsctl_collector_last_run_timestamp_seconds ${seconds}\n`;
    host.put("textfile/custom_metrics.prom", metrics, 0o644);
    const line = `${JSON.stringify({ time: new Date().toISOString(), total: 5 })}\n`;
    host.put("log/socket_monitor.log", line, 0o600, ACCOUNT.uid);
  });
  afterAll(() => host[Symbol.dispose]());

  const status = async (before?: string) => {
    const words = host.inside(await host.opsctl("binary", ["status", "--json"]), before);
    const env = { PATH: "/usr/bin:/bin", HOME: host.folder };
    const own = { OPSCTL_ENV_DIR: host.path("etc"), OPSCTL_SECRETS_DIR: host.path("none") };
    return await startProgram(words, { cwd: "/", env: { ...env, ...own } }).ended;
  };

  const asRoot = () =>
    `sudo OPSCTL_SECRETS_DIR=${host.path("none")} OPSCTL_ENV_DIR=${host.path("etc")} opsctl`;

  test("sees what is the account's, and where root's settings say that the collector writes", async () => {
    const parts = partsOf(await status());
    expect(parts["socket-monitor"]).toMatchObject({ status: "ok", facts: { total: 5 } });
    expect(parts.collector).toMatchObject({
      status: "attention",
      ...{ facts: { failing: ["s3"] }, next: `${asRoot()} collect-metrics --stdout` },
    });
    expect(parts["alert-rules"]).toMatchObject({ status: "not_set_up" });
  });

  test("names for an ordinary account what it may not read, and the account to run as", async () => {
    const drop = `set -- setpriv --reuid=64099 --regid=64099 --clear-groups "$@"`;
    const ended = await status(drop);
    expect(ended.exitCode).toBe(1);
    const parts = partsOf(ended);
    for (const part of ["weekly", "socket-monitor", "alert-rules"])
      expect(parts[part]).toEqual({
        status: "unknown",
        lines: ["not checked: its settings cannot be read by this account"],
        next: `${asRoot()} status`,
        facts: null,
      });
    expect(parts.collector).toMatchObject({ status: "unknown", next: `${asRoot()} status` });
  });
});
