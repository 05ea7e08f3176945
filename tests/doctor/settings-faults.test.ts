import { describe } from "bun:test";
import { appendFileSync, chmodSync, mkdirSync, rmSync, statSync } from "node:fs";
import { linesOf, serviceAccountIn } from "../../lib/platform/account/service-account.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { newLogin } from "../support/roles.ts";
import { testFaults } from "./support/fault.ts";
import type { Host } from "./support/host.ts";

const hundred = (lineOf: (at: number) => string) =>
  Array.from({ length: 100 }, (_, at) => lineOf(at)).join("");

describe("runDoctor() finds of settings, secrets and database that", () => {
  testFaults({
    "a setting is missing": {
      ...{ command: "weekly", check: "configuration", status: "fail" },
      reason: "APP_BASE_URL is missing; expected the http or https URL",
      mend: /^Set APP_BASE_URL in \/.*\/etc\/weekly\.env$/,
      spoil: (host) => host.setting("weekly", "APP_BASE_URL", null),
    },
    "a setting has another form": {
      ...{ command: "weekly", check: "configuration", status: "fail" },
      reason: "WEEKLY_REPORT_UNSUBSCRIBE is neither mailto: nor https; expected mailto: with one address",
      mend: /^Set WEEKLY_REPORT_UNSUBSCRIBE in \/.*\/etc\/weekly\.env$/,
      spoil: (host) => host.setting("weekly", "WEEKLY_REPORT_UNSUBSCRIBE", "sair@mail.example"),
    },
    "the address of the ping has another form": {
      ...{ command: "weekly", check: "configuration", status: "fail" },
      reason: "OPSCTL_PING_URL would send a secret unencrypted; use https",
      mend: /^Set OPSCTL_PING_URL in \/.*\/etc\/weekly\.env$/,
      spoil: (host) => host.setting("weekly", "OPSCTL_PING_URL", "http://checks.example/canary"),
    },
    "a setting has two values": {
      ...{ command: "weekly", check: "environment file", status: "warn" },
      reason: /\/etc\/weekly\.env gives GATEWAY_URL two values, of which the last counts$/,
      mend: /^Remove one of the two in \/.*\/etc\/weekly\.env$/,
      spoil: ({ path }) => appendFileSync(path("etc/weekly.env"), "GATEWAY_URL=http://127.0.0.1:1\n"),
    },
    "a setting's name is misspelt": {
      ...{ command: "weekly", check: "environment file", status: "warn" },
      reason:
        /weekly\.env sets WEEKLY_REPORT_UNSUBSCRIB, which nothing reads; did you mean WEEKLY_REPORT_UNSUBSCRIBE\?$/,
      mend: /^Rename WEEKLY_REPORT_UNSUBSCRIB, or take it out: edit \/.*\/etc\/weekly\.env$/,
      spoil: ({ path }) =>
        appendFileSync(path("etc/weekly.env"), "WEEKLY_REPORT_UNSUBSCRIB=mailto:canary@x.io\n"),
    },
    "a setting stands in the file of another command": {
      ...{ command: "weekly", check: "environment file", status: "warn" },
      reason: /weekly\.env sets ALERT_EMAIL_TO, which has no effect there: it is read in webhook\.env$/,
      mend: /^Move ALERT_EMAIL_TO to webhook\.env: edit \//,
      spoil: ({ path }) => appendFileSync(path("etc/weekly.env"), "ALERT_EMAIL_TO=canary@x.io\n"),
    },
    "a file has more names without effect than are told": {
      ...{ command: "weekly", check: "environment file", status: "warn" },
      reason: /\/etc\/weekly\.env sets 80 more that have no effect$/,
      spoil: ({ path }) =>
        appendFileSync(
          path("etc/weekly.env"),
          hundred((at) => `OPSCTL_${at}X=1\n`),
        ),
    },
    "a file gives more names two values than are told": {
      ...{ command: "weekly", check: "environment file", status: "warn" },
      reason: /\/etc\/weekly\.env gives 80 more names two values$/,
      spoil: ({ path }) =>
        appendFileSync(
          path("etc/weekly.env"),
          hundred((at) => `F_${at}=1\nF_${at}=2\n`),
        ),
    },
    "a foreign variable is no fault, nor is an empty one": {
      ...{ command: "weekly", check: "environment file", status: "pass" },
      reason: /weekly\.env has mode 0600$/,
      spoil: ({ path }) => appendFileSync(path("etc/weekly.env"), "VAULT_ADDR=x\nALERT_EMAIL_TO=\n"),
    },
    "a secret's file has a misspelt name": {
      ...{ command: "deliveries", check: "secrets", status: "warn" },
      reason: /\/secrets\/READ_API_KEY\.txt is read by nothing; did you mean EMAIL_READ_API_KEY\?$/,
      mend: /^mv -nT \/.*\/secrets\/READ_API_KEY\.txt \/.*\/secrets\/EMAIL_READ_API_KEY$/,
      spoil: (host) => host.put("secrets/READ_API_KEY.txt", "canary"),
    },
    "a secret's file is a setting that is no secret": {
      ...{ command: "weekly", check: "secrets", status: "warn" },
      reason: /\/secrets\/OPSCTL_PING_URL has no effect: OPSCTL_PING_URL is no secret$/,
      mend: /^Set OPSCTL_PING_URL in \/.*\/etc\/weekly\.env instead$/,
      spoil: (host) => host.put("secrets/OPSCTL_PING_URL", "canary"),
    },
    "a secret is missing": {
      ...{ command: "weekly", check: "configuration", status: "fail" },
      reason: "TRIGGER_SECRET is missing",
      mend: /^install -D -m 0600 -o opsctl \/dev\/stdin \/.*\/secrets\/TRIGGER_SECRET$/,
      spoil: (host) => rmSync(host.path("secrets/TRIGGER_SECRET")),
    },
    "a secret file is open to others": {
      ...{ command: "weekly", check: "secrets", status: "fail" },
      reason: "SECRET_FILE_EXPOSED: file ",
      mend: /^chmod 0600 \/.*\/EMAIL_API_KEY$/,
      spoil: (host) => host.put("secrets/EMAIL_API_KEY", "re_canary_email_3e99", 0o640),
    },
    "a secret that cannot be read is told once, by the check of the secrets": {
      ...{ command: "weekly", check: "configuration", status: "warn" },
      reason: "not checked: EMAIL_API_KEY cannot be read, see secrets",
      spoil: (host) => host.put("secrets/EMAIL_API_KEY", "re_canary_email_3e99", 0o640),
    },
    "a secret of two lines is told once, by the check of the secrets": {
      ...{ command: "weekly", check: "configuration", status: "warn" },
      reason: "not checked: TRIGGER_SECRET cannot be read, see secrets",
      spoil: (host) => host.put("secrets/TRIGGER_SECRET", "one-canary\ntwo-canary"),
    },
    "a secret of two lines": {
      ...{ command: "weekly", check: "secrets", status: "fail" },
      reason: "SECRET_MALFORMED: ",
      mend: "Store the value alone, on one line",
      spoil: (host) => host.put("secrets/TRIGGER_SECRET", "one-canary\ntwo-canary"),
    },
    "a key of the second channel without its addresses": {
      ...{ command: "webhook", check: "configuration", status: "fail" },
      reason:
        /^ALERT_EMAIL_TO is missing; expected .*; ALERT_EMAIL_TO, ALERT_EMAIL_FROM and ALERT_EMAIL_API_KEY belong together/,
      mend: /^Set ALERT_EMAIL_TO in \/.*\/etc\/webhook\.env$/,
      spoil: (host) => host.put("secrets/ALERT_EMAIL_API_KEY", "re_canary_alert"),
    },
    "the account of the service may not read the secret": {
      ...{ command: "weekly", check: "secrets", status: "fail" },
      reason: /^TRIGGER_SECRET: \/.*TRIGGER_SECRET with mode 0600 of uid \d+, gid \d+ is closed to opsctl$/,
      mend: /^Look at it, then: chown -h opsctl \/.*TRIGGER_SECRET$/,
      spoil: (host) => host.put("passwd", "opsctl:x:4242:4242::/:/bin/false\n"),
    },
    "an alert webhook that stands in a file that cannot be read is not called missing": {
      ...{ command: "weekly", check: "alert webhook", status: "warn" },
      reason: /^not checked: the settings of weekly that it needs are incomplete, see configuration$/,
      spoil(host) {
        rmSync(host.path("etc/weekly.env"), { force: true });
        mkdirSync(host.path("etc/weekly.env"));
      },
    },
    "the alias stands in the environment file": {
      ...{ command: "weekly", check: "secrets", status: "warn" },
      reason: "SOCIAL_EDITORIALS_CRON_SECRET is set in the environment and is not used there",
      mend: "Remove it there, then: install -D -m 0600",
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
    "a directory service alone has the account": {
      ...{ command: "weekly", check: "service account", status: "pass" },
      reason: "account opsctl exists",
      spoil: hasAccountElsewhere,
    },
    "the account of a directory service may not read a secret": {
      ...{ command: "weekly", check: "secrets", status: "fail" },
      reason: /^TRIGGER_SECRET: \/.*TRIGGER_SECRET with mode 0600 of uid \d+, gid \d+ is closed to opsctl$/,
      spoil: hasAccountElsewhere,
    },
    "a group of a directory service lets the account write": {
      ...{ command: "weekly", check: "log directory", status: "pass" },
      reason: /\/log can be written to by opsctl$/,
      spoil(host) {
        hasAccountElsewhere(host);
        chmodSync(host.path("log"), 0o770);
        const stdout = `4242 ${statSync(host.path("log")).gid}\n`;
        host.dependencies.runProgram = async (program, [option, name]) =>
          `${program} ${option} ${name}` === "id -G opsctl" ? { status: 0, stdout } : null;
      },
    },
    "the directory service does not say whether there is the account": {
      ...{ command: "weekly", check: "service account", status: "fail" },
      reason: "ACCOUNT_UNAVAILABLE: ",
      spoil(host) {
        hasAccountElsewhere(host);
        host.dependencies.findServiceAccount = () => linesOf("/bin/false", 60_000).then(serviceAccountIn);
      },
    },
    "the host has no service account": {
      ...{ command: "weekly", check: "service account", status: "warn" },
      reason: "not checked: there is no account opsctl",
      mend: "useradd --system",
      spoil: (host) => host.put("passwd", "root:x:0:0::/root:/bin/sh\n"),
    },
    "a platform has granted whole tables again": {
      ...{ command: "migrate", check: "migrations", status: "warn" },
      reason: /^authenticated may read claim_token, .*evidence.* of weekly_performance_reports$/,
      mend: /^revoke select on public\.weekly_performance_reports from public, authenticated; grant select \(id, /,
      spoil: ({ db }) => db.sql`grant select on all tables in schema public to authenticated`,
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
        host.dependencies.nowMs = () => Date.now() - 90_000;
      },
    },
    "the clocks are a little apart": {
      ...{ command: "weekly", check: "database", status: "warn" },
      reason: /^the clocks of database and host are \d+\.\d s apart$/,
      spoil: (host) => {
        host.dependencies.nowMs = () => Date.now() + 30_000;
      },
    },
    "a pending migration keeps the weekly run from starting": {
      ...{ command: "weekly", check: "database schema", status: "fail" },
      reason: "DATABASE_NOT_MIGRATED: not migrated to 0004_weekly_performance_reconciliations",
      mend: "Run opsctl migrate, with the login of the schema's owner",
      spoil: ({ db }) => db.sql`delete from public.opsctl_migrations where version = 4`,
    },
    "what a check reads is missing, which the check of the schema tells": {
      ...{ command: "weekly", check: "recipients", status: "warn" },
      reason: "not checked: tables or functions are missing, see database schema",
      spoil: ({ db }) => db.sql`drop function public.list_weekly_performance_report_scopes(uuid)`,
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
    "the login lacks its grants": {
      ...{ command: "deliveries", check: "database schema", status: "fail" },
      reason: "DATABASE_GRANT_MISSING: ",
      mend: /^grant service_role to /,
      spoil: async (host) => {
        const login = await newLogin(host.db.sql);
        host.put("secrets/DATABASE_URL", (await sharedPostgres()).url(host.db.name, login));
      },
    },
  });
});

/** The host's own list has no account opsctl, a directory service has one. */
function hasAccountElsewhere(host: Host): void {
  host.put("passwd", "root:x:0:0::/:/bin/sh\n");
  const account = { name: "opsctl", uid: 4242, gid: 4242, home: "/" };
  host.dependencies.findServiceAccount = async () => account;
}
