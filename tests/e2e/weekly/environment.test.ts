import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { LAST_RUN_FILE } from "../../../lib/last-run/file-name.ts";
import { seedOwner, writeAnalysis } from "../../support/seed.ts";
import { forgetLedger } from "../../weekly/support/ledger.ts";
import { type Fixture, openFixture } from "../support/fixture.ts";

/** Variables that other programs obey, each set to what would do the most harm. */
const FOREIGN: Record<string, string> = {
  TZ: "Pacific/Kiritimati",
  LANG: "tr_TR.UTF-8",
  LC_ALL: "ar_EG.UTF-8",
  LANGUAGE: "de",
  NODE_ENV: "test",
  CI: "true",
  TEST: "1",
  DEBUG: "*",
  CONSOLA_LEVEL: "5",
  FORCE_COLOR: "1",
  NODE_OPTIONS: "--no-warnings",
  PGTARGETSESSIONATTRS: "read-only",
  HTTP_PROXY: "http://127.0.0.1:9",
  http_proxy: "http://127.0.0.1:9",
  ALL_PROXY: "http://127.0.0.1:9",
  PGTZ: "Asia/Kathmandu",
  PGDATESTYLE: "German",
  PGOPTIONS: "-c timezone=Asia/Kathmandu -c extra_float_digits=-15 -c intervalstyle=sql_standard",
  PGHOST: "192.0.2.1",
  PGPORT: "1",
  PGUSER: "nobody",
  PGUSERNAME: "nobody",
  PGPASSWORD: "canary-of-the-environment",
  PGDATABASE: "elsewhere",
  PGSSLMODE: "verify-full",
  PGSSL: "true",
  PGAPPNAME: "someone-else",
  PGCONNECT_TIMEOUT: "1",
  PGIDLE_TIMEOUT: "1",
  PGMAX: "1",
};

/** Everything of a run that must depend on nothing but the data. */
async function traceOf(fixture: Fixture, foreign: Record<string, string>) {
  const ended = await fixture.weekly(["--json"], { env: foreign });
  expect(ended.exitCode, ended.stdout + ended.stderr).toBe(0);
  const { sql } = fixture.db;
  const reports = await sql`
    select tenant_id, window_start::text, window_end::text, fingerprint, evidence,
           jsonb_set(payload, '{generatedAt}', 'null')::text as payload
    from weekly_performance_reports order by tenant_id`;
  const trace = {
    reports: [...reports],
    texts: fixture.gateway.accepted
      .map(({ number, text, instance }) => ({ number, text, instance }))
      .sort(byNumber),
    emails: fixture.email.accepted.map(({ from, to, subject, html, text }) => ({
      from,
      to,
      subject,
      html,
      text,
    })),
    log: ended.stderr.replace(/"time":"[^"]*"/g, "").replace(/[0-9a-f-]{36}/g, "id"),
  };
  trace.emails.sort((a, b) => String(a.to).localeCompare(String(b.to)));
  // As if it had never run: the next run starts from the same data.
  await forgetLedger(fixture);
  rmSync(join(fixture.logDir, LAST_RUN_FILE));
  fixture.email.forgetKeys();
  for (const accepted of [fixture.gateway.accepted, fixture.email.accepted]) accepted.length = 0;
  return trace;
}

function byNumber(a: { number: string }, b: { number: string }): number {
  return a.number.localeCompare(b.number);
}

async function openSettledFixture(): Promise<Fixture> {
  const fixture = await openFixture();
  const { sql } = fixture.db;
  for (const sends of [[["email.delivered", "email.clicked"], []], [["email.bounced"]], []]) {
    const owner = await seedOwner(sql, { sends });
    for (const { id: connectionId } of owner.connections) {
      const window = { windowStart: "2026-11-16T03:00:00Z", windowEnd: "2026-11-23T03:00:00Z" };
      const metrics = {
        followers: 1234567,
        reach: 0.1,
        engagementRate: 1 / 3,
        best: "2026-11-17T00:30:00-03:00",
      };
      await writeAnalysis(sql, { ...owner, connectionId, ...window }, { score: 61.25, metrics });
    }
  }
  // The analyses are there; the application writes nothing new.
  fixture.onAnalyze = async () => {};
  return fixture;
}

describe("the environment of the process", () => {
  test("changes not a byte of evidence, fingerprint, payload and messages", async () => {
    await using fixture = await openSettledFixture();

    const plain = await traceOf(fixture, {});

    expect(plain.reports).toHaveLength(3);
    expect(plain.reports[0]!.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect([plain.texts.length, plain.emails.length]).toEqual([3, 3]);
    expect(await traceOf(fixture, FOREIGN)).toEqual(plain);
  });

  test.each(["DateStyle = 'German'", "TimeZone = 'Asia/Kathmandu'", "extra_float_digits = -15"])(
    "an environment and a database with %s change nothing either",
    async (setting) => {
      await using fixture = await openSettledFixture();
      const plain = await traceOf(fixture, {});
      await fixture.db.sql.unsafe(`alter database ${fixture.db.name} set ${setting}`);
      expect(await traceOf(fixture, {})).toEqual(plain);
    },
  );
});
