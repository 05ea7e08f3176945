import { appendFileSync, chmodSync, mkdirSync, rmSync } from "node:fs";
import type { DatabaseLogin } from "../../../lib/platform/config/owner-login.ts";
import { OpsError } from "../../../lib/platform/errors.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { giveAway } from "../../platform/support/other-account.ts";
import { sharedPostgres } from "../../support/postgres.ts";
import { newLogin } from "../../support/roles.ts";
import type { Faults } from "./fault.ts";

const NOT_SAID = new OpsError({
  code: "ACCOUNT_UNAVAILABLE",
  message: "Cannot become opsctl: getent ended with status 2",
});

const NOWHERE = "postgres://u:secret-of-the-url@127.0.0.1:1/app";

const EXPOSED = new OpsError({ code: "SECRET_FILE_EXPOSED", message: "Cannot use secret X: it is open" });

const ofRoot = (url: string): DatabaseLogin => ({
  ...{ url: new Secret(url), variable: "MIGRATE_DATABASE_URL", source: "secret file /x", overrules: false },
});

/** Faults that doctor finds of settings, secrets, accounts and the database. */
export const SETTINGS: Faults = {
  "a setting is missing": {
    finds: ["weekly", "configuration", "fail", "CONFIG_INVALID"],
    about: "Set APP_BASE_URL in ~/etc/weekly.env",
    spoil: (host) => host.setting("weekly", "APP_BASE_URL", null),
  },
  "a setting has another form": {
    finds: ["weekly", "configuration", "fail", "CONFIG_INVALID"],
    about: "WEEKLY_REPORT_UNSUBSCRIBE",
    spoil: (host) => host.setting("weekly", "WEEKLY_REPORT_UNSUBSCRIBE", "sair@mail.example"),
  },
  "the address of the ping has another form": {
    finds: ["weekly", "configuration", "fail", "CONFIG_INVALID"],
    about: "OPSCTL_PING_URL",
    spoil: (host) => host.setting("weekly", "OPSCTL_PING_URL", "http://checks.example/canary"),
  },
  "a setting has two values": {
    finds: ["weekly", "environment file", "warn", "SETTING_REPEATED"],
    about: "GATEWAY_URL",
    spoil: ({ path }) => appendFileSync(path("etc/weekly.env"), "GATEWAY_URL=http://127.0.0.1:1\n"),
  },
  "a setting's name is misspelt": {
    finds: ["weekly", "environment file", "warn", "SETTING_UNKNOWN"],
    about: "did you mean WEEKLY_REPORT_UNSUBSCRIBE?",
    spoil: ({ path }) =>
      appendFileSync(path("etc/weekly.env"), "WEEKLY_REPORT_UNSUBSCRIB=mailto:canary@x.io\n"),
  },
  "a setting stands in the file of another command": {
    finds: ["weekly", "environment file", "warn", "SETTING_UNKNOWN"],
    about: "ALERT_EMAIL_TO, which has no effect there: it is read in webhook.env",
    spoil: ({ path }) => appendFileSync(path("etc/weekly.env"), "ALERT_EMAIL_TO=canary@x.io\n"),
  },
  "a foreign variable is no fault, nor is an empty one": {
    finds: ["weekly", "environment file", "pass", null],
    spoil: ({ path }) => appendFileSync(path("etc/weekly.env"), "VAULT_ADDR=x\nALERT_EMAIL_TO=\n"),
  },
  "a secret is missing": {
    finds: ["weekly", "configuration", "fail", "CONFIG_INVALID"],
    // `opsctl secret set` does not write there.
    about:
      "TRIGGER_SECRET is missing; expected printable ASCII on one line -> Put it into a file of that name",
    spoil: (host) => rmSync(host.path("secrets/TRIGGER_SECRET")),
  },
  "a secret file is open to others": {
    finds: ["weekly", "secrets", "fail", "SECRET_FILE_EXPOSED"],
    about: "~/secrets/EMAIL_API_KEY has mode 0640",
    spoil: (host) => host.put("secrets/EMAIL_API_KEY", "re_canary_email_3e99", 0o640),
  },
  "a secret that cannot be read is reported once, by the check of the secrets": {
    finds: ["weekly", "configuration", "warn", "PREREQUISITE_FAILED"],
    about: "EMAIL_API_KEY cannot be read, see secrets",
    spoil: (host) => host.put("secrets/EMAIL_API_KEY", "re_canary_email_3e99", 0o640),
  },
  "a secret of two lines is reported once, by the check of the secrets": {
    finds: ["weekly", "configuration", "warn", "PREREQUISITE_FAILED"],
    about: "TRIGGER_SECRET cannot be read, see secrets",
    spoil: (host) => host.put("secrets/TRIGGER_SECRET", "one-canary\ntwo-canary"),
  },
  "a secret of two lines": {
    finds: ["weekly", "secrets", "fail", "SECRET_MALFORMED"],
    about: "TRIGGER_SECRET",
    spoil: (host) => host.put("secrets/TRIGGER_SECRET", "one-canary\ntwo-canary"),
  },
  "a key of the fallback channel that cannot be read says nothing of its addresses": {
    finds: ["webhook", "configuration", "warn", "PREREQUISITE_FAILED"],
    about: "ALERT_EMAIL_API_KEY cannot be read, see secrets",
    spoil: (host) => host.put("secrets/ALERT_EMAIL_API_KEY", "re_canary_alert", 0o644),
  },
  "the directory of the secrets is open to a group: one fault, however many are looked for in it": {
    finds: ["weekly", "secrets", "fail", "SECRET_FILE_UNTRUSTED"],
    about: "Cannot use directory ~/secrets: ~/secrets has mode 0775",
    spoil: ({ path }) => chmodSync(path("secrets"), 0o775),
  },
  "a key of the fallback channel without its addresses": {
    finds: ["webhook", "configuration", "fail", "CONFIG_INVALID"],
    about: "ALERT_EMAIL_TO is missing",
    spoil: (host) => host.put("secrets/ALERT_EMAIL_API_KEY", "re_canary_alert"),
  },
  "an alert webhook that stands in a file that cannot be read is not called missing": {
    finds: ["weekly", "alert webhook", "warn", "PREREQUISITE_FAILED"],
    about: "see environment file",
    spoil(host) {
      rmSync(host.path("etc/weekly.env"), { force: true });
      mkdirSync(host.path("etc/weekly.env"));
    },
  },
  "the alias stands in the environment file": {
    finds: ["weekly", "secrets", "warn", "SECRET_UNUSED"],
    spoil: (host) => host.setting("weekly", "SOCIAL_EDITORIALS_CRON_SECRET", "an-alias-of-the-environment"),
  },
  "the alias is missing although editorials are on": {
    finds: ["weekly", "secrets", "fail", "SOCIAL_EDITORIALS_CRON_SECRET_MISSING"],
    spoil: (host) => host.setting("weekly", "SOCIAL_EDITORIALS_ENABLED", "1"),
  },
  "the alias is the other secret once more": {
    finds: ["weekly", "configuration", "fail", "SOCIAL_EDITORIALS_CRON_SECRET_REUSED"],
    spoil: (host) => {
      host.setting("weekly", "SOCIAL_EDITORIALS_ENABLED", "1");
      host.put("secrets/SOCIAL_EDITORIALS_CRON_SECRET", "canary-trigger-1c77");
    },
  },
  "the directory service does not say whether there is the account": {
    finds: ["weekly", "service account", "fail", "ACCOUNT_UNAVAILABLE"],
    spoil(host) {
      host.dependencies.findServiceAccount = () => Promise.reject(NOT_SAID);
    },
  },
  "the host has no service account": {
    finds: ["weekly", "service account", "warn", "ACCOUNT_MISSING"],
    spoil(host) {
      host.dependencies.findServiceAccount = async () => null;
    },
  },
  "the host has no service account, and its files are another's": {
    finds: ["weekly", "service account", "fail", "ACCOUNT_MISSING"],
    about: "useradd --system",
    needs: ["root"],
    spoil(host) {
      giveAway(host.path("etc/weekly.env"));
      host.dependencies.findServiceAccount = async () => null;
    },
  },
  "a secret that opsctl itself puts in its place is missing": {
    finds: ["weekly", "configuration", "fail", "CONFIG_INVALID"],
    about: "-> opsctl secret set TRIGGER_SECRET",
    spoil: (host) => {
      host.dependencies.env = { PATH: host.dependencies.env.PATH };
    },
  },
  "a token that a secret command gets is no fault": {
    finds: ["webhook", "secrets", "pass", null],
    about: "ISSUE_TRACKER_TOKEN comes from OPSCTL_SECRETS_COMMAND",
    spoil: (host) => {
      host.put("bin/vault", '#!/bin/sh\n[ "$1" != ISSUE_TRACKER_TOKEN ] || echo another-canary\n', 0o755);
      host.dependencies.env = { ...host.dependencies.env, OPSCTL_SECRETS_COMMAND: host.path("bin/vault") };
      rmSync(host.path("secrets/ISSUE_TRACKER_TOKEN"));
    },
  },
  "root's own login for migrations counts, not that of the weekly run": {
    finds: ["migrate", "database", "pass", null],
    about: "the database answers",
    spoil: (host) => {
      host.put("secrets/DATABASE_URL", NOWHERE);
      host.dependencies.rootsLogin = ofRoot(host.db.url);
    },
  },
  "the account may have the owner's login": {
    finds: ["migrate", "database", "pass", null],
    about: "the database answers",
    spoil: (host) => {
      host.put("secrets/DATABASE_URL", NOWHERE);
      host.put("secrets/MIGRATE_DATABASE_URL", host.db.url);
    },
  },
  "root's own login leads nowhere": {
    finds: ["migrate", "database", "fail", "DATABASE_UNREACHABLE"],
    about: "sslmode in MIGRATE_DATABASE_URL",
    spoil: (host) => {
      host.dependencies.rootsLogin = ofRoot(NOWHERE);
    },
  },
  "the account's settings have a login beside root's": {
    finds: ["migrate", "secrets", "warn", "SECRET_UNUSED"],
    about: "MIGRATE_DATABASE_URL in ~/etc/weekly.env is not used",
    spoil: (host) => {
      host.dependencies.rootsLogin = ofRoot(host.db.url);
      host.setting("weekly", "MIGRATE_DATABASE_URL", NOWHERE);
    },
  },
  "root's own login cannot be read, which the check of the secrets alone says": {
    finds: ["migrate", "configuration", "warn", "PREREQUISITE_FAILED"],
    about: "see secrets",
    spoil: (host) => {
      host.dependencies.rootsLogin = EXPOSED;
    },
  },
  "root's own login cannot be read": {
    finds: ["migrate", "secrets", "fail", "SECRET_FILE_EXPOSED"],
    spoil: (host) => {
      host.dependencies.rootsLogin = EXPOSED;
    },
  },
  "a login of root's that cannot be read is not replaced by another one": {
    finds: ["migrate", "database", "warn", "PREREQUISITE_FAILED"],
    spoil: (host) => {
      host.dependencies.rootsLogin = EXPOSED;
    },
  },
  "a platform has granted whole tables again": {
    finds: ["migrate", "migrations", "warn", "PAGE_GRANT_DIFFERS"],
    spoil: ({ db }) => db.sql`grant select on all tables in schema public to authenticated`,
  },
  "nobody listens where the database should be": {
    finds: ["weekly", "database", "fail", "DATABASE_UNREACHABLE"],
    about: "ECONNREFUSED",
    spoil: (host) => host.put("secrets/DATABASE_URL", NOWHERE),
  },
  "the clocks are apart": {
    finds: ["weekly", "database", "fail", "CLOCK_WRONG"],
    spoil: (host) => {
      host.dependencies.nowMs = () => Date.now() - 90_000;
    },
  },
  "the clocks are a little apart": {
    finds: ["weekly", "database", "warn", "CLOCK_WRONG"],
    spoil: (host) => {
      host.dependencies.nowMs = () => Date.now() + 30_000;
    },
  },
  "a pending migration keeps the weekly run from starting": {
    finds: ["weekly", "database schema", "fail", "DATABASE_NOT_MIGRATED"],
    spoil: ({ db }) => db.sql`delete from public.opsctl_migrations where version = 4`,
  },
  "what a check reads is missing, which the check of the schema reports": {
    finds: ["weekly", "recipients", "warn", "PREREQUISITE_FAILED"],
    about: "see database schema",
    spoil: ({ db }) => db.sql`drop function public.list_weekly_performance_report_scopes(uuid)`,
  },
  "the database accepts no changes": {
    finds: ["weekly", "database", "fail", "DATABASE_READ_ONLY"],
    spoil: ({ db }) => db.sql.unsafe(`alter database "${db.name}" set default_transaction_read_only = on`),
  },
  "the record of the migrations is gone": {
    finds: ["migrate", "migrations", "warn", "DATABASE_NOT_MIGRATED"],
    about: "pending: 0001",
    spoil: ({ db }) => db.sql`drop table public.opsctl_migrations`,
  },
  "a secret command that fails is named with each secret": {
    finds: ["webhook", "secrets", "fail", "SECRET_COMMAND_FAILED"],
    about: "Cannot read secret ISSUE_TRACKER_TOKEN from OPSCTL_SECRETS_COMMAND",
    spoil: (host) => {
      host.put("bin/vault", "#!/bin/sh\nexit 3\n", 0o755);
      host.dependencies.env = { ...host.dependencies.env, OPSCTL_SECRETS_COMMAND: host.path("bin/vault") };
      for (const name of ["ISSUE_TRACKER_TOKEN", "WEBHOOK_SECRET"]) rmSync(host.path("secrets", name));
    },
  },
  "a migration is pending": {
    finds: ["migrate", "migrations", "warn", "DATABASE_NOT_MIGRATED"],
    spoil: ({ db }) => db.sql`delete from public.opsctl_migrations where version = 4`,
  },
  "a migration was edited": {
    finds: ["migrate", "migrations", "fail", "MIGRATION_EDITED"],
    spoil: ({ db }) =>
      db.sql`update public.opsctl_migrations set checksum = repeat('0', 64) where version = 2`,
  },
  "a newer opsctl has migrated": {
    finds: ["migrate", "migrations", "fail", "MIGRATION_UNKNOWN"],
    spoil: ({ db }) =>
      db.sql`insert into public.opsctl_migrations (version, name, checksum) values (999, '0999_x', repeat('0', 64))`,
  },
  "the login lacks its grants": {
    finds: ["deliveries", "database schema", "fail", "DATABASE_GRANT_MISSING"],
    spoil: async (host) => {
      const login = await newLogin(host.db.sql);
      host.put("secrets/DATABASE_URL", (await sharedPostgres()).url(host.db.name, login));
    },
  },
};
