import { describe, expect, test } from "bun:test";
import { type ListedOwner, listOwners, type OwnerFilter } from "../../lib/reports/list.ts";
import { renderOwnerList } from "../../lib/reports/render-list.ts";
import { NO_TERMINAL } from "../../lib/text/terminal/screen.ts";
import {
  describeWeek,
  emptyWeek,
  type MadeOwner,
  makeOwners,
  type OwnerKind,
  withoutGuards,
} from "./support/week.ts";

const KINDS = {
  done: { report: "completed", whatsapp: "sent", email: "sent" },
  never: { report: "missing" },
  broken: { report: "failed" },
  atWork: { report: "running" },
  unknown: { report: "completed", whatsapp: "unknown", email: "sent" },
  noAddress: { report: "completed", whatsapp: "sent", email: "failed" },
  halfway: { report: "completed", whatsapp: "partial", email: "missing" },
  gone: { report: "completed", whatsapp: "failed", email: "sent", isEligible: false },
} satisfies Record<string, OwnerKind>;

type Name = keyof typeof KINDS;

describeWeek("listOwners()", (ledger) => {
  let owners: Record<Name, MadeOwner>;

  async function seed(): Promise<void> {
    await emptyWeek(ledger);
    const made = await makeOwners(ledger, Object.values(KINDS));
    owners = Object.fromEntries(Object.keys(KINDS).map((name, at) => [name, made[at]!])) as typeof owners;
  }

  /** The names of the owners that a filter leaves, in the order of `KINDS`. */
  async function namesOf(filter: OwnerFilter): Promise<Name[]> {
    const { owners: listed } = await listOwners(ledger.sql, undefined, filter, 100);
    const ids = listed.map(({ userId }) => userId);
    return (Object.keys(KINDS) as Name[]).filter((name) => ids.includes(owners[name].userId));
  }

  test("has a line per owner, also for those whom no run has reached", async () => {
    await seed();
    const { owners: listed, more, next, week } = await listOwners(ledger.sql, undefined, {}, 100);
    expect({ count: listed.length, more, next, week }).toEqual({
      count: 8,
      more: false,
      next: null,
      week: "2026-11-16",
    });
    const of = (name: Name) => listed.find(({ userId }) => userId === owners[name].userId);
    expect(of("never")).toEqual({
      ...{
        tenantId: owners.never.tenantId,
        tenantName: "Tenant",
        userId: owners.never.userId,
        eligible: true,
      },
      ...{ reportId: null, report: "missing", reportCode: null, prunedAt: null },
      ...{ whatsapp: null, email: null, withoutData: null },
    });
    expect(of("broken")).toMatchObject({
      report: "failed",
      reportCode: "report_evidence_failed",
      whatsapp: null,
    });
    expect(of("unknown")).toMatchObject({
      reportId: owners.unknown.reportId!,
      whatsapp: { state: "unknown", code: "gateway_timeout", deliveryId: owners.unknown.whatsappId! },
      email: { state: "sent", code: null, deliveryId: owners.unknown.emailId! },
    });
    expect(of("halfway")).toMatchObject({
      whatsapp: { state: "partial", code: "timeline_entry_failed" },
      email: { state: "missing", code: null, deliveryId: null },
    });
    expect(of("gone")).toMatchObject({ eligible: false });
  });

  test.each([
    [{ state: "open" }, ["never", "broken", "atWork", "unknown", "noAddress", "halfway"]],
    [{ state: "missing" }, ["never", "halfway"]],
    [{ state: "failed" }, ["broken", "noAddress", "gone"]],
    [{ state: "running" }, ["atWork"]],
    [{ state: "unknown" }, ["unknown"]],
    [{ state: "partial" }, ["halfway"]],
    [{ state: "completed" }, ["done", "unknown", "noAddress", "halfway", "gone"]],
    [{ state: "failed", channel: "email" }, ["noAddress"]],
    [{ state: "open", channel: "whatsapp" }, ["unknown", "halfway"]],
    [{ channel: "whatsapp" }, ["never", "broken", "atWork", "unknown", "gone"]],
    [{ channel: "email" }, ["never", "broken", "atWork", "noAddress", "halfway"]],
  ] as [OwnerFilter, Name[]][])("with %j has the owners who fit", async (filter, names) => {
    await seed();
    expect(await namesOf(filter)).toEqual(names);
  });

  test("pages by the last owner's user id, and sees each owner once", async () => {
    await seed();
    const seen: ListedOwner[] = [];
    let after: string | undefined;
    do {
      const page = await listOwners(ledger.sql, undefined, { after }, 3);
      seen.push(...page.owners);
      after = page.next ?? undefined;
    } while (after !== undefined);
    const all = await listOwners(ledger.sql, undefined, {}, 8);
    expect(all.more).toBe(false);
    expect(seen).toEqual(all.owners);
    await expect(listOwners(ledger.sql, undefined, { after: crypto.randomUUID() }, 3)).rejects.toMatchObject({
      code: "OWNER_NOT_FOUND",
    });
  });

  test("says which channels have no data and why, and finds the networks that could not be read", async () => {
    await seed();
    const payload = {
      channels: {
        instagram: { status: "unavailable", reason: "APP_TIMEOUT" },
        linkedin: { status: "unavailable", reason: "not_connected" },
        email: { status: "available", reason: null },
        blog: { status: "unavailable", reason: "not_integrated" },
      },
      provenance: {
        sources: [
          { channel: "instagram", connectionId: crypto.randomUUID(), status: "failed", code: "APP_TIMEOUT" },
          { channel: "linkedin", status: "missing", code: "not_connected" },
        ],
      },
    };
    await withoutGuards(ledger, async (tx) => {
      await tx`update weekly_performance_reports set payload = payload || ${JSON.stringify(payload)}::text::jsonb
        where id = ${owners.done.reportId}`;
    });
    const { owners: listed } = await listOwners(ledger.sql, undefined, { channel: "instagram" }, 100);
    expect(listed).toMatchObject([
      {
        userId: owners.done.userId,
        withoutData: [
          { channel: "instagram", reason: "APP_TIMEOUT" },
          { channel: "linkedin", reason: "not_connected" },
        ],
      },
    ]);
    expect(await namesOf({ channel: "linkedin" })).toEqual([]);
  });

  test("shows a report whose content was removed", async () => {
    await seed();
    await ledger.setClock("2027-03-01T11:00:00Z");
    await ledger.sql`select public.prune_weekly_performance_reports('2026-12-01', 100)`;
    const { owners: listed } = await listOwners(
      ledger.sql,
      "2026-11-16",
      { state: "sent", channel: "email" },
      100,
    );
    expect(listed.length).toBe(3);
    for (const owner of listed)
      expect(owner).toMatchObject({ prunedAt: "2027-03-01T11:00:00Z", withoutData: null });
  });
});

describe("renderOwnerList()", () => {
  const owner: ListedOwner = {
    ...{
      tenantId: "3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d",
      tenantName: "Padaria\n\u001b[31m do \u202eZé",
      userId: "u",
    },
    ...{ eligible: true, reportId: "r", report: "completed", reportCode: null, prunedAt: null },
    whatsapp: { state: "unknown", code: "gateway_timeout", deliveryId: "d" },
    email: { state: "sent", code: null, deliveryId: "e" },
    withoutData: [{ channel: "instagram", reason: "a\u001b]0;x\u0007b" }],
  };
  const list = { week: "2026-11-16", start: "", end: "", more: false, next: null };

  test("shows names and reasons on one line, without characters that a terminal obeys", () => {
    const text = renderOwnerList({ ...list, owners: [owner] }, NO_TERMINAL);
    expect(text.split("\n")).toEqual([
      "TENANT              TENANT ID                             REPORT     WHATSAPP  E-MAIL  NOTES",
      "Padaria [31m do Zé  3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d  completed  unknown   sent    WhatsApp: gateway_timeout; no instagram data: a ]0;x b",
      "",
    ]);
  });

  test("cuts a name that would make every line of a file as long as itself", () => {
    const owners = [owner, { ...owner, tenantName: "W".repeat(5_000) }];
    const lines = renderOwnerList({ ...list, owners }, NO_TERMINAL).split("\n");
    expect(lines[2]).toStartWith(`${"W".repeat(59)}…  3f2b8c1e-`);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(200);
  });

  test("says where to go on, and when nobody matches", () => {
    expect(
      renderOwnerList({ ...list, owners: [owner], more: true, next: "the-user" }, NO_TERMINAL),
    ).toEndWith("There are more: raise --limit, narrow the list, or go on with --after the-user\n");
    expect(renderOwnerList({ ...list, owners: [] }, NO_TERMINAL)).toBe(
      "No owners match in the week of 2026-11-16.\n",
    );
  });

  test("names an owner who gets no reports any more, and a removed content", () => {
    const gone = {
      ...owner,
      eligible: false,
      prunedAt: "2027-03-01T11:00:00Z",
      withoutData: null,
      tenantName: null,
    };
    const text = renderOwnerList({ ...list, owners: [gone] }, NO_TERMINAL);
    expect(text).toContain("WhatsApp: gateway_timeout; content removed; gets no reports any more");
    expect(text.split("\n")[1]).toStartWith("-  ");
  });
});
