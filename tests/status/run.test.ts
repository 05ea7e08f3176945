/** Every part of a host healthy, absent, failing, hanging and closed to the one who looks. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync, symlinkSync } from "node:fs";
import type { LastPlan } from "../../lib/alert-rules/last-plan.ts";
import type { StatusDependencies } from "../../lib/status/dependencies.ts";
import { isAllWell, readStatus } from "../../lib/status/run.ts";
import { CANARIES, type Host, metricsText, openHost } from "../doctor/support/host.ts";
import { startSilentPeer } from "../standins/raw-peer.ts";
import { PASSWORD } from "../support/postgres.ts";
import { setClock } from "../support/seed.ts";
import { until } from "../support/until.ts";
import { statusDependencies } from "./support/dependencies.ts";

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
  dependencies = { ...(await statusDependencies(host)), nowMs: () => EARLY_MS };
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
    const wrong = "OPSCTL_ENV_DIR is no absolute path (CONFIG_INVALID)";
    const fix = "unset OPSCTL_ENV_DIR";
    const reports = await readStatus(dependencies);
    expect(reports.map(({ status, lines, next }) => [status, ...lines, next])).toEqual(
      reports.map(() => ["attention", wrong, fix]),
    );
  });

  test("finds nothing set up on a host without settings, which is no fault", async () => {
    const env = {
      OPSCTL_ENV_DIR: "",
      OPSCTL_SECRETS_DIR: host.path("none"),
      OPSCTL_LOG_DIR: host.path("none"),
    };
    const away = { ...env, TEXTFILE_DIR: host.path("none"), WEBHOOK_ADMIN_PORT: "1" };
    dependencies = { ...dependencies, env: away };
    dependencies.collector = { status: "found", textfileDir: host.path("none"), isSetUp: false };
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
    const nothing = { OPSCTL_SECRETS_DIR: host.path("none") };
    dependencies.collector = (await statusDependencies(host, nothing)).collector;
    const { collector: _, ...others } = await said();
    expect(Object.values(others).map(([status]) => status)).toEqual(
      Object.values(others).map(() => "not_set_up"),
    );
    expect(dependencies.collector).toMatchObject({ status: "found", isSetUp: false });
  });

  test("calls a webhook well whose admin port is off, as long as its port is open", async () => {
    dependencies.env = { ...dependencies.env, WEBHOOK_ADMIN_PORT: "0" };
    const off = "port 9300 is open; its admin port is off, so the service is not called";
    expect((await said()).webhook).toEqual(["ok", off, null]);
    host.put("proc/tcp", "  sl  local_address rem_address   st\n");
    expect((await said()).webhook).toEqual([
      ...["attention", "the service does not answer (WEBHOOK_NOT_ANSWERING)"],
      doctorOf("webhook"),
    ]);
    dependencies.env = { ...dependencies.env, WEBHOOK_PORT: "9400" };
    host.put("proc/tcp", "   0: 00000000:24B8 00000000:0000 0A 0\n");
    expect((await said()).webhook?.[1]).toStartWith("port 9400 is open");
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
      // Stopped, or started over and over: doctor says which.
      webhook: ["attention", "the service does not answer (WEBHOOK_NOT_ANSWERING)", doctorOf("webhook")],
      collector: ["attention", "it has not run yet (LAST_RUN_MISSING)", doctorOf("collect-metrics")],
      "socket-monitor": ["attention", "it has not run yet (LAST_RUN_MISSING)", doctorOf("socket-monitor")],
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
      ...["attention", "its settings cannot be read (ENV_FILE_INVALID)"],
      doctorOf("socket-monitor"),
    ]);
    expect([parts.webhook![0], parts.collector![0]]).toEqual(["ok", "ok"]);
  });

  test("names a database that is not migrated", async () => {
    await host.db.sql`drop function public.weekly_performance_week cascade`;
    expect((await said()).weekly).toEqual([
      ...["attention", "the database is not migrated (DATABASE_NOT_MIGRATED)"],
      asRoot("migrate"),
    ]);
  });

  test("does not ask for migrations where a table of the application is missing", async () => {
    await host.db.sql`alter table public.users rename to people`;
    expect((await said()).weekly).toEqual([
      ...["attention", "the database cannot be read (DATABASE_OBJECT_MISSING)"],
      doctorOf("weekly"),
    ]);
  });

  test("ends although database, service and disk hang, and says which did not answer in time", async () => {
    const database = await startSilentPeer();
    host.put("secrets/DATABASE_URL", `postgres://u:p@127.0.0.1:${database.port}/app`);
    for (const route of Object.values(host.service.routes)) route.script = () => "hang";
    let asked = 0;
    const { promise, resolve } = Promise.withResolvers<string>();
    dependencies.readTextEnd = () => {
      asked += 1;
      return promise;
    };
    const over = Promise.withResolvers<void>();
    dependencies.wait = () => over.promise;
    const reading = said();
    const areAsked = () => asked >= 4 && database.connections > 0 && host.service.ledger.length >= 2;
    await until("all are asked", areAsked);
    over.resolve();
    const late = "did not answer in time (CHECK_TIMED_OUT)";
    expect(await reading).toEqual({
      weekly: [
        ...[
          "attention",
          "the database did not answer in time (CHECK_TIMED_OUT)",
          "the record of the last run cannot be read: timeout (LAST_RUN_UNREADABLE)",
        ],
        doctorOf("weekly"),
      ],
      webhook: ["attention", late, "journalctl -u opsctl-webhook.service -n 50"],
      collector: ["attention", late, doctorOf("collect-metrics")],
      "socket-monitor": ["attention", late, doctorOf("socket-monitor")],
      "alert-rules": ["attention", late, doctorOf("alert-rules")],
    });
    resolve("");
    await database.stop();
  });

  test("ends a secret command that hangs", async () => {
    host.put("bin/vault", "#!/bin/sh\nexec sleep 600\n", 0o755);
    rmSync(host.path("secrets/DATABASE_URL"));
    dependencies.env = { ...dependencies.env, OPSCTL_SECRETS_COMMAND: host.path("bin/vault") };
    dependencies.secretCommandLimitMs = 50;
    expect((await said()).weekly).toEqual([
      ...["attention", "the database cannot be read (SECRET_COMMAND_FAILED)"],
      doctorOf("weekly"),
    ]);
  });

  test("says to an account that may not look as whom to run it", async () => {
    const closed = Object.assign(new Error(), { code: "EACCES" });
    dependencies = { ...dependencies, viewer: "other", readTextEnd: () => Promise.reject(closed) };
    const parts = await said();
    expect(parts["socket-monitor"]).toEqual([
      ...["unknown", "its log cannot be read by this account"],
      asRoot("status"),
    ]);
    expect(parts.collector).toEqual([
      ...["unknown", "the metrics file cannot be read by this account"],
      asRoot("status"),
    ]);
    expect(parts.webhook![0]).toBe("ok");
    expect(isAllWell(await readStatus(dependencies))).toBe(false);
  });

  test("never takes a last success that cannot be read for one that is missing", async () => {
    rmSync(host.path("log/weekly_performance_reports.success"));
    symlinkSync("weekly_performance_reports.success", host.path("log/weekly_performance_reports.success"));
    const week = "week of 2026-11-16: the run is due at 08:00 (São Paulo)";
    expect((await said()).weekly).toEqual([
      ...["attention", week, "the last success cannot be read (ELOOP)"],
      doctorOf("weekly"),
    ]);
  });

  test("takes it for a fault when the service account itself may not read what is its own", async () => {
    dependencies.readTextEnd = () => Promise.reject(Object.assign(new Error(), { code: "EACCES" }));
    expect((await said())["alert-rules"]).toEqual([
      ...["attention", "the result of the last plan cannot be read (EACCES)"],
      doctorOf("alert-rules"),
    ]);
  });

  test.each([
    ["SECRET_FILE_UNREADABLE", "unknown", "by this account", () => asRoot("status")],
    ["SECRET_FILE_EXPOSED", "attention", "(SECRET_FILE_EXPOSED)", () => doctorOf("collect-metrics")],
  ])(
    "distinguishes settings of root's that are closed from settings that are wrong, %s",
    async (code, status, why, next) => {
      dependencies.collector = { status: "unreadable", code };
      dependencies.env = { ...dependencies.env, TEXTFILE_DIR: host.path("none") };
      expect((await said()).collector).toEqual([
        ...[status, `its settings, which say where it writes, cannot be read ${why}`],
        next(),
      ]);
    },
  );

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
