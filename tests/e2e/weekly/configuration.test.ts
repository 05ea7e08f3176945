import { describe, expect, test } from "bun:test";
import { startApplication } from "../../standins/application.ts";
import { startRawPeer } from "../../standins/raw-peer.ts";
import { CANARIES } from "../../support/canaries.ts";
import { databaseSnapshot } from "../../support/database-snapshot.ts";
import { seedOwner } from "../../support/seed.ts";
import { openFixture } from "../support/fixture.ts";
import { type Ended, opsctl } from "../support/opsctl.ts";

const REQUIRED = [
  "DATABASE_URL",
  "APP_BASE_URL",
  "TRIGGER_SECRET",
  "GATEWAY_URL",
  "GATEWAY_ADMIN_KEY",
  "EMAIL_API_KEY",
];

/** The variables that an error of the configuration names, one line each. */
function namedIn({ summary }: Ended): string[] {
  return [...summary.error!.message.matchAll(/^ {2}([A-Z_]+): /gm)].map((match) => match[1]!);
}

function expectNotReady(ended: Ended, code = "CONFIG_INVALID"): void {
  expect(ended.exitCode, ended.stdout).toBe(3);
  expect(ended.summary).toMatchObject({
    status: "not_ready",
    exitCode: 3,
    heartbeat: "kept",
    window: null,
    error: { code },
  });
}

describe.concurrent("opsctl weekly without its configuration", () => {
  test("names every variable that is missing at once", async () => {
    const ended = await opsctl(["weekly", "--json"]);
    expectNotReady(ended);
    expect(namedIn(ended)).toEqual(REQUIRED);
    expect(ended.summary.whatsapp).toEqual({
      ...{ sent: 0, reused: 0, failed: 0, partial: 0, unknown: 0, skipped: 0 },
    });
  });
});

describe.concurrent("opsctl weekly with a wrong configuration", () => {
  test("names for a dry run what announces its end in the same error", async () => {
    const env = { OPSCTL_ALERT_WEBHOOK: "https://alerts.example/webhook", OPSCTL_PING_URL: "canary-no-url" };
    const ended = await opsctl(["weekly", "--dry-run", "--json"], { env });
    expectNotReady(ended);
    expect(namedIn(ended)).toEqual([...REQUIRED, "WEBHOOK_SECRET", "OPSCTL_PING_URL"]);
    expect(ended.stdout + ended.stderr).not.toContain("canary");
  });

  test("names every variable that is wrong at once, and repeats no value", async () => {
    await using fixture = await openFixture();
    const wrong = {
      APP_BASE_URL: "ftp://user:canary-in-a-url@app.example",
      SOCIAL_EDITORIALS_MAX_LLM_CALLS: "31",
      WHATSAPP_REPORT_SENDER_TENANT_ID: "canary-not-a-uuid",
    };
    const before = await databaseSnapshot(fixture.db.sql);

    const ended = await fixture.weekly(["--json"], { env: wrong });

    expectNotReady(ended);
    expect(namedIn(ended).sort()).toEqual(Object.keys(wrong).sort());
    expect(ended.stdout + ended.stderr).not.toContain("canary");
    expect(await databaseSnapshot(fixture.db.sql)).toEqual(before);
    expect(fixture.requests()).toEqual([]);
  });
});

/** One variable each, and what is not accepted in it. */
const WRONG: [name: string, values: string[]][] = [
  ["SOCIAL_EDITORIALS_MAX_LLM_CALLS", ["31", "0", "-3", "3.0", "3e1", "abc"]],
  [
    "APP_BASE_URL",
    ["app.example", "http://app.example", "https://app.example/?a=b", "https://u:p@app.example"],
  ],
  ["GATEWAY_URL", ["http://192.0.2.1", "http://10.0.0.1:8080", "javascript:alert(1)"]],
  ["EMAIL_API_URL", ["http://api.example"]],
  ["OPSCTL_LOG_DIR", ["var/log"]],
  ["WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID", ["1"]],
  ["WHATSAPP_REPORT_MESSAGES_PER_MINUTE", ["0", "many"]],
  ["WEEKLY_REPORT_UNSUBSCRIBE", ["http://app.example/out", "mailto:a@mail.example?bcc=eve@other.example"]],
];

describe.concurrent("a setting of opsctl weekly", () => {
  test.each(WRONG)("%s that cannot be used is named, alone", async (name, values) => {
    await using fixture = await openFixture();
    for (const value of values) {
      const ended = await fixture.weekly(["--json", "--dry-run"], { env: { [name]: value } });
      expectNotReady(ended);
      expect(namedIn(ended), value).toEqual([name]);
    }
    expect(fixture.requests()).toEqual([]);
  });

  test("DATABASE_URL that cannot be used is named, and its password is not", async () => {
    await using fixture = await openFixture();
    fixture.secret("DATABASE_URL", "mysql://root:canary-of-mysql@db.example/app");
    const ended = await fixture.weekly(["--json"]);
    expectNotReady(ended);
    expect(namedIn(ended)).toEqual(["DATABASE_URL"]);
    expect(ended.stdout + ended.stderr).not.toContain("canary");
  });

  test("the settings of a channel that is left out are not asked for", async () => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);
    for (const name of ["GATEWAY_URL", "EMAIL_API_URL"]) delete fixture.env[name];
    for (const name of ["GATEWAY_ADMIN_KEY", "EMAIL_API_KEY"]) fixture.secret(name, "");

    const { exitCode, summary } = await fixture.weekly(["--json", "--skip-whatsapp", "--skip-email"]);

    expect(exitCode).toBe(0);
    expect(summary).toMatchObject({
      reports: { completed: 1 },
      whatsapp: { skipped: 1 },
      email: { skipped: 1 },
    });
  });

  test("OPSCTL_ALLOW_PLAIN_HTTP=1 alone accepts a secret over plain http", async () => {
    await using fixture = await openFixture();
    const env = { APP_BASE_URL: "http://app.example" };
    const accepted = await fixture.weekly(["--json", "--dry-run"], {
      env: { ...env, OPSCTL_ALLOW_PLAIN_HTTP: "1" },
    });
    // The setting is accepted; that nothing answers at that address is another problem.
    expect(accepted.summary).toMatchObject({
      status: "not_ready",
      failures: [{ step: "readiness", code: "APP_UNREACHABLE" }],
    });
    for (const OPSCTL_ALLOW_PLAIN_HTTP of ["0", "true", "", " 1"]) {
      expectNotReady(
        await fixture.weekly(["--json", "--dry-run"], { env: { ...env, OPSCTL_ALLOW_PLAIN_HTTP } }),
      );
    }
  });

  test("a missing sender fails its channel, and not the other", async () => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);
    const noWhatsapp = await fixture.weekly(["--json"], {
      env: { WHATSAPP_REPORT_SENDER_TENANT_ID: undefined },
    });
    expect(noWhatsapp.exitCode).toBe(1);
    expect(noWhatsapp.summary).toMatchObject({
      whatsapp: { failed: 1 },
      email: { sent: 1 },
      failures: [{ step: "whatsapp", code: "sender_tenant_missing" }],
    });
    const noEmail = await fixture.weekly(["--json"], { env: { WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID: " " } });
    expect(noEmail.exitCode).toBe(0);
    expect(noEmail.summary).toMatchObject({ whatsapp: { sent: 1 }, email: { reused: 1 } });
  });
});

describe.concurrent("APP_BASE_URL with a path and a trailing slash", () => {
  test.each(["", "/", "//"])("is the base of routes and links (ending %p)", async (ending) => {
    await using fixture = await openFixture({ editorials: true });
    const application = await startApplication({
      triggerSecret: CANARIES.TRIGGER_SECRET,
      cronSecret: CANARIES.SOCIAL_EDITORIALS_CRON_SECRET,
      prefix: "/behind/a/proxy",
    });
    try {
      await seedOwner(fixture.db.sql);
      const base = application.url;

      const { exitCode } = await fixture.weekly(["--json"], { env: { APP_BASE_URL: `${base}${ending}` } });

      expect(exitCode).toBe(0);
      expect(application.unexpected).toEqual([]);
      expect(application.ledger.map(({ path }) => path)).toEqual([
        "/behind/a/proxy/api/v1/social/analytics/weekly",
        "/behind/a/proxy/api/v1/social/analytics/weekly",
        "/behind/a/proxy/api/v1/cron/social-editorials",
      ]);
      const link = `${base}/app/performance?week=2026-11-16`;
      expect(fixture.gateway.accepted[0]!.text).toContain(link);
      expect(fixture.email.accepted[0]!.html).toContain(`"${link}"`);
      expect(fixture.email.accepted[0]!.text).toContain(link);
    } finally {
      await application.stop();
    }
  });
});

describe.concurrent("the editorial alias", () => {
  test("an alias equal to TRIGGER_SECRET ends the run before the database is contacted", async () => {
    await using fixture = await openFixture({ editorials: true });
    const database = await startRawPeer((socket) => socket.end());
    try {
      fixture.secret(
        "DATABASE_URL",
        `postgres://user:${CANARIES.TRIGGER_SECRET}@127.0.0.1:${database.port}/app`,
      );
      fixture.secret("SOCIAL_EDITORIALS_CRON_SECRET", CANARIES.TRIGGER_SECRET);
      const real = await fixture.weekly(["--json"]);
      const dry = await fixture.weekly(["--json", "--dry-run"]);
      for (const ended of [real, dry]) {
        expectNotReady(ended, "SOCIAL_EDITORIALS_CRON_SECRET_REUSED");
        expect(ended.stdout + ended.stderr).not.toContain(CANARIES.TRIGGER_SECRET);
      }
      expect(database.connections).toBe(0);
      expect(fixture.requests()).toEqual([]);
      // The listener does notice a run that gets so far.
      fixture.secret("SOCIAL_EDITORIALS_CRON_SECRET", CANARIES.SOCIAL_EDITORIALS_CRON_SECRET);
      expectNotReady(await fixture.weekly(["--json", "--dry-run"]), "DATABASE_UNREACHABLE");
      expect(database.connections).toBeGreaterThan(0);
    } finally {
      await database.stop();
    }
  });

  test("an alias that is only in the environment is not used, and is reported without its value", async () => {
    await using fixture = await openFixture({ editorials: true });
    await seedOwner(fixture.db.sql);
    fixture.secret("SOCIAL_EDITORIALS_CRON_SECRET", "");
    const SOCIAL_EDITORIALS_CRON_SECRET = CANARIES.SOCIAL_EDITORIALS_CRON_SECRET;

    const ended = await fixture.weekly(["--json"], { env: { SOCIAL_EDITORIALS_CRON_SECRET } });

    expect(ended.exitCode).toBe(1);
    expect(ended.summary).toMatchObject({
      whatsapp: { sent: 1 },
      email: { sent: 1 },
      editorials: { status: "failed", code: "SOCIAL_EDITORIALS_CRON_SECRET_MISSING", calls: 0 },
      heartbeat: "kept",
    });
    expect(ended.stderr).toMatch(/"level":"warn".*SOCIAL_EDITORIALS_CRON_SECRET is set in the environment/);
    expect(ended.stdout + ended.stderr).not.toContain(SOCIAL_EDITORIALS_CRON_SECRET);
    expect(fixture.application.routes.editorial.calls).toEqual([]);
  });

  test.each(["0", "true", "yes", " 1", "1 "])(
    "is not used while the switch is %p",
    async (SOCIAL_EDITORIALS_ENABLED) => {
      await using fixture = await openFixture();
      const { summary } = await fixture.weekly(["--json"], { env: { SOCIAL_EDITORIALS_ENABLED } });
      expect(summary).toMatchObject({ status: "success", editorials: { status: "disabled" } });
      expect(fixture.requests()).toEqual([]);
    },
  );
});
