import { describe, expect, test } from "bun:test";
import { seedOwner } from "../../support/seed.ts";
import { openFixture } from "../support/fixture.ts";

const COUNTS = { reused: 0, failed: 0, partial: 0, unknown: 0, skipped: 0 };
/** A way to stop the e-mails. */
const UNSUBSCRIBE = "https://app.example/sair";
const OPEN = { partial: 0, failed: 0, unknown: 0, running: 0, missing: 0 };

describe("opsctl weekly on a healthy Monday", () => {
  test("sends each owner one message and one e-mail that says how to stop them, drains the editorials, and prints one line", async () => {
    await using fixture = await openFixture({ editorials: true });
    const { db, application, gateway, email } = fixture;
    const owners = [];
    for (let i = 0; i < 3; i += 1) owners.push(await seedOwner(db.sql));

    const first = await fixture.weekly(["--json"], { env: { WEEKLY_REPORT_UNSUBSCRIBE: UNSUBSCRIBE } });

    expect(first.exitCode, first.stderr).toBe(0);
    expect(first.summary).toEqual({
      command: "weekly",
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      runId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      dryRun: false,
      startedAt: "2026-11-23T11:00:00Z",
      finishedAt: "2026-11-23T11:00:00Z",
      durationMs: expect.any(Number),
      window: { start: "2026-11-16T03:00:00Z", end: "2026-11-23T03:00:00Z", week: "2026-11-16" },
      status: "success",
      exitCode: 0,
      reports: { scopes: 3, completed: 3, reused: 0, busy: 0, failed: 0, ineligible: 0, partialCoverage: 3 },
      social: { calls: 6, failed: 0 },
      whatsapp: { ...COUNTS, sent: 3 },
      email: { ...COUNTS, sent: 3 },
      editorials: {
        status: "completed",
        code: null,
        calls: 1,
        llmCalls: 0,
        tenants: 0,
        tenantFailures: 0,
        reasonStopped: null,
        cursor: null,
      },
      heartbeat: "written",
      week: {
        owners: 3,
        reports: { completed: 3, running: 0, failed: 0, missing: 0 },
        whatsapp: { ...OPEN, sent: 3 },
        email: { ...OPEN, sent: 3 },
        social: { connected: 6, failed: 0, owners: 0 },
        noLongerEligible: { reports: 0, whatsapp: 0, email: 0 },
        before: null,
      },
      announced: "off",
      retryableUntil: "2026-11-24T03:00:00Z",
      failures: [],
      failuresTruncated: false,
      unproved: [],
      error: null,
    });
    expect(new Set(gateway.accepted.map(({ number }) => number))).toEqual(
      new Set(owners.map(({ phone }) => phone!.replace(/\D/g, ""))),
    );
    expect(new Set(email.accepted.flatMap(({ to }) => to))).toEqual(new Set(owners.map((o) => o.email!)));
    expect([gateway.accepted.length, email.accepted.length]).toEqual([3, 3]);
    for (const { headers, html, text } of email.accepted) {
      expect(headers?.["List-Unsubscribe"]).toBe(`<${UNSUBSCRIBE}>`);
      expect([html, text]).toEqual([
        expect.stringContaining(UNSUBSCRIBE),
        expect.stringContaining(UNSUBSCRIBE),
      ]);
    }
    expect(fixture.requests().at(-1)).toBe("POST /emails");
    expect(application.ledger.at(-1)?.path).toBe("/api/v1/cron/social-editorials");
    expect([application, gateway, email].flatMap((peer) => peer.unexpected)).toEqual([]);
    expect(JSON.parse(fixture.heartbeat.read())).toMatchObject({
      runId: first.summary.runId,
      week: "2026-11-16",
    });

    const second = await fixture.weekly(["--json"]);

    expect(second.summary).toMatchObject({
      status: "success",
      reports: { completed: 0, reused: 3 },
      social: { calls: 0 },
      whatsapp: { sent: 0, reused: 3 },
      email: { sent: 0, reused: 3 },
      heartbeat: "written",
      announced: "off",
    });
    expect(second.exitCode).toBe(0);
    expect([gateway.accepted.length, email.accepted.length, application.analyzed.length]).toEqual([3, 3, 6]);
    expect(JSON.parse(fixture.heartbeat.read())).toMatchObject({ runId: second.summary.runId });
  });
});

describe.concurrent("opsctl weekly on a healthy Monday", () => {
  test("prints the same for a person without --json", async () => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);

    const { exitCode, stdout } = await fixture.weekly([]);

    expect(exitCode).toBe(0);
    expect(fixture.email.accepted[0]!.headers?.["List-Unsubscribe"]).toBeUndefined();
    expect(stdout).toMatch(/^The weekly run succeeded, week of 2026-11-16 \(\d+\.\d s\)\n/);
    expect(stdout).toEndWith("\n");
    expect(stdout.split("\n").map((line) => line.trim().replace(/\s+/g, " "))).toEqual(
      expect.arrayContaining([
        "Reports 1 owner: 1 completed",
        "Analyses 2 calls",
        "WhatsApp 1 sent",
        "E-mail 1 sent",
        "Editorials disabled",
        "Heartbeat written",
      ]),
    );
  });
});
