/** What a run's reports tell of the weeks before. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Payload } from "../../../lib/weekly/payload.ts";
import { previewReports } from "../../../lib/weekly/preview.ts";
import type { AnalysisBody } from "../../standins/application.ts";
import { type SeededOwner, seedOwner, seedSends, setClock, WEEK, writeAnalysis } from "../../support/seed.ts";
import { pastPayload, weeksBefore, writePastReport } from "../support/past-report.ts";
import { type StoredReport, storedReport } from "../support/stored-report.ts";
import { type WeeklyFixture, weeklyFixture } from "../support/weekly-fixture.ts";

const NEXT_MONDAY = "2026-11-30T11:00:00Z";
const MONDAY = "2026-11-23T11:00:00Z";

let fixture: WeeklyFixture;
beforeAll(async () => {
  fixture = await weeklyFixture();
});
afterAll(async () => await fixture[Symbol.asyncDispose]());

async function runAt(clock: string, { tenantId }: SeededOwner): Promise<void> {
  await setClock(fixture.db.sql, clock);
  const { exitCode } = await fixture.run({ tenantId });
  await setClock(fixture.db.sql, MONDAY);
  expect(exitCode).toBe(0);
}

/** The reports of one owner, the oldest first. */
async function reportsOf({ tenantId, userId }: SeededOwner): Promise<(StoredReport & { bytes: string })[]> {
  return await fixture.db.sql`
    select id, status, fingerprint, evidence, payload, payload::text as bytes, coverage_status, error_code
    from weekly_performance_reports where tenant_id = ${tenantId} and user_id = ${userId} order by window_start`;
}

const scoresOf = ({ provenance }: Payload) => provenance.scoreHistory!.map(({ score }) => score);

describe("a run", () => {
  test("shows beside a channel's figures those of the report of the week before", async () => {
    const owner = await seedOwner(fixture.db.sql, {
      tenantName: "  Padaria São João ",
      networks: ["instagram"],
    });
    await seedSends(fixture.db.sql, owner, [["email.delivered"]], "2026-11-25T12:00:00Z");
    await runAt(MONDAY, owner);
    fixture.onAnalyze = (body) =>
      writeAnalysis(fixture.db.sql, body, { score: 80, metrics: { followers: 1300, reach: null } });
    await runAt(NEXT_MONDAY, owner);
    fixture.onAnalyze = (body) => writeAnalysis(fixture.db.sql, body, { score: 73 });

    const [first, second, ...others] = await reportsOf(owner);
    expect(others).toEqual([]);
    const { channels: before, provenance: firstSource } = first!.payload;
    const { channels, provenance } = second!.payload;
    for (const name of ["email", "instagram", "linkedin", "blog", "tiktok"] as const) {
      expect(before[name].previous).toBeNull();
      expect(channels[name].previous ?? null).toEqual(before[name].metrics);
    }
    expect(channels.instagram.metrics).toEqual({ followers: 1300, reach: null });
    expect(channels.instagram.previous).toEqual({ followers: 1200, reach: 5400, engagementRate: 0.042 });
    expect([firstSource.previousReportId, provenance.previousReportId]).toEqual([null, first!.id]);
    expect(provenance.tenantName).toBe("Padaria São João");
    expect(scoresOf(first!.payload)).toEqual([null, null, null, null, null, null, null, 73]);
    expect(scoresOf(second!.payload)).toEqual([null, null, null, null, null, null, 73, 80]);
    expect(provenance.scoreHistory!.at(-1)!.week).toBe("2026-11-23");
  });

  test("compares no account with another one of the same network", async () => {
    const { sql } = fixture.db;
    const owner = await seedOwner(sql, { networks: ["instagram", "instagram", "linkedin"] });
    const [small, large] = owner.connections.map(({ id }) => id);
    // The newest analysis is shown: that of the small account first, a week later that of the large one.
    const analyse = (newest: string | undefined) => async (body: AnalysisBody) => {
      const followers = { [small!]: 900, [large!]: 48_000 }[body.connectionId] ?? 70;
      await writeAnalysis(sql, body, { metrics: { followers } });
      const age = body.connectionId === newest ? "0 minutes" : "1 minute";
      await sql`
        update social_channel_analyses set updated_at = now() - ${age}::interval
        where connection_id = ${body.connectionId}`;
    };
    fixture.onAnalyze = analyse(small);
    await runAt(MONDAY, owner);
    fixture.onAnalyze = analyse(large);
    await runAt(NEXT_MONDAY, owner);
    fixture.onAnalyze = (body) => writeAnalysis(sql, body, { score: 73 });

    const [first, second] = (await reportsOf(owner)).map(({ payload: { channels } }) => channels);
    expect(first!.instagram.metrics).toEqual({ followers: 900 });
    expect(second!.instagram).toMatchObject({ metrics: { followers: 48_000 }, previous: null });
    expect(second!.linkedin).toMatchObject({ metrics: { followers: 70 }, previous: { followers: 70 } });
  });

  test("makes the same fingerprint whatever the weeks before were, and the tenant is called", async () => {
    const make = async (tenantName: string) => {
      const owner = await seedOwner(fixture.db.sql, { tenantName, networks: [] });
      await fixture.db.sql`
        insert into social_account_scores (tenant_id, user_id, window_start, window_end, score)
        values (${owner.tenantId}, ${owner.userId}, ${WEEK.start}, ${WEEK.end}, 64.5)`;
      return owner;
    };
    const [one, other] = [await make("Um"), await make("Outro")];
    const metrics = { email: { sends: 9 }, instagram: { followers: 2 } };
    for (const weeks of [1, 2, 3])
      await writePastReport(fixture.db.sql, other, weeksBefore(WEEK, weeks), {
        payload: pastPayload(10, metrics),
      });
    await runAt(MONDAY, one);
    await runAt(MONDAY, other);

    const plain = await storedReport(fixture.db.sql, one);
    const rich = (await reportsOf(other)).at(-1)!;
    expect(rich.payload.channels).toMatchObject({ email: { previous: { sends: 9 } } });
    expect(rich.payload.channels.instagram).toMatchObject({
      status: "unavailable",
      previous: { followers: 2 },
    });
    expect([rich.fingerprint, rich.evidence]).toEqual([plain.fingerprint, plain.evidence]);
    expect(rich.payload.accountScore).toEqual({
      ...plain.payload.accountScore,
      sourceId: rich.payload.accountScore.sourceId,
    });
  });

  test("finds nothing of a report that the same person has in another tenant, nor of before a move", async () => {
    const owner = await seedOwner(fixture.db.sql, { networks: [] });
    const elsewhere = await seedOwner(fixture.db.sql, { networks: [] });
    const past = { payload: pastPayload(90, { email: { sends: 9 } }) };
    await writePastReport(fixture.db.sql, { ...elsewhere, userId: owner.userId }, weeksBefore(WEEK, 1), past);
    await writePastReport(fixture.db.sql, { ...owner, userId: elsewhere.userId }, weeksBefore(WEEK, 1), past);
    await runAt(MONDAY, owner);
    const { payload } = (await reportsOf(owner)).at(-1)!;
    expect(payload.provenance).toMatchObject({ previousReportId: null });
    expect(payload.channels.email.previous).toBeNull();
    expect(scoresOf(payload).slice(0, -1)).toEqual(Array(7).fill(null));
  });

  test("makes its report although one before it cannot be read", async () => {
    const owner = await seedOwner(fixture.db.sql, { networks: [] });
    const payload = {
      accountScore: { score: "73" },
      channels: { email: { status: "available", metrics: { sends: "three" } }, linkedin: 1 },
    };
    const id = await writePastReport(fixture.db.sql, owner, weeksBefore(WEEK, 1), { payload });
    await writePastReport(fixture.db.sql, owner, weeksBefore(WEEK, 2), { payload: [] });
    await runAt(MONDAY, owner);
    const { provenance, channels } = (await reportsOf(owner)).at(-1)!.payload;
    expect(provenance.previousReportId).toBe(id);
    expect(channels.email.previous).toBeNull();
  });

  test("leaves a completed report as it is, whatever becomes of name and weeks before", async () => {
    const owner = await seedOwner(fixture.db.sql, { networks: [] });
    await runAt(MONDAY, owner);
    const [before] = await reportsOf(owner);
    await writePastReport(fixture.db.sql, owner, weeksBefore(WEEK, 1));
    await fixture.db.sql`update tenants set name = 'Outro nome' where id = ${owner.tenantId}`;
    await runAt(MONDAY, owner);
    expect((await reportsOf(owner)).at(-1)!.bytes).toBe(before!.bytes);
  });

  test("makes what the preview has drafted, the weeks before included", async () => {
    const owner = await seedOwner(fixture.db.sql, { networks: [] });
    await writePastReport(fixture.db.sql, owner, weeksBefore(WEEK, 1), {
      payload: pastPayload(12.5, { email: { sends: 2, openRate: 0.5 } }),
    });
    const shown = { appBaseUrl: "https://app.example", unsubscribe: null, version: "0.0.0-test" };
    const preview = async () =>
      (await previewReports(fixture.db.sql, { tenantId: owner.tenantId, week: undefined, ...shown }))[0]!;
    const draft = await preview();
    await runAt(MONDAY, owner);
    const stored = await preview();
    expect([draft.source, stored.source]).toEqual(["draft", "stored"]);
    expect(stored.email).toEqual(draft.email);
    expect(stored.whatsapp).toBe(draft.whatsapp);
  });
});
