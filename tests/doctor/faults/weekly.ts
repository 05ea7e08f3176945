import { mkdirSync, rmSync, utimesSync } from "node:fs";
import { LAST_RUN_FILE } from "../../../lib/last-run/file-name.ts";
import { lastRun } from "../../status/support/run.ts";
import { seedOwner, setClock } from "../../support/seed.ts";
import { type Host, NOW_MS, zoneFile } from "../support/host.ts";
import type { Fault, Faults } from "./fault.ts";

/** The last run of this host left this. */
function leftBehind(host: Host, changes: object): void {
  host.put(`log/${LAST_RUN_FILE}`, JSON.stringify(lastRun(changes).run), 0o644);
}

/** The last success is two weeks old by `now`; of the week of the run that failed since, nothing is open any more. */
async function settleWeek(host: Host, now: string): Promise<void> {
  const nowMs = Date.parse(now);
  host.dependencies.nowMs = () => nowMs;
  await setClock(host.db.sql, now);
  const seconds = nowMs / 1000 - 14 * 86_400;
  utimesSync(host.path("log/weekly_performance_reports.success"), seconds, seconds);
  leftBehind(host, { status: "failed", error: { code: "APP_HTTP_401" } });
  // Whom no run has reported on, the ledger would call missing.
  await host.db.sql`update credit_wallets set status = 'closed'`;
}

/** Faults that doctor finds of the weekly run. */
export const WEEKLY: Faults = {
  "the database on another host has no TLS, which is needed since an update": {
    finds: ["weekly", "database", "fail", "DATABASE_UNREACHABLE"],
    about: "unless DATABASE_URL says otherwise",
    spoil: (host) => host.put("secrets/DATABASE_URL", host.db.url.replace("127.0.0.1", "0.0.0.0")),
  },
  ...Object.fromEntries(
    ["database schema", "whatsapp sender", "e-mail sender", "recipients", "status"].map((check) => [
      `the database cannot be opened, which the check "${check}" leaves to the check "database"`,
      {
        finds: ["weekly", check, "warn", "PREREQUISITE_FAILED"],
        about: "see database",
        spoil: (host) => host.put("secrets/DATABASE_URL", `${host.db.url}_of_nobody`),
      } satisfies Fault,
    ]),
  ),
  "no sender tenant is set, nor is another setting": {
    finds: ["weekly", "whatsapp sender", "fail", "sender_tenant_missing"],
    spoil(host) {
      host.setting("weekly", "WHATSAPP_REPORT_SENDER_TENANT_ID", null);
      host.setting("weekly", "APP_BASE_URL", null);
    },
  },
  "no sender tenant is set for the e-mails, nor is another setting": {
    finds: ["weekly", "e-mail sender", "fail", "email_sender_tenant_missing"],
    spoil(host) {
      host.setting("weekly", "WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID", null);
      host.setting("weekly", "APP_BASE_URL", null);
    },
  },
  "the sender tenant has no instance": {
    finds: ["weekly", "whatsapp sender", "fail", "sem_instancia_gateway"],
    about: "WHATSAPP_REPORT_SENDER_TENANT_ID",
    spoil: ({ db }) => db.sql`delete from messaging_instances`,
  },
  "the gateway refuses the key": {
    finds: ["weekly", "messaging gateway", "fail", "gateway_unauthorized"],
    about: "opsctl secret set GATEWAY_ADMIN_KEY",
    spoil: (host) => host.put("secrets/GATEWAY_ADMIN_KEY", "another-key"),
  },
  "the e-mail provider refuses the key": {
    finds: ["weekly", "e-mail provider", "fail", "email_api_key_invalid"],
    about: "opsctl secret set EMAIL_API_KEY",
    spoil: (host) => host.put("secrets/EMAIL_API_KEY", "re_another_key"),
  },
  "owners cannot be reached": {
    finds: ["weekly", "recipients", "warn", "RECIPIENTS_UNUSABLE"],
    about: "3 owners: 1 without a usable phone, 1 without a usable e-mail",
    spoil: async ({ db }) => {
      await seedOwner(db.sql, { phone: "123" });
      await seedOwner(db.sql, { email: null });
    },
  },
  "no owner is eligible": {
    finds: ["weekly", "recipients", "warn", "NO_OWNERS"],
    spoil: ({ db }) => db.sql`update credit_wallets set status = 'closed'`,
  },
  "nothing is wrong: the routes of the application are not called": {
    finds: ["weekly", "application", "warn", "CHECK_HAS_EFFECTS"],
    spoil: () => {},
  },
  "a secret holds what no request can carry": {
    finds: ["weekly", "configuration", "fail", "CONFIG_INVALID"],
    about: "TRIGGER_SECRET",
    spoil: (host) => host.put("secrets/TRIGGER_SECRET", "canary-\u2713"),
  },
  "the log directory is missing": {
    finds: ["weekly", "log directory", "fail", "DIRECTORY_MISSING"],
    about: "Make it a directory of opsctl with mode 0750",
    spoil: (host) => host.setting("weekly", "OPSCTL_LOG_DIR", host.path("gone")),
  },
  "a directory stands where the heartbeat belongs": {
    finds: ["weekly", "log directory", "fail", "HEARTBEAT_UNWRITABLE"],
    spoil: ({ path }) => {
      rmSync(path("log/weekly_performance_reports.success"));
      mkdirSync(path("log/weekly_performance_reports.success"));
    },
  },
  "the last success is old": {
    finds: ["weekly", "status", "fail", "HEARTBEAT_STALE"],
    spoil: ({ path }) => {
      const seconds = NOW_MS / 1000 - 8.1 * 86_400;
      utimesSync(path("log/weekly_performance_reports.success"), seconds, seconds);
    },
  },
  "the last success is old, and its week was settled today": {
    finds: ["weekly", "status", "warn", "HEARTBEAT_STALE"],
    about: "another run today renews the last success",
    spoil: (host) => settleWeek(host, "2026-11-23T12:00:00Z"),
  },
  "the last success is old, and the run that renews it is due at 08:00": {
    finds: ["weekly", "status", "warn", "HEARTBEAT_STALE"],
    about: "the next run on a Monday renews it",
    spoil: (host) => settleWeek(host, "2026-11-30T11:14:00Z"),
  },
  "the last success is old, and the run that renews it is late": {
    finds: ["weekly", "status", "fail", "HEARTBEAT_STALE"],
    about: "See the end of /var/log/opsctl/weekly.log",
    spoil: (host) => settleWeek(host, "2026-11-30T11:15:00Z"),
  },
  "the last success is old, and its week was settled the day after": {
    finds: ["weekly", "status", "warn", "HEARTBEAT_STALE"],
    about: "the next run on a Monday renews it",
    spoil: (host) => settleWeek(host, "2026-11-24T12:00:00Z"),
  },
  "the last success is to come": {
    finds: ["weekly", "status", "warn", "CLOCK_WRONG"],
    spoil: ({ path }) => {
      const seconds = NOW_MS / 1000 + 2 * 86_400;
      utimesSync(path("log/weekly_performance_reports.success"), seconds, seconds);
    },
  },
  "the last run failed": {
    finds: ["weekly", "status", "fail", "LAST_RUN_FAILED"],
    about: "APP_HTTP_401",
    spoil: (host) => leftBehind(host, { status: "failed", error: { code: "APP_HTTP_401" } }),
  },
  "a run waits for the database": {
    finds: ["weekly", "status", "warn", "RUN_WAITING"],
    about: "DATABASE_UNREACHABLE",
    spoil: (host) => {
      const code = "DATABASE_UNREACHABLE";
      const waiting = {
        waitsFor: "database",
        code,
        since: "2026-11-23T12:00:00Z",
        until: "2026-11-23T13:00:00Z",
      };
      leftBehind(host, { status: "running", waiting });
    },
  },
  "the record of the last run holds something else": {
    finds: ["weekly", "status", "fail", "LAST_RUN_MALFORMED"],
    spoil: (host) => host.put(`log/${LAST_RUN_FILE}`, "[]", 0o644),
  },
  "a directory stands in the place of the record of the last run": {
    finds: ["weekly", "status", "fail", "LAST_RUN_UNREADABLE"],
    spoil: ({ path }) => mkdirSync(path(`log/${LAST_RUN_FILE}`)),
  },
  "no run has begun with the week": {
    finds: ["weekly", "status", "warn", "WEEK_NOT_RUN"],
    spoil: ({ db }) => setClock(db.sql, "2026-11-23T12:00:00Z"),
  },
  "the cron file lacks the line": {
    finds: ["weekly", "cron", "fail", "CRON_MISSING"],
    about: "Correct it",
    spoil: (host) => host.put("cron", "#0 11 * * 1 opsctl exec /usr/local/bin/opsctl weekly --json\n"),
  },
  "the cron file starts only a dry run": {
    finds: ["weekly", "cron", "fail", "CRON_MISSING"],
    spoil: (host) => host.put("cron", "0 11 * * 1 opsctl /usr/local/bin/opsctl weekly --dry-run --json\n"),
  },
  "the cron line has another time": {
    finds: ["weekly", "cron", "fail", "CRON_DIFFERS"],
    about: 'at "30 11 * * 1" as opsctl, expected "0 11 * * 1" as opsctl',
    spoil: (host) => host.put("cron", "30 11 * * 1 opsctl /usr/local/bin/opsctl weekly --json\n"),
  },
  "the cron line has another account": {
    finds: ["weekly", "cron", "fail", "CRON_DIFFERS"],
    about: 'as root, expected "0 11 * * 1" as opsctl',
    spoil: (host) => host.put("cron", "0 11 * * 1 root /usr/local/bin/opsctl weekly --json\n"),
  },
  ...Object.fromEntries(
    [
      "0 11 * * MON opsctl /usr/local/bin/opsctl weekly --json",
      "00 11 * jan-dec Mon\topsctl exec /usr/local/bin/opsctl weekly --concurrency 4 --json",
    ].map((line) => [
      `the same schedule in another spelling is no fault: ${line.slice(0, 20)}`,
      {
        finds: ["weekly", "cron", "pass", null],
        spoil: (host) => host.put("cron", `${line}\n`),
      } satisfies Fault,
    ]),
  ),
  "cron starts the socket monitor more often": {
    finds: ["socket-monitor", "cron", "pass", null],
    spoil: (host) => host.put("cron", "*/2 * * * * opsctl /usr/local/bin/opsctl socket-monitor\n"),
  },
  "cron starts the socket monitor too seldom": {
    finds: ["socket-monitor", "cron", "fail", "CRON_DIFFERS"],
    spoil: (host) => host.put("cron", "*/7 * * * * opsctl /usr/local/bin/opsctl socket-monitor\n"),
  },
  "no run begins before a person decides about a ledger that went back": {
    finds: ["weekly", "status", "fail", "LAST_RUN_FAILED"],
    about: "opsctl explain LEDGER_WENT_BACK",
    spoil: async (host) => {
      await setClock(host.db.sql, "2026-11-23T12:00:00Z");
      leftBehind(host, {
        ...{ status: "not_ready", error: { code: "LEDGER_WENT_BACK" }, window: null, begunAt: null },
        ...{ retryableUntil: null, refusedAt: "2026-11-23T11:30:00Z" },
      });
    },
  },
  "the cron file is missing": {
    finds: ["weekly", "cron", "warn", "CRON_MISSING"],
    spoil: ({ path }) => rmSync(path("cron")),
  },
  "a directory stands in the place of the cron file": {
    finds: ["weekly", "cron", "fail", "CRON_MISSING"],
    about: "(EISDIR)",
    spoil: ({ path }) => {
      rmSync(path("cron"));
      mkdirSync(path("cron"));
    },
  },
  "the host is in another zone": {
    finds: ["weekly", "host time zone", "warn", "TIME_ZONE_NOT_UTC"],
    spoil: (host) => host.put("localtime", zoneFile("<-03>3")),
  },
};
