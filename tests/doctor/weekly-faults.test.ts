import { describe } from "bun:test";
import { mkdirSync, rmSync, utimesSync } from "node:fs";
import { LAST_RUN_FILE } from "../../lib/last-run/file-name.ts";
import { lastRun } from "../status/support/run.ts";
import { seedOwner } from "../support/seed.ts";
import { testFaults } from "./support/fault.ts";
import { gatewayDown } from "./support/gateway-down.ts";
import { type Host, NOW_MS, zoneFile } from "./support/host.ts";

/** The last success is two weeks old by `now`; of the week of the run that failed since, nothing is open any more. */
async function settleWeek(host: Host, now: string): Promise<void> {
  const nowMs = Date.parse(now);
  host.dependencies.nowMs = () => nowMs;
  const seconds = nowMs / 1000 - 14 * 86_400;
  utimesSync(host.path("log/weekly_performance_reports.success"), seconds, seconds);
  const { run } = lastRun({ status: "failed", error: { code: "APP_HTTP_401" } });
  host.put(`log/${LAST_RUN_FILE}`, JSON.stringify(run), 0o644);
  // Whom no run has reported on, the ledger would call missing.
  await host.db.sql`update credit_wallets set status = 'closed'`;
}

describe("runDoctor() finds of the weekly run that", () => {
  testFaults({
    "the database on another host has no TLS, which is needed since an update": {
      ...{ command: "weekly", check: "database", status: "fail" },
      reason:
        "DATABASE_UNREACHABLE: the connection failed with TLS_REFUSED because the server does not offer TLS",
      mend: /unless DATABASE_URL says otherwise: .*sslrootcert.*sslmode=disable/,
      spoil: (host) => host.put("secrets/DATABASE_URL", host.db.url.replace("127.0.0.1", "0.0.0.0")),
    },
    ...Object.fromEntries(
      ["database schema", "whatsapp sender", "e-mail sender", "recipients", "last week"].map((check) => [
        `the database cannot be opened, which the check "${check}" leaves to the check "database"`,
        {
          ...({ command: "weekly", check, status: "warn" } as const),
          reason: "not checked: the database cannot be opened, see database",
          spoil: (host: Host) => host.put("secrets/DATABASE_URL", `${host.db.url}_of_nobody`),
        },
      ]),
    ),
    "no sender tenant is set": {
      ...{ command: "weekly", check: "whatsapp sender", status: "fail" },
      reason: "sender_tenant_missing: ",
      mend: "Set WHATSAPP_REPORT_SENDER_TENANT_ID in ",
      spoil: (host) => host.setting("weekly", "WHATSAPP_REPORT_SENDER_TENANT_ID", null),
    },
    "no sender tenant is set, nor is another setting": {
      ...{ command: "weekly", check: "whatsapp sender", status: "fail" },
      reason: "sender_tenant_missing: ",
      mend: "Set WHATSAPP_REPORT_SENDER_TENANT_ID in ",
      spoil(host) {
        host.setting("weekly", "WHATSAPP_REPORT_SENDER_TENANT_ID", null);
        host.setting("weekly", "APP_BASE_URL", null);
      },
    },
    "no sender tenant is set for the e-mails, nor is another setting": {
      ...{ command: "weekly", check: "e-mail sender", status: "fail" },
      reason: "email_sender_tenant_missing: ",
      mend: "Set WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID in ",
      spoil(host) {
        host.setting("weekly", "WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID", null);
        host.setting("weekly", "APP_BASE_URL", null);
      },
    },
    "the sender's instance is closed": {
      ...{ command: "weekly", check: "whatsapp sender", status: "fail" },
      reason: "sem_instancia_gateway: the instance is not connected to its phone",
      mend: "Wait a minute and look again; if it stays so, pair the sending phone",
      spoil: (host) => host.gateway.instances.set("ops", "close"),
    },
    "the sender's instance waits for its QR code": {
      ...{ command: "weekly", check: "whatsapp sender", status: "fail" },
      reason: "sem_instancia_gateway: the instance is connecting",
      mend: "Wait a minute",
      spoil: (host) => host.gateway.instances.set("ops", "connecting"),
    },
    "the sender's instance is not loaded": {
      ...{ command: "weekly", check: "whatsapp sender", status: "fail" },
      reason: "sem_instancia_gateway: the gateway has the instance in its database",
      mend: "Restart the gateway",
      spoil: (host) => host.gateway.instances.set("ops", null),
    },
    "the sender's instance is gone": {
      ...{ command: "weekly", check: "whatsapp sender", status: "fail" },
      reason: "sem_instancia_gateway: the gateway has no instance of that name",
      mend: "Create the instance",
      spoil: (host) => host.gateway.instances.delete("ops"),
    },
    "the sender tenant has no instance": {
      ...{ command: "weekly", check: "whatsapp sender", status: "fail" },
      reason: "sem_instancia_gateway: the sender tenant has no messaging instance",
      mend: "Connect an instance to the tenant of WHATSAPP_REPORT_SENDER_TENANT_ID",
      spoil: ({ db }) => db.sql`delete from messaging_instances`,
    },
    "the gateway has no licence": {
      ...{ command: "weekly", check: "messaging gateway", status: "fail" },
      reason: "gateway_license_required: the gateway has no active licence",
      mend: "Activate the gateway's licence",
      spoil: (host) => {
        host.gateway.isLicensed = false;
      },
    },
    "the sender cannot be looked at without a licence": {
      ...{ command: "weekly", check: "whatsapp sender", status: "fail" },
      reason: "gateway_license_required: ",
      mend: "Activate the gateway's licence",
      spoil: (host) => {
        host.gateway.isLicensed = false;
      },
    },
    ...gatewayDown(
      "weekly",
      "GATEWAY_URL",
      "whatsapp sender",
      "sem_instancia_gateway",
      "gateway_unreachable",
    ),
    "the gateway refuses the key": {
      ...{ command: "weekly", check: "messaging gateway", status: "fail" },
      reason: "gateway_unauthorized: ",
      mend: /^Correct GATEWAY_ADMIN_KEY in \/.*\/secrets\/GATEWAY_ADMIN_KEY$/,
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
      mend: /^Correct EMAIL_API_KEY in \/.*\/secrets\/EMAIL_API_KEY$/,
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
      reason: "APP_UNREACHABLE: nothing answers at APP_BASE_URL",
      mend: "Check APP_BASE_URL",
      spoil: (host) => host.setting("weekly", "APP_BASE_URL", "http://127.0.0.1:1"),
    },
    "the application answers with an error, which is an answer": {
      ...{ command: "weekly", check: "application", status: "pass" },
      reason: "the application answers",
      spoil: (host) => host.application.routes.home.next({ status: 503, text: "<html>" }),
    },
    "a secret holds what no request can carry": {
      ...{ command: "weekly", check: "configuration", status: "fail" },
      reason: "TRIGGER_SECRET holds a character that a header cannot carry",
      spoil: (host) => host.put("secrets/TRIGGER_SECRET", "canary-\u2713"),
    },
    "the log directory is missing": {
      ...{ command: "weekly", check: "log directory", status: "fail" },
      reason: /\/gone does not exist$/,
      mend: /^install -d -o opsctl -g opsctl -m 0755 \/.*\/gone$/,
      spoil: (host) => host.setting("weekly", "OPSCTL_LOG_DIR", host.path("gone")),
    },
    "a directory stands where the heartbeat belongs": {
      ...{ command: "weekly", check: "log directory", status: "fail" },
      reason: /^HEARTBEAT_UNWRITABLE: the success heartbeat cannot be written in .*log \(EISDIR\)$/,
      spoil: ({ path }) => {
        rmSync(path("log/weekly_performance_reports.success"));
        mkdirSync(path("log/weekly_performance_reports.success"));
      },
    },
    "the last success is old": {
      ...{ command: "weekly", check: "last success", status: "fail" },
      reason: "the last full success was 8.1 days ago",
      spoil: ({ path }) => {
        const seconds = NOW_MS / 1000 - 8.1 * 86_400;
        utimesSync(path("log/weekly_performance_reports.success"), seconds, seconds);
      },
    },
    "the last success is old, and its week was settled today": {
      ...{ command: "weekly", check: "last success", status: "fail" },
      reason: "the last full success was 14.0 days ago; nothing is open, another run today renews it",
      mend: /^opsctl weekly$/,
      spoil: (host) => settleWeek(host, "2026-11-23T12:00:00Z"),
    },
    "the last success is old, and the run that renews it is due at 08:00": {
      ...{ command: "weekly", check: "last success", status: "warn" },
      reason: /ago; the week since then is settled, the next run on a Monday renews it$/,
      mend: "The run of a Monday makes it; ",
      spoil: (host) => settleWeek(host, "2026-11-30T11:14:00Z"),
    },
    "the last success is old, and its week was settled the day after": {
      ...{ command: "weekly", check: "last success", status: "warn" },
      reason: /ago; the week since then is settled, the next run on a Monday renews it$/,
      mend: "The run of a Monday makes it; ",
      spoil: (host) => settleWeek(host, "2026-11-24T12:00:00Z"),
    },
    "the last success is to come": {
      ...{ command: "weekly", check: "last success", status: "warn" },
      reason: "the last full success is said to be 2.0 days to come: a clock was wrong",
      mend: "timedatectl set-ntp true",
      spoil: ({ path }) => {
        const seconds = NOW_MS / 1000 + 2 * 86_400;
        utimesSync(path("log/weekly_performance_reports.success"), seconds, seconds);
      },
    },
    "there was no success yet": {
      ...{ command: "weekly", check: "last success", status: "warn" },
      reason: "no run has ended in full success yet",
      spoil: ({ path }) => rmSync(path("log/weekly_performance_reports.success")),
    },
    "the file of the last success is gone": {
      ...{ command: "weekly", check: "last success", status: "warn" },
      reason: /reports\.success is gone, which the last success has left; another run today writes it again$/,
      mend: /^opsctl weekly$/,
      spoil: (host) => {
        host.put(`log/${LAST_RUN_FILE}`, JSON.stringify(lastRun({ heartbeat: "written" }).run), 0o644);
        rmSync(host.path("log/weekly_performance_reports.success"));
      },
    },
    "the cron file lacks the line": {
      ...{ command: "weekly", check: "cron", status: "fail" },
      reason: /has no line that starts weekly as it should$/,
      mend: /^Correct that line in \/.*\/cron, or remove the file and have it put back: dpkg --force-confmiss --install /,
      spoil: (host) => host.put("cron", "#0 11 * * 1 opsctl exec /usr/local/bin/opsctl weekly --json\n"),
    },
    "the cron file is missing": {
      ...{ command: "weekly", check: "cron", status: "warn" },
      reason: /does not exist: nothing starts weekly$/,
      mend: "dpkg --force-confmiss --install opsctl_<version>_<architecture>.deb, or in a clone: make install",
      spoil: ({ path }) => rmSync(path("cron")),
    },
    "the host is in another zone": {
      ...{ command: "weekly", check: "host time zone", status: "warn" },
      reason: "the host is not on UTC",
      mend: "timedatectl set-timezone UTC",
      spoil: (host) => host.put("localtime", zoneFile("<-03>3")),
    },
  });
});
