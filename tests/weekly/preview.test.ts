import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Preview, previewReports } from "../../lib/weekly/preview.ts";
import { renderPreviews } from "../../lib/weekly/texts/preview-text.ts";
import { databaseSnapshot } from "../support/database-snapshot.ts";
import { type SeededOwner, seedOwner, setClock, WEEK, writeAnalysis } from "../support/seed.ts";
import { type WeeklyFixture, weeklyFixture } from "./support/weekly-fixture.ts";

/** The version of the runs of this fixture. */
const VERSION = "0.0.0-test";

/** What enters the messages besides the report. */
const SHOWN = { appBaseUrl: "https://app.example", unsubscribe: "mailto:sair@mail.example" };

let fixture: WeeklyFixture;
beforeAll(async () => {
  fixture = await weeklyFixture();
});
afterAll(async () => await fixture[Symbol.asyncDispose]());

async function preview(tenantId: string, week?: string): Promise<Preview[]> {
  return await previewReports(fixture.db.sql, { tenantId, week, ...SHOWN, version: VERSION });
}

/** What the peers got for one owner. */
function sentTo({ phone, email }: SeededOwner) {
  const digits = phone!.replace(/\D/g, "");
  const mail = fixture.email.accepted.find(({ to }) => [to].flat().includes(email!))!;
  return {
    whatsapp: fixture.gateway.accepted.find(({ number }) => number === digits)!.text,
    email: { subject: mail.subject, html: mail.html!, text: mail.text! },
  };
}

describe("previewReports()", () => {
  test("drafts what the next run then sends, and afterwards shows what it sent", async () => {
    const owner = await seedOwner(fixture.db.sql, { sends: [["email.delivered", "email.clicked"], []] });
    await fixture.db.sql`
      insert into social_connections (tenant_id, user_id, network, status)
      values (${owner.tenantId}, ${owner.userId}, 'instagram', 'revoked')`;
    for (const { id: connectionId } of owner.connections)
      await writeAnalysis(
        fixture.db.sql,
        { ...owner, connectionId, windowStart: WEEK.start, windowEnd: WEEK.end },
        { score: 73 },
      );
    const [draft] = await preview(owner.tenantId);
    expect(draft).toMatchObject({ source: "draft", reportId: null, week: "2026-11-16", version: VERSION });

    await fixture.run({ tenantId: owner.tenantId, ...SHOWN });

    const sent = sentTo(owner);
    expect({ whatsapp: draft!.whatsapp, email: draft!.email }).toEqual(sent);
    const [stored] = await preview(owner.tenantId);
    expect(stored).toMatchObject({ source: "stored", ...sent });
    expect(stored!.reportId).not.toBeNull();
  });

  test("shows the stored report even if the database has changed since", async () => {
    const owner = await seedOwner(fixture.db.sql);
    await fixture.run({ tenantId: owner.tenantId, ...SHOWN });
    await fixture.db.sql`update social_account_scores set score = 1 where tenant_id = ${owner.tenantId}`;
    await fixture.db.sql`update credit_wallets set status = 'closed' where tenant_id = ${owner.tenantId}`;
    await setClock(fixture.db.sql, "2026-12-01T11:00:00Z");
    const [stored] = await preview(owner.tenantId, "2026-11-16");
    await setClock(fixture.db.sql, "2026-11-23T11:00:00Z");
    expect(stored).toMatchObject({ source: "stored", ...sentTo(owner) });
  });

  test("drafts a report that failed, one message for each owner, and calls nobody", async () => {
    const owner = await seedOwner(fixture.db.sql, { networks: [] });
    const second = await seedOwner(fixture.db.sql, { tenantId: owner.tenantId, networks: [] });
    await fixture.db.sql`
      insert into weekly_performance_reports (tenant_id, user_id, window_start, window_end, schema_version, status, error_code)
      values (${owner.tenantId}, ${owner.userId}, ${WEEK.start}, ${WEEK.end}, 1, 'failed', 'social_retry')`;
    const before = await databaseSnapshot(fixture.db.sql);
    const calls = [fixture.application, fixture.gateway, fixture.email].map(({ ledger }) => ledger.length);

    const previews = await preview(owner.tenantId);

    expect(previews.map(({ source, userId }) => [source, userId]).toSorted()).toEqual(
      [owner, second].map(({ userId }) => ["draft", userId]).toSorted(),
    );
    expect(await databaseSnapshot(fixture.db.sql)).toEqual(before);
    expect([fixture.application, fixture.gateway, fixture.email].map(({ ledger }) => ledger.length)).toEqual(
      calls,
    );
  });

  test("contains neither the owner's address nor number", async () => {
    const owner = await seedOwner(fixture.db.sql, {
      phone: "+55 (11) 98765-4321",
      email: "fulana@client.example",
    });
    const [{ email, whatsapp } = {} as Preview] = await preview(owner.tenantId);
    const all = `${email.subject}${email.html}${email.text}${whatsapp}`;
    expect(all).not.toMatch(/fulana|98765|4321|reports@mail/);
  });

  test("refuses a content that was removed, and one of another version", async () => {
    const owner = await seedOwner(fixture.db.sql);
    await fixture.run({ tenantId: owner.tenantId });
    const strange = JSON.stringify({ schemaVersion: 7 });
    await fixture.db.sql.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await tx`update weekly_performance_reports set payload = ${strange}::text::jsonb where tenant_id = ${owner.tenantId}`;
    });
    await expect(preview(owner.tenantId)).rejects.toMatchObject({ code: "REPORT_UNREADABLE" });
    await setClock(fixture.db.sql, "2027-03-01T11:00:00Z");
    await fixture.db.sql`select public.prune_weekly_performance_reports('2026-12-01', 1000)`;
    await expect(preview(owner.tenantId, "2026-11-16")).rejects.toMatchObject({ code: "REPORT_PRUNED" });
    await setClock(fixture.db.sql, "2026-11-23T11:00:00Z");
  });

  test("refuses a tenant without a report and without an owner who gets one, and a week that has not ended", async () => {
    const owner = await seedOwner(fixture.db.sql, { wallet: "closed" });
    await expect(preview(owner.tenantId)).rejects.toMatchObject({ code: "TENANT_NOT_ELIGIBLE" });
    await expect(preview(crypto.randomUUID())).rejects.toMatchObject({ code: "TENANT_NOT_ELIGIBLE" });
    await expect(preview(owner.tenantId, "2026-11-23")).rejects.toMatchObject({ code: "WEEK_NOT_CLOSED" });
  });
});

describe("the text of a preview", () => {
  const one: Preview = {
    ...{
      week: "2026-11-16",
      tenantId: "t",
      tenantName: "Padaria \u202eZé",
      userId: "user-1",
      reportId: "report-1",
    },
    ...{ source: "stored", version: "1.0.0", whatsapp: "*Olá*\nlinha" },
    email: { subject: "Assunto", html: "<p>Olá</p>", text: "Olá\u001b[31m\n" },
  };

  test("says on a terminal what it is, without characters that the terminal obeys", () => {
    const text = renderPreviews([{ preview: one, files: null }], "1.1.0");
    expect(text).toContain(
      "Padaria Zé, user user-1, week of 2026-11-16\nStored report report-1: what was sent, or will be.\n",
    );
    expect(text).toContain("Made by opsctl 1.0.0; this is 1.1.0, which may word things differently.\n");
    expect(text).toContain("Olá[31m");
    expect(text).not.toContain("\u001b");
    const draft = renderPreviews(
      [{ preview: { ...one, source: "draft", whatsapp: null }, files: null }],
      "1.0.0",
    );
    expect(draft).toContain(
      "DRAFT: no report is stored; this is what a run would make of the database as it is now.\n",
    );
    expect(draft).toContain("message_too_long");
    expect(draft).not.toContain("Made by");
    expect(renderPreviews([{ preview: one, files: ["/a/b"] }], "1.0.0")).toEndWith(
      "Subject: Assunto\n  /a/b\n",
    );
  });
});
