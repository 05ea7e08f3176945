import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync, utimesSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { CommandName, Finding } from "../../lib/doctor/finding.ts";
import { silentLog } from "../../lib/platform/log.ts";
import { Secret } from "../../lib/platform/secret.ts";
import { openPostgresState } from "../../lib/webhook/state-postgres.ts";
import { sharedPostgres } from "../postgres.ts";
import { newLogin } from "../roles.ts";
import { seedOwner } from "../seed.ts";
import { type Host, metricsText, NOW_MS, openHost, treeOf, zoneFile } from "./host.ts";

type Case = {
  command: CommandName;
  check: string;
  status: "pass" | "warn" | "fail";
  reason: string | RegExp;
  mend?: string | RegExp;
  spoil: (host: Host) => unknown;
};

const CASES: Record<string, Case> = {
  "a setting is missing": {
    ...{ command: "weekly", check: "configuration", status: "fail" },
    reason: "APP_BASE_URL is missing; expected the http or https URL",
    mend: /^Set APP_BASE_URL in \/.*\/etc\/weekly\.env$/,
    spoil: (host) => host.setting("weekly", "APP_BASE_URL", null),
  },
  "a secret is missing": {
    ...{ command: "weekly", check: "configuration", status: "fail" },
    reason: "TRIGGER_SECRET is missing",
    mend: /^install -m 0600 -o opsctl \/dev\/stdin \/.*\/secrets\/TRIGGER_SECRET$/,
    spoil: (host) => rmSync(host.path("secrets/TRIGGER_SECRET")),
  },
  "the environment file is open to others": {
    ...{ command: "webhook", check: "environment file", status: "fail" },
    reason: /webhook\.env has mode 0644, open to group or others$/,
    mend: /^chmod 0600 \/.*\/webhook\.env$/,
    spoil: (host) => host.put("etc/webhook.env", "", 0o644),
  },
  "a secret file is open to others": {
    ...{ command: "weekly", check: "secrets", status: "fail" },
    reason: "SECRET_FILE_EXPOSED: file ",
    mend: /^chmod 0600 \/.*\/EMAIL_API_KEY$/,
    spoil: (host) => host.put("secrets/EMAIL_API_KEY", "re_canary_email_3e99", 0o640),
  },
  "the account of the service may not read the secret": {
    ...{ command: "weekly", check: "secrets", status: "fail" },
    reason: /^TRIGGER_SECRET: \/.*TRIGGER_SECRET with mode 0600 of uid \d+, gid \d+ is closed to opsctl$/,
    mend: /^chown opsctl \/.*TRIGGER_SECRET$/,
    spoil: (host) => host.put("passwd", "opsctl:x:4242:4242::/:/bin/false\n"),
  },
  "the alias stands in the environment file": {
    ...{ command: "weekly", check: "secrets", status: "warn" },
    reason: "SOCIAL_EDITORIALS_CRON_SECRET is set in the environment and is not used there",
    mend: "Remove it there, then: install -m 0600",
    spoil: (host) => host.setting("weekly", "SOCIAL_EDITORIALS_CRON_SECRET", "an-alias-of-the-environment"),
  },
  "the alias is missing although editorials are on": {
    ...{ command: "weekly", check: "secrets", status: "fail" },
    reason: "SOCIAL_EDITORIALS_CRON_SECRET_MISSING: ",
    spoil: (host) => host.setting("weekly", "SOCIAL_EDITORIALS_ENABLED", "1"),
  },
  "the alias is the other secret once more": {
    ...{ command: "weekly", check: "secrets", status: "fail" },
    reason: "SOCIAL_EDITORIALS_CRON_SECRET_REUSED: ",
    spoil: (host) => host.put("secrets/SOCIAL_EDITORIALS_CRON_SECRET", "canary-trigger-1c77"),
  },
  "the host has no service account": {
    ...{ command: "weekly", check: "service account", status: "warn" },
    reason: "not checked: there is no account opsctl",
    mend: "useradd --system",
    spoil: (host) => host.put("passwd", "root:x:0:0::/root:/bin/sh\n"),
  },
  "nobody listens where the database should be": {
    ...{ command: "weekly", check: "database", status: "fail" },
    reason: "DATABASE_UNREACHABLE: ",
    mend: "Check host, port and sslmode in DATABASE_URL",
    spoil: (host) => host.put("secrets/DATABASE_URL", "postgres://u:secret-of-the-url@127.0.0.1:1/app"),
  },
  "the clocks are apart": {
    ...{ command: "weekly", check: "database", status: "fail" },
    reason: /^the clocks of database and host are \d+\.\d s apart$/,
    spoil: (host) => {
      host.world.nowMs = () => Date.now() - 90_000;
    },
  },
  "the clocks are a little apart": {
    ...{ command: "weekly", check: "database", status: "warn" },
    reason: /^the clocks of database and host are \d+\.\d s apart$/,
    spoil: (host) => {
      host.world.nowMs = () => Date.now() + 30_000;
    },
  },
  "a migration is pending": {
    ...{ command: "migrate", check: "migrations", status: "warn" },
    reason: "pending: 0004_weekly_performance_reconciliations",
    mend: "opsctl migrate",
    spoil: ({ db }) => db.sql`delete from public.opsctl_migrations where version = 4`,
  },
  "a migration was edited": {
    ...{ command: "migrate", check: "migrations", status: "fail" },
    reason: "applied from another text: 0002_weekly_performance_reports",
    spoil: ({ db }) =>
      db.sql`update public.opsctl_migrations set checksum = repeat('0', 64) where version = 2`,
  },
  "a pending migration keeps the weekly run from starting": {
    ...{ command: "weekly", check: "database schema", status: "fail" },
    reason: "DATABASE_NOT_MIGRATED: not migrated to 0004_weekly_performance_reconciliations",
    mend: "Run opsctl migrate as the owner",
    spoil: ({ db }) => db.sql`delete from public.opsctl_migrations where version = 4`,
  },
  "the login lacks its grants": {
    ...{ command: "deliveries", check: "database schema", status: "fail" },
    reason: "DATABASE_GRANT_MISSING: ",
    mend: /^grant service_role to /,
    spoil: async (host) => {
      const login = await newLogin(host.db.sql);
      host.put("secrets/DATABASE_URL", (await sharedPostgres()).url(host.db.name, login));
    },
  },
  "no sender tenant is set": {
    ...{ command: "weekly", check: "whatsapp sender", status: "fail" },
    reason: "sender_tenant_missing: ",
    mend: "Set WHATSAPP_REPORT_SENDER_TENANT_ID in ",
    spoil: (host) => host.setting("weekly", "WHATSAPP_REPORT_SENDER_TENANT_ID", null),
  },
  "the sender's instance is closed": {
    ...{ command: "weekly", check: "whatsapp sender", status: "fail" },
    reason: "sem_instancia_gateway: ",
    spoil: (host) => host.gateway.instances.set("ops", "close"),
  },
  "the gateway refuses the key": {
    ...{ command: "weekly", check: "messaging gateway", status: "fail" },
    reason: "gateway_unauthorized: ",
    mend: "Correct GATEWAY_ADMIN_KEY",
    spoil: (host) => host.put("secrets/GATEWAY_ADMIN_KEY", "another-key"),
  },
  "the e-mail sender is not verified": {
    ...{ command: "weekly", check: "e-mail sender", status: "fail" },
    reason: "email_sender_domain_unverified: ",
    spoil: ({ db }) =>
      db.sql`update tenant_config set config = jsonb_set(config, '{email,verification_status}', '"pending"')`,
  },
  "the e-mail provider refuses the key": {
    ...{ command: "weekly", check: "e-mail provider", status: "fail" },
    reason: "email_api_key_invalid: ",
    mend: "Correct EMAIL_API_KEY",
    spoil: (host) => host.put("secrets/EMAIL_API_KEY", "re_another_key"),
  },
  "the e-mail provider is out of order": {
    ...{ command: "weekly", check: "e-mail provider", status: "fail" },
    reason: "email_http_500: the provider does not answer as it should",
    spoil: (host) => host.email.routes.domains.next({ status: 500, text: "" }),
  },
  "owners cannot be reached": {
    ...{ command: "weekly", check: "recipients", status: "warn" },
    reason: "3 owners: 1 without a usable phone, 1 without a usable e-mail",
    spoil: async ({ db }) => {
      await seedOwner(db.sql, { phone: "123" });
      await seedOwner(db.sql, { email: null });
    },
  },
  "the application is away": {
    ...{ command: "weekly", check: "application", status: "fail" },
    reason: "no connection to the application: ECONNREFUSED",
    spoil: (host) => host.setting("weekly", "APP_BASE_URL", "http://127.0.0.1:1"),
  },
  "the log directory is missing": {
    ...{ command: "weekly", check: "log directory", status: "fail" },
    reason: /\/gone does not exist$/,
    mend: /^install -d -o opsctl -g opsctl -m 0755 \/.*\/gone$/,
    spoil: (host) => host.setting("weekly", "OPSCTL_LOG_DIR", host.path("gone")),
  },
  "the last success is old": {
    ...{ command: "weekly", check: "last success", status: "fail" },
    reason: "the last full success was 8.1 days ago",
    spoil: ({ path }) => {
      const seconds = NOW_MS / 1000 - 8.1 * 86_400;
      utimesSync(path("log/weekly_performance_reports.success"), seconds, seconds);
    },
  },
  "there was no success yet": {
    ...{ command: "weekly", check: "last success", status: "warn" },
    reason: "no run has ended in full success yet",
    spoil: ({ path }) => rmSync(path("log/weekly_performance_reports.success")),
  },
  "the cron file lacks the line": {
    ...{ command: "weekly", check: "cron", status: "fail" },
    reason: /has no line that starts weekly as it should$/,
    mend: "make install",
    spoil: (host) => host.put("cron", "#0 11 * * 1 opsctl exec /usr/local/bin/opsctl weekly --json\n"),
  },
  "the host is in another zone": {
    ...{ command: "weekly", check: "host time zone", status: "warn" },
    reason: "the host is not on UTC",
    mend: "timedatectl set-timezone UTC",
    spoil: (host) => host.put("localtime", zoneFile("<-03>3")),
  },
  "the key sees several instances": {
    ...{ command: "webhook", check: "messaging gateway", status: "fail" },
    reason: "gateway_instances_ambiguous: ",
    mend: "Set MESSAGING_INSTANCE",
    spoil: (host) => host.setting("webhook", "MESSAGING_API_KEY", "canary-gateway-2d88"),
  },
  "the tracker has no such team": {
    ...{ command: "webhook", check: "issue tracker", status: "fail" },
    reason: "tracker_team_missing: ",
    mend: "Correct ISSUE_TRACKER_TEAM_ID",
    spoil: (host) => host.setting("webhook", "ISSUE_TRACKER_TEAM_ID", "11111111-5d47-4a90-8c1e-0e1f2a3b4c5d"),
  },
  "the tracker refuses the token": {
    ...{ command: "webhook", check: "issue tracker", status: "fail" },
    reason: "tracker_unauthorized: ",
    mend: "Correct ISSUE_TRACKER_TOKEN",
    spoil: (host) => host.put("secrets/ISSUE_TRACKER_TOKEN", "lin_api_another"),
  },
  "the state directory is not the service's": {
    ...{ command: "webhook", check: "state directory", status: "fail" },
    reason: /\/state with mode 0755 of uid \d+, gid \d+ is closed to opsctl$/,
    mend: /^install -d -o opsctl -g opsctl -m 0700 \/.*\/state$/,
    spoil: (host) => host.put("passwd", "opsctl:x:4242:4242::/:/bin/false\n"),
  },
  "alerts were given up": {
    ...{ command: "webhook", check: "outbox", status: "warn" },
    reason: "3 messages were given up",
    mend: "opsctl webhook dead list",
    spoil: (host) => {
      host.service.health.message = { queued: 1, dead: 3, oldestQueuedAgeSeconds: 4 };
    },
  },
  "alerts wait for long": {
    ...{ command: "webhook", check: "outbox", status: "warn" },
    reason: "2 issues wait, the oldest for 20 min",
    spoil: (host) => {
      host.service.health.issue = { queued: 2, dead: 0, oldestQueuedAgeSeconds: 1200 };
    },
  },
  "the service holds its messages": {
    ...{ command: "webhook", check: "service", status: "fail" },
    reason: "gateway_unauthorized: the service holds its messages",
    spoil: (host) => {
      host.service.health.holds = { message: "gateway_unauthorized", issue: null };
    },
  },
  "the service cannot accept": {
    ...{ command: "webhook", check: "service", status: "fail" },
    reason: "the service runs and cannot accept alerts",
    spoil: (host) => {
      host.service.routes.ready.script = () => ({ status: 503, json: {} });
    },
  },
  "the service does not run": {
    ...{ command: "webhook", check: "service", status: "warn" },
    reason: "the service does not answer on 127.0.0.1:1",
    mend: "systemctl start",
    spoil: (host) => {
      host.world.adminUrl = new URL("http://127.0.0.1:1");
    },
  },
  "nothing listens": {
    ...{ command: "webhook", check: "port", status: "warn" },
    reason: "nothing listens on port 9300",
    // Connected, not listening.
    spoil: (host) => host.put("proc/tcp", "   0: 00000000:2454 0100007F:9999 01\n"),
  },
  "a unit is not installed": {
    ...{ command: "webhook", check: "unit", status: "fail" },
    reason: "opsctl-webhook.socket is not installed",
    spoil: ({ path }) => rmSync(path("units/opsctl-webhook.socket")),
  },
  "a unit is not enabled": {
    ...{ command: "webhook", check: "unit", status: "warn" },
    reason: "opsctl-webhook.service is disabled",
    mend: "systemctl enable opsctl-webhook.service",
    spoil: (host) => {
      host.world.runProgram = async (_program, [question]) =>
        question === "is-enabled" ? { status: 1, stdout: "disabled\n" } : { status: 0, stdout: "active\n" };
    },
  },
  "the host has no systemd": {
    ...{ command: "webhook", check: "unit", status: "warn" },
    reason: "not checked: this host has no systemctl",
    spoil: (host) => {
      host.world.runProgram = async () => null;
    },
  },
  "the agent cannot enter the text-file directory": {
    ...{ command: "collect-metrics", check: "text-file directory", status: "fail" },
    reason: /\/etc\/closed does not exist$/,
    mend: /^install -d -m 0755 /,
    spoil: (host) => host.setting("collect-metrics", "TEXTFILE_DIR", host.path("etc/closed")),
  },
  "the agent cannot read the metrics": {
    ...{ command: "collect-metrics", check: "metrics file", status: "fail" },
    reason: /custom_metrics\.prom has mode 0600, closed to the monitoring agent$/,
    mend: /^chmod 0644 /,
    spoil: (host) => host.put("textfile/custom_metrics.prom", metricsText(NOW_MS / 1000), 0o600),
  },
  "the collector has stopped": {
    ...{ command: "collect-metrics", check: "metrics file", status: "fail" },
    reason: "the last run was 181 s ago",
    spoil: (host) => host.put("textfile/custom_metrics.prom", metricsText(NOW_MS / 1000 - 181), 0o644),
  },
  "a source failed in the last run": {
    ...{ command: "collect-metrics", check: "metrics file", status: "warn" },
    reason: "the last run could not read its source proxy_memory",
    spoil: (host) => host.put("textfile/custom_metrics.prom", metricsText(NOW_MS / 1000, 0), 0o644),
  },
  "the container does not run": {
    ...{ command: "collect-metrics", check: "container", status: "fail" },
    reason: "docker_container_missing: ",
    mend: "Correct PROXY_CONTAINER",
    spoil: (host) => host.engine.containers.clear(),
  },
  "the hosting token is missing": {
    ...{ command: "collect-metrics", check: "hosting provider", status: "fail" },
    reason: "no layer has HOSTING_TOKEN",
    mend: /^install -m 0600 -o root \/dev\/stdin \/.*\/secrets\/HOSTING_TOKEN$/,
    spoil: ({ path }) => rmSync(path("secrets/HOSTING_TOKEN")),
  },
  "the hosting provider refuses the token": {
    ...{ command: "collect-metrics", check: "hosting provider", status: "fail" },
    reason: "hosting_http_403: ",
    spoil: (host) => host.put("secrets/HOSTING_TOKEN", "another-token"),
  },
  "the token sees an empty account": {
    ...{ command: "collect-metrics", check: "hosting provider", status: "fail" },
    reason: "hosting_no_projects: ",
    mend: "Set HOSTING_TEAM_ID",
    spoil: ({ hosting }) => {
      hosting.projects.length = 0;
    },
  },
  "ss fails": {
    ...{ command: "socket-monitor", check: "socket table", status: "fail" },
    reason: "Cannot list the sockets: ss ended with status 1",
    mend: "apt-get install iproute2",
    spoil: (host) => host.put("bin/ss", "#!/bin/sh\nexit 1\n", 0o755),
  },
  "the webhook's file is open to others": {
    ...{ command: "socket-monitor", check: "webhook's environment file", status: "fail" },
    reason: /webhook\.env has mode 0604, open to group or others$/,
    spoil: (host) => host.put("etc/webhook.env", "", 0o604),
  },
  "the socket monitor has stopped": {
    ...{ command: "socket-monitor", check: "last run", status: "warn" },
    reason: /socket_monitor\.log is 1200 s old$/,
    spoil: (host) => {
      const time = new Date(NOW_MS - 1_200_000).toISOString();
      host.put(
        "log/socket_monitor.log",
        `{"time":"${new Date(0).toISOString()}"}\n{"time":"${time}","total":1}\n`,
      );
    },
  },
  "the folder is missing": {
    ...{ command: "alert-rules", check: "folder", status: "fail" },
    reason: "the platform has no folder other",
    mend: "Create it, or correct MONITORING_FOLDER_UID",
    spoil: (host) => host.setting("alert-rules", "MONITORING_FOLDER_UID", "other"),
  },
  "a data source is missing": {
    ...{ command: "alert-rules", check: "metrics data source", status: "fail" },
    reason: "the platform has no data source other",
    mend: "Correct MONITORING_PROMETHEUS_UID",
    spoil: (host) => host.setting("alert-rules", "MONITORING_PROMETHEUS_UID", "other"),
  },
  "the data sources are exchanged": {
    ...{ command: "alert-rules", check: "logs data source", status: "warn" },
    reason: "data source prom is not of type loki",
    spoil: (host) => host.setting("alert-rules", "MONITORING_LOKI_UID", "prom"),
  },
  "the token may not read data sources": {
    ...{ command: "alert-rules", check: "logs data source", status: "warn" },
    reason: "not checked: the token may not read data sources",
    spoil: (host) => {
      host.monitoring.routes.dataSource.script = () => ({ status: 403, json: { message: "Forbidden" } });
    },
  },
  "the platform refuses the token": {
    ...{ command: "alert-rules", check: "rules", status: "fail" },
    reason: /^monitoring_http_401: the platform refuses the token$/,
    mend: "Correct MONITORING_TOKEN",
    spoil: (host) => host.put("secrets/MONITORING_TOKEN", "another-token"),
  },
};

describe("runDoctor() finds that", () => {
  test.each(Object.entries(CASES))("%s", async (_what, { command, check, status, reason, mend, spoil }) => {
    await using host = await openHost();
    host.world.limitMs = 20_000;
    await spoil(host);
    const findings = await host.examine(command);
    const matching = findings.filter((one) => one.check === check && matches(one.reason, reason));
    if (matching.length !== 1) expect(ofCheck(findings, check)).toEqual([{ status, reason } as never]);
    expect(matching[0]).toMatchObject({ command, status });
    if (mend !== undefined) expect(matches(matching[0]!.mend ?? "", mend)).toBe(true);
    expect(JSON.stringify(findings)).not.toMatch(/canary|CANARY|secret-of-the-url|an-alias-of/);
  });
});

function matches(text: string, expected: string | RegExp): boolean {
  return typeof expected === "string" ? text.startsWith(expected) : expected.test(text);
}

function ofCheck(findings: readonly Finding[], check: string) {
  return findings.filter((one) => one.check === check).map(({ status, reason }) => ({ status, reason }));
}

describe("runDoctor() looks into a state file", () => {
  let host: Host;
  beforeAll(async () => {
    host = await openHost();
    host.world.adminUrl = new URL("http://127.0.0.1:1");
  });
  afterAll(async () => await host[Symbol.asyncDispose]());

  const outbox = async () => ofCheck(await host.examine("webhook"), "outbox");

  test("that nobody has open, and leaves nothing beside it", async () => {
    const before = treeOf(host.path("state"));
    expect(await outbox()).toEqual([
      { status: "pass", reason: `${host.path("state/state.db")} can be read` },
      { status: "pass", reason: "0 messages wait, none was given up" },
      { status: "pass", reason: "0 issues wait, none was given up" },
    ]);
    expect(treeOf(host.path("state"))).toEqual(before);
  });

  test("but not while a write-ahead log stands beside it", async () => {
    using db = new DatabaseSync(host.path("state/state.db"));
    db.exec("create table more (x); insert into more values (1)");
    const before = treeOf(host.path("state"));
    expect(await outbox()).toEqual([
      { status: "warn", reason: expect.stringMatching(/^not checked: .* has a write-ahead log/) },
    ]);
    expect(treeOf(host.path("state"))).toEqual(before);
  });

  test("that is damaged, and leaves it to the service", async () => {
    host.put("state/state.db", "no database at all, but long enough to look like one".repeat(40));
    expect(await outbox()).toEqual([
      { status: "fail", reason: expect.stringContaining("state.db cannot be read: file is not a database") },
    ]);
  });

  test("that is not there", async () => {
    rmSync(host.path("state/state.db"));
    expect(await outbox()).toEqual([
      { status: "warn", reason: expect.stringContaining("state.db does not exist yet") },
    ]);
  });
});

describe("runDoctor() looks into a shared state", () => {
  test("that does not exist yet, and does not make it; then into one that does", async () => {
    await using host = await openHost();
    host.world.adminUrl = new URL("http://127.0.0.1:1");
    host.put("secrets/OPSCTL_STATE_URL", host.db.url);
    const outbox = async () => ofCheck(await host.examine("webhook"), "outbox");
    expect(await outbox()).toEqual([
      { status: "warn", reason: "the shared database has no state yet: the service makes it at its start" },
    ]);
    expect(await host.db.sql`select 1 from pg_namespace where nspname = 'opsctl_state'`).toHaveLength(0);

    const url = new Secret(host.db.url);
    await (await openPostgresState({ url, log: silentLog, applicationName: "test" })).close();
    expect(await outbox()).toEqual([
      { status: "pass", reason: "0 messages wait, none was given up" },
      { status: "pass", reason: "0 issues wait, none was given up" },
    ]);
  });
});
