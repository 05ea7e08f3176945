/** Every part of a host healthy, absent, failing, hanging and closed to the one who looks. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync, symlinkSync } from "node:fs";
import type { LastPlan } from "../../lib/alert-rules/last-plan.ts";
import { OpsError } from "../../lib/platform/errors.ts";
import { findCollector, isAllWell, readStatus, type StatusDependencies } from "../../lib/status/run.ts";
import { CANARIES, type Host, metricsText, openHost } from "../doctor/support/host.ts";
import { startSilentPeer } from "../standins/raw-peer.ts";
import { PASSWORD } from "../support/postgres.ts";
import { setClock } from "../support/seed.ts";
import { statusDependencies } from "./support/dependencies.ts";
import { lastRun } from "./support/run.ts";

const CRON = "grep opsctl /etc/cron.d/opsctl; systemctl status cron; ls -l /var/log/opsctl";
const START =
  "systemctl start opsctl-webhook.socket opsctl-webhook.service; journalctl -u opsctl-webhook.service -n 50";
const FAILED = { status: "failed", error: { code: "APP_HTTP_401" } };

const PLAN: LastPlan = {
  ...{ command: "plan", at: "2026-11-23T09:00:00Z", withExtras: true },
  ...{ rules: 18, differ: 0 },
};
/** A Monday before its run is due. */
const EARLY_MS = Date.parse("2026-11-23T10:00:00Z");

let host: Host;
let dependencies: StatusDependencies;
beforeEach(async () => {
  host = await openHost();
  await setClock(host.db.sql, new Date(EARLY_MS).toISOString());
  host.put("log/alert-rules.last.json", JSON.stringify(PLAN));
  host.put("textfile/custom_metrics.prom", metricsText(EARLY_MS / 1000 - 30), 0o644);
  const line = { time: new Date(EARLY_MS - 60_000).toISOString(), total: 12 };
  host.put("log/socket_monitor.log", `${JSON.stringify(line)}\n`, 0o644);
  host.setting("alert-rules", "OPSCTL_LOG_DIR", host.path("log"));
  dependencies = { ...statusDependencies(host), nowMs: () => EARLY_MS };
});
afterEach(async () => await host[Symbol.asyncDispose]());

/** Lines for root, which find the settings of this host although sudo hands on no variable. */
const doctorOf = (command: string) =>
  `sudo ${secretsDir()} opsctl doctor ${command} --env-dir ${host.path("etc")}`;
const secretsDir = () => `OPSCTL_SECRETS_DIR=${dependencies.env.OPSCTL_SECRETS_DIR}`;
const asRoot = (words: string) => `sudo ${secretsDir()} OPSCTL_ENV_DIR=${host.path("etc")} opsctl ${words}`;

const said = async () =>
  Object.fromEntries(
    (await readStatus(dependencies)).map(({ part, status, lines, next }) => [part, [status, ...lines, next]]),
  );

describe("readStatus()", () => {
  test("calls a healthy host well, and shows no secret", async () => {
    const reports = await readStatus(dependencies);
    expect(reports.map(({ part, status, lines }) => [part, status, ...lines])).toEqual([
      ["weekly", "ok", "week of 2026-11-16: the run is due at 08:00 (São Paulo)"],
      ["webhook", "ok", "up; nothing queued"],
      ["collector", "ok", "last run 30 s ago; every source read"],
      ["socket-monitor", "ok", "last run 60 s ago; 12 TCP sockets"],
      ["alert-rules", "ok", "last plan 60 min ago: 18 rules, as in the code"],
    ]);
    expect(isAllWell(reports)).toBe(true);
    for (const secret of [...Object.values(CANARIES), PASSWORD])
      expect(JSON.stringify(reports)).not.toContain(secret);
    expect(host.gateway.ledger).toEqual([]);
  });

  test("names a directory of environment files that every command refuses", async () => {
    dependencies = { ...dependencies, env: { ...dependencies.env, OPSCTL_ENV_DIR: "staging" } };
    for (const { status, lines } of await readStatus(dependencies))
      expect([status, ...lines]).toEqual([
        "attention",
        expect.stringMatching(/OPSCTL_ENV_DIR.*\(CONFIG_INVALID\)/),
      ]);
  });

  test("finds nothing set up on a host without settings, which is no fault", async () => {
    const env = {
      OPSCTL_ENV_DIR: "",
      OPSCTL_SECRETS_DIR: host.path("none"),
      OPSCTL_LOG_DIR: host.path("none"),
    };
    const away = { ...env, TEXTFILE_DIR: host.path("none"), WEBHOOK_ADMIN_PORT: "1" };
    dependencies = { ...dependencies, env: away };
    dependencies.collector = { env: { TEXTFILE_DIR: host.path("none") }, isSetUp: false };
    const reports = await readStatus(dependencies);
    expect(reports.map(({ status }) => status)).toEqual(reports.map(() => "not_set_up"));
    expect(isAllWell(reports)).toBe(true);
  });

  test("finds nothing set up where only the sample settings were installed", async () => {
    for (const [name, text] of [
      ["weekly", "APP_BASE_URL=\nOPSCTL_ALERT_WEBHOOK=http://127.0.0.1:9300/webhook\n"],
      ["webhook", "MESSAGING_API_URL=\n"],
      ["socket-monitor", "OPSCTL_LOG_DIR=\n"],
      ["alert-rules", "MONITORING_URL=\n"],
      ["collect-metrics", "TEXTFILE_DIR=\n"],
    ] as const)
      host.put(`etc/${name}.env`, text);
    const env = {
      ...dependencies.env,
      OPSCTL_SECRETS_DIR: host.path("none"),
      OPSCTL_LOG_DIR: host.path("none"),
      WEBHOOK_ADMIN_PORT: "1",
    };
    dependencies = { ...dependencies, env };
    const { collector: _, ...others } = await said();
    expect(Object.values(others).map(([status]) => status)).toEqual(
      Object.values(others).map(() => "not_set_up"),
    );
    expect(findCollector(dependencies.env)).toMatchObject({ isSetUp: false });
  });

  test("does not call a webhook whose admin port is off, nor calls it well", async () => {
    dependencies.env = { ...dependencies.env, WEBHOOK_ADMIN_PORT: "0" };
    const off = "not checked: its admin port is off, so the service is not called";
    expect((await said()).webhook?.slice(0, 2)).toEqual(["outdated", off]);
  });

  test("names what each part is missing when it never ran", async () => {
    for (const file of [
      "log/alert-rules.last.json",
      "log/socket_monitor.log",
      "textfile/custom_metrics.prom",
    ])
      rmSync(host.path(file));
    rmSync(host.path("secrets/DATABASE_URL"));
    dependencies.env = { ...dependencies.env, WEBHOOK_ADMIN_PORT: "1" };
    expect(await said()).toEqual({
      weekly: ["attention", "DATABASE_URL is missing (CONFIG_INVALID)", doctorOf("weekly")],
      webhook: ["attention", "the service does not answer (WEBHOOK_NOT_ANSWERING)", START],
      collector: ["attention", "it has not run yet (LAST_RUN_MISSING)", CRON],
      "socket-monitor": ["attention", "it has not run yet (LAST_RUN_MISSING)", CRON],
      "alert-rules": [
        ...["attention", "never planned on this host (RULES_NOT_PLANNED)"],
        asRoot("alert-rules plan --with-extras"),
      ],
    });
  });

  test("says which part fails, and leaves the others as they are", async () => {
    host.put("secrets/DATABASE_URL", `postgres://u:${PASSWORD}@127.0.0.1:1/app`);
    host.put("log/alert-rules.last.json", "no JSON");
    host.put("etc/socket-monitor.env", "OPSCTL_LOG_DIR=$HOME\n");
    const parts = await said();
    expect(parts.weekly).toEqual([
      ...["attention", "the database cannot be read (DATABASE_UNREACHABLE)"],
      doctorOf("weekly"),
    ]);
    expect(parts["alert-rules"]).toEqual([
      ...["attention", "alert-rules.last.json cannot be read (LAST_RUN_UNREADABLE)"],
      asRoot("alert-rules plan --with-extras"),
    ]);
    expect(parts["socket-monitor"]).toEqual([
      ...["attention", expect.stringContaining("(ENV_FILE_INVALID)")],
      doctorOf("socket-monitor"),
    ]);
    expect([parts.webhook![0], parts.collector![0]]).toEqual(["ok", "ok"]);
  });

  test("leaves a database that is not migrated to doctor, which says what is missing", async () => {
    await host.db.sql`drop function public.weekly_performance_week cascade`;
    expect((await said()).weekly).toEqual([
      ...["attention", "the database cannot be read (DATABASE_OBJECT_MISSING)"],
      doctorOf("weekly"),
    ]);
  });

  test("ends although database and service hang, and says which did not answer in time", async () => {
    const database = await startSilentPeer();
    host.put("secrets/DATABASE_URL", `postgres://u:p@127.0.0.1:${database.port}/app`);
    host.put("log/weekly_performance_reports.last.json", JSON.stringify(lastRun(FAILED).run));
    for (const route of Object.values(host.service.routes)) route.script = () => "hang";
    dependencies = { ...dependencies, limitMs: 2_000, databaseLimitMs: 1_500 };
    const parts = await said();
    expect([database.connections > 0, host.service.ledger.length]).toEqual([true, 2]);
    expect(parts.weekly).toEqual([
      "attention",
      "the database did not answer in time (CHECK_TIMED_OUT)",
      "the run failed (APP_HTTP_401), week of 2026-11-16 (LAST_RUN_FAILED)",
      doctorOf("weekly"),
    ]);
    expect(parts.webhook).toEqual([
      "attention",
      "did not answer in time (CHECK_TIMED_OUT)",
      doctorOf("webhook"),
    ]);
    expect([parts.collector![0], parts["alert-rules"]![0]]).toEqual(["ok", "ok"]);
    await database.stop();
  });

  test("ends a secret command that hangs", async () => {
    host.put("bin/vault", "#!/bin/sh\nexec sleep 600\n", 0o755);
    rmSync(host.path("secrets/DATABASE_URL"));
    dependencies.env = { ...dependencies.env, OPSCTL_SECRETS_COMMAND: host.path("bin/vault") };
    dependencies.databaseLimitMs = 50;
    expect((await said()).weekly).toEqual([
      ...["attention", expect.stringContaining("(SECRET_COMMAND_FAILED)")],
      doctorOf("weekly"),
    ]);
  });

  test.each<[boolean, string, string | RegExp, () => string]>([
    [false, "unknown", "not checked: its settings cannot be read by this account", () => asRoot("status")],
    [true, "attention", /\(SECRET_FILE_UNREADABLE\)$/, () => doctorOf("collect-metrics")],
  ])(
    "says to an account that may not look as whom to run it; to one that may, %p, it is a fault",
    async (isPrivileged, status, why, next) => {
      const error = new OpsError({ code: "SECRET_FILE_UNREADABLE", message: "Cannot read its settings" });
      const env = { ...dependencies.env, TEXTFILE_DIR: host.path("none") };
      dependencies = { ...dependencies, env, isPrivileged, collector: error };
      const line = typeof why === "string" ? why : expect.stringMatching(why);
      const parts = await said();
      expect(parts.collector).toEqual([status, line, next()]);
      expect(parts.webhook![0]).toBe("ok");
      expect(isAllWell(await readStatus(dependencies))).toBe(false);
    },
  );

  test("never takes a file that cannot be read for one that is missing", async () => {
    rmSync(host.path("log/weekly_performance_reports.success"));
    symlinkSync("weekly_performance_reports.success", host.path("log/weekly_performance_reports.success"));
    rmSync(host.path("log/alert-rules.last.json"));
    symlinkSync("alert-rules.last.json", host.path("log/alert-rules.last.json"));
    const { weekly, "alert-rules": rules } = await said();
    const line = (name: string) => `not checked: ${host.path("log", name)} cannot be read: ELOOP`;
    expect([weekly, rules]).toEqual([
      ["attention", line("weekly_performance_reports.success"), doctorOf("weekly")],
      ["attention", line("alert-rules.last.json"), doctorOf("alert-rules")],
    ]);
  });

  test("takes settings of root's that are open to others for a fault", async () => {
    const error = new OpsError({ code: "SECRET_FILE_EXPOSED", message: "Cannot use its settings" });
    const env = { ...dependencies.env, TEXTFILE_DIR: host.path("none") };
    dependencies = { ...dependencies, env, isPrivileged: false, collector: error };
    expect((await said()).collector![0]).toBe("attention");
  });

  test("keeps a part that breaks off from taking the others with it", async () => {
    dependencies.nowMs = () => {
      throw new TypeError("with data of a tenant");
    };
    const parts = await said();
    expect(parts.collector).toEqual([
      ...["attention", "the check ended with an error: TypeError (CHECK_FAILED)"],
      doctorOf("collect-metrics"),
    ]);
    expect(parts.webhook![0]).toBe("ok");
  });
});
