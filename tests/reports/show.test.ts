import { expect, test } from "bun:test";
import { renderShown } from "../../lib/reports/render-show.ts";
import { type ShowTarget, showReports } from "../../lib/reports/show.ts";
import { NO_TERMINAL } from "../../lib/text/terminal/screen.ts";
import { SENDER } from "../sql/support/ledger.ts";
import { describeWeek, emptyWeek, makeOwners, type OwnerKind, withoutGuards } from "./support/week.ts";

describeWeek("showReports()", (ledger) => {
  async function shown(target: ShowTarget) {
    return await showReports(ledger.sql, target);
  }

  async function ownerOf(kind: OwnerKind) {
    await emptyWeek(ledger);
    const [owner] = await makeOwners(ledger, [kind]);
    return owner!;
  }

  test("describes a report's way in words, from its claim to the provider's id", async () => {
    const owner = await ownerOf({ report: "completed", whatsapp: "sent", email: "failed" });
    const [report, ...others] = await shown({ reportId: owner.reportId! });
    expect(others).toEqual([]);
    expect(report!.timeline).toMatchObject([
      { at: "2026-11-23T11:00:00Z", about: "report", text: "claimed by a run" },
      {
        about: "report",
        text: expect.stringMatching(/^completed: coverage partial, no score, fingerprint [0-9a-f]{12}…$/),
      },
      { about: "whatsapp", text: "claimed by a run" },
      { about: "whatsapp", text: `given to the provider for 4321, by sender tenant ${SENDER}` },
      { about: "whatsapp", text: `sent, provider id provider-${owner.whatsappId}` },
      { about: "email", text: "claimed by a run" },
      { about: "email", text: "failed: recipient_email_missing" },
    ]);
    expect(report!.next).toEqual(["opsctl weekly"]);
    expect(await shown({ tenantId: owner.tenantId, week: undefined })).toEqual([report!]);
  });

  test("names who decided what about an unknown delivery, once", async () => {
    const owner = await ownerOf({ report: "completed", whatsapp: "unknown", email: "sent" });
    const [before] = await shown({ reportId: owner.reportId! });
    expect(before!.next).toEqual([`opsctl deliveries look-up ${owner.whatsappId}`]);
    expect(before!.timeline.map(({ text }) => text)).toContain("in doubt (unknown): gateway_timeout");
    await ledger.setClock("2026-11-24T12:00:00Z");
    await ledger.reconcile(owner.whatsappId!, "sent", "3EB0", "seen on the\nsending phone", "ana");
    const [after] = await shown({ reportId: owner.reportId! });
    expect(after!.next).toEqual([]);
    const lines = after!.timeline.filter(({ at }) => at === "2026-11-24T12:00:00Z");
    expect(lines).toHaveLength(1);
    expect(lines[0]!.text).toMatch(
      /^reconciled as sent by ana \(login \w+\): seen on the\nsending phone, provider id 3EB0$/,
    );
    expect(renderShown([after!], NO_TERMINAL)).toContain(
      "  2026-11-24 09:00:00  WhatsApp  reconciled as sent by ana",
    );
    expect(renderShown([after!], NO_TERMINAL)).toContain("seen on the sending phone, provider id 3EB0\n");
  });

  test("wraps a reason that begins with the name of a command", async () => {
    const owner = await ownerOf({ report: "completed", whatsapp: "unknown", email: "sent" });
    const reason =
      "opsctl deliveries look-up: the gateway keeps one message with this text to this recipient";
    await ledger.reconcile(owner.whatsappId!, "sent", "3EB1", reason, "ana");
    const lines = renderShown(await shown({ reportId: owner.reportId! }), { ...NO_TERMINAL, width: 80 });
    expect(lines.replaceAll(/\s+/g, " ")).toContain(reason);
    expect(lines.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  test("shows both the decision that nothing was sent and the later send", async () => {
    const owner = await ownerOf({ report: "completed", whatsapp: "unknown", email: "sent" });
    await ledger.moveClock("1 minute");
    await ledger.reconcile(owner.whatsappId!, "failed", null, "not on the phone", "ana");
    await ledger.moveClock("1 minute");
    const claim = await ledger.claimDelivery(owner.reportId!);
    await ledger.dispatch(claim);
    await ledger.settle(claim, "sent", "second-id");
    const [report] = await shown({ reportId: owner.reportId! });
    const texts = report!.timeline.filter(({ about }) => about === "whatsapp").map(({ text }) => text);
    expect(texts).toEqual([
      "claimed for the first time; 2 attempts in all",
      expect.stringContaining("reconciled as failed by ana"),
      expect.stringContaining("given to the provider"),
      "sent, provider id second-id",
    ]);
  });

  test.each([
    [{ report: "running" }, "report", "a run works on it, until 2026-11-23 08:45:00 at most"],
    [{ report: "left" }, "report", "failed: the run that worked on it ended without a word"],
    [{ report: "failed" }, "report", "failed: report_evidence_failed"],
    [
      { report: "completed", whatsapp: "left_after_dispatch" },
      "whatsapp",
      "in doubt (unknown): the run that held it ended without a word",
    ],
    [
      { report: "completed", whatsapp: "left_before_dispatch" },
      "whatsapp",
      "failed before it was sent: the run that held it ended without a word",
    ],
    [
      { report: "completed", whatsapp: "running" },
      "whatsapp",
      "at the latest then the run that holds it has sent it, or is counted as ended",
    ],
    [
      { report: "completed", whatsapp: "partial" },
      "whatsapp",
      expect.stringMatching(
        /^sent, provider id \S+; the timeline lacks its entry \(timeline_entry_failed\)$/,
      ),
    ],
  ] as [OwnerKind, string, string][])("names the state of %j", async (kind, about, text) => {
    const owner = await ownerOf(kind);
    const [report] = await shown({ reportId: owner.reportId! });
    const entries = report!.timeline.filter((entry) => entry.about === about);
    expect(entries.at(-1)!.text).toEqual(text);
    expect(report!.timeline.map(({ at }) => at)).toEqual(report!.timeline.map(({ at }) => at).toSorted());
  });

  test("says that no run has reached an owner", async () => {
    const owner = await ownerOf({ report: "missing" });
    const reports = await shown({ tenantId: owner.tenantId, week: "2026-11-16" });
    expect(reports).toMatchObject([
      { details: null, timeline: [], next: ["opsctl weekly"], userId: owner.userId },
    ]);
    expect(renderShown(reports, NO_TERMINAL)).toContain(
      "  Report    missing: no run has reached this owner\n",
    );
  });

  test("an owner who gets no reports any more is no reason for a run", async () => {
    const owner = await ownerOf({ report: "failed", isEligible: false });
    const reports = await shown({ tenantId: owner.tenantId, week: undefined });
    expect(reports).toMatchObject([{ eligible: false, next: [] }]);
    expect(renderShown(reports, NO_TERMINAL)).toContain(`${owner.tenantId}, gets no reports any more\n`);
  });

  test("keeps what stays of a removed content", async () => {
    const owner = await ownerOf({ report: "completed", whatsapp: "sent", email: "sent" });
    await ledger.setClock("2027-03-01T11:00:00Z");
    await ledger.sql`select public.prune_weekly_performance_reports('2026-12-01', 100)`;
    const [report] = await shown({ reportId: owner.reportId! });
    expect(report!.timeline.at(-1)).toEqual({
      ...{ at: "2027-03-01T11:00:00Z", about: "report" },
      text: "content removed; state and fingerprint stay",
    });
    expect(report!.timeline.map(({ text }) => text)).toContainEqual(
      expect.stringMatching(/^completed: coverage partial, fingerprint/),
    );
  });

  test("names the networks without data", async () => {
    const owner = await ownerOf({ report: "completed", whatsapp: "sent", email: "sent" });
    const payload = {
      accountScore: { score: 73 },
      channels: { instagram: { status: "unavailable", reason: "APP_TIMEOUT" } },
      provenance: { worker: { version: "9.9.9" } },
    };
    await withoutGuards(ledger, async (tx) => {
      await tx`update weekly_performance_reports set payload = payload || ${JSON.stringify(payload)}::text::jsonb
        where id = ${owner.reportId}`;
    });
    const [report] = await shown({ reportId: owner.reportId! });
    expect(report!.timeline[1]!.text).toMatch(
      /^completed: coverage partial, score 73, without data of instagram \(APP_TIMEOUT\), by opsctl 9\.9\.9, fingerprint/,
    );
  });

  test("refuses an id that no report has, and a tenant without report and owner", async () => {
    await emptyWeek(ledger);
    const id = crypto.randomUUID();
    for (const target of [{ reportId: id }, { tenantId: id, week: undefined }])
      await expect(shown(target)).rejects.toMatchObject({ code: "REPORT_NOT_FOUND" });
    await expect(shown({ tenantId: id, week: "2026-11-23" })).rejects.toMatchObject({
      code: "WEEK_NOT_CLOSED",
    });
  });
});
