import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import type { Scope } from "../../../lib/weekly/database/recipients.ts";
import type { AnalysedPage } from "../../../lib/weekly/database/reports.ts";
import { WEEK } from "../../support/seed.ts";
import { type EvidenceFixture, evidenceFixture } from "../support/evidence-fixture.ts";
import { weeksBefore, writePastReport } from "../support/past-report.ts";

const ALL: AnalysedPage = { tenantId: null, after: "00000000-0000-0000-0000-000000000000", limit: 100 };
const available = { status: "available" };

let weekly: EvidenceFixture;
beforeEach(async () => {
  weekly = await evidenceFixture();
});
afterEach(() => weekly.close());

async function connect(
  { tenantId, userId }: Scope,
  network: string,
  { status = "active", createdAt = "2026-11-02", id = randomUUID() as string } = {},
): Promise<string> {
  await weekly.db.sql`
    insert into social_connections (id, tenant_id, user_id, network, status, created_at)
    values (${id}, ${tenantId}, ${userId}, ${network}, ${status}, ${createdAt}::text::timestamptz)`;
  return id;
}

/** A completed report of this week whose channels are these. */
async function report(scope: Scope, channels: object = { instagram: available }): Promise<string> {
  return await writePastReport(weekly.db.sql, scope, WEEK, { payload: { channels } });
}

describe("listAnalysedConnections()", () => {
  const list = (page: Partial<AnalysedPage> = {}) =>
    weekly.store.listAnalysedConnections(WEEK, { ...ALL, ...page });
  const listed = async (page?: Partial<AnalysedPage>) => (await list(page)).map(({ reportId }) => reportId);

  test("names owner, report and the oldest connection of the first analysed network", async () => {
    const scope = await weekly.newOwner();
    await connect(scope, "linkedin", { createdAt: "2026-11-01" });
    const ids = [randomUUID(), randomUUID(), randomUUID()].toSorted();
    const [least, lesser, greater] = ids as [string, string, string];
    await connect(scope, "instagram", { createdAt: "2026-11-03", id: least });
    await connect(scope, "instagram", { id: greater });
    await connect(scope, "instagram", { id: lesser });
    const reportId = await report(scope, { instagram: available, linkedin: available });
    expect(await list()).toEqual([{ reportId, scope, connection: { id: lesser, network: "instagram" } }]);
  });

  test("takes the network that was analysed, not another one", async () => {
    const scope = await weekly.newOwner();
    await connect(scope, "instagram");
    const id = await connect(scope, "linkedin");
    await report(scope, { instagram: { status: "unavailable" }, linkedin: available });
    expect((await list()).map(({ connection }) => connection)).toEqual([{ id, network: "linkedin" }]);
  });

  test("leaves out whose connection is no longer active, of no network, or of another owner", async () => {
    const scope = await weekly.newOwner();
    const colleague = await weekly.newOwner(scope.tenantId);
    const stranger = await weekly.newOwner();
    await connect(scope, "instagram", { status: "revoked" });
    await connect(scope, "tiktok");
    await connect(colleague, "instagram");
    await connect({ ...scope, tenantId: stranger.tenantId }, "instagram");
    await report(scope, { instagram: available, tiktok: available });
    expect(await list()).toEqual([]);
  });

  test("looks at completed reports of exactly this window", async () => {
    const scope = await weekly.newOwner();
    await connect(scope, "instagram");
    const payload = { channels: { instagram: available } };
    const before = weeksBefore(WEEK, 1);
    await writePastReport(weekly.db.sql, scope, before, { payload });
    await writePastReport(weekly.db.sql, scope, { ...WEEK, start: before.start }, { payload });
    await writePastReport(weekly.db.sql, scope, { ...WEEK, end: "2026-11-24T03:00:00Z" }, { payload });
    await writePastReport(weekly.db.sql, scope, WEEK, { status: "failed" });
    expect(await list()).toEqual([]);
  });

  test("goes on behind the report asked last, in the order of the ids, and stays with the tenant named", async () => {
    const reports: { id: string; scope: Scope }[] = [];
    for (let owners = 0; owners < 3; owners += 1) {
      const scope = await weekly.newOwner();
      await connect(scope, "instagram");
      reports.push({ id: await report(scope), scope });
    }
    reports.sort((one, other) => (one.id < other.id ? -1 : 1));
    const [first, second, third] = reports.map(({ id }) => id) as [string, string, string];
    expect(await listed()).toEqual([first, second, third]);
    expect(await listed({ limit: 2 })).toEqual([first, second]);
    expect(await listed({ after: first })).toEqual([second, third]);
    expect(await listed({ tenantId: reports[1]!.scope.tenantId })).toEqual([second]);
  });
});
