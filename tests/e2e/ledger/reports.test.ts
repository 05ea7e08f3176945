import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { databaseSnapshot } from "../../support/database-snapshot.ts";
import { seedOwner } from "../../support/seed.ts";
import { type Fixture, openFixture } from "../support/fixture.ts";

/** A Monday after which one owner has everything, one message has an unknown result, and one owner has no phone. */
async function openMixedFixture() {
  const fixture = await openFixture();
  const { sql } = fixture.db;
  const fulana = {
    phone: "+55 (11) 98765-4321",
    email: "fulana@client.example",
    tenantName: "Padaria do Zé",
  };
  const sent = await seedOwner(sql, fulana);
  const noPhone = await seedOwner(sql, { phone: null, tenantName: "Oficina" });
  await sql`update users set created_at = '2026-11-01'`;
  return { fixture, sent, noPhone };
}

async function filesOf(fixture: Fixture, tenantId: string) {
  const out = join(fixture.folder, "preview");
  const args = ["reports", "preview", "--tenant", tenantId, "--out", out, "--json"];
  const { exitCode, json, stderr } = await fixture.opsctl(args);
  expect(exitCode, stderr).toBe(0);
  const [preview] = json.previews as { source: string; subject: string; files: string[] }[];
  const [html, text, whatsapp] = preview!.files.map((path) => readFileSync(path, "utf8"));
  return { source: preview!.source, subject: preview!.subject, html, text, whatsapp };
}

describe.concurrent("opsctl reports", () => {
  test("shows a Monday before the run, after a failed one and after its repeat, and changes nothing", async () => {
    const { fixture, sent, noPhone } = await openMixedFixture();
    await using _ = fixture;
    const opsctl = (args: string[]) => fixture.opsctl(["reports", ...args]);
    const looking = ["status", "--json"];

    const before = await opsctl(looking);
    expect(before.json).toMatchObject({
      ...{ command: "reports status", status: "failed", exitCode: 1, error: null, clean: false },
      open: [{ step: "reports", state: "missing", count: 2, next: "opsctl weekly" }],
    });
    expect(before.exitCode).toBe(1);

    const { summary } = await fixture.weekly(["--json"]);
    expect(summary).toMatchObject({ exitCode: 1, whatsapp: { sent: 1, failed: 1 }, email: { sent: 2 } });
    const calls = fixture.requests();
    const rows = await databaseSnapshot(fixture.db.sql);

    const failed = await opsctl(looking);
    expect(failed.json).toMatchObject({
      ...{ week: "2026-11-16", retryableUntil: "2026-11-24T03:00:00Z" },
      open: [{ step: "whatsapp", state: "failed", code: "recipient_phone_missing", count: 1 }],
    });
    const screen = await opsctl(["status"]);
    expect({ exitCode: screen.exitCode, stderr: screen.stderr }).toEqual({ exitCode: 1, stderr: "" });
    expect(screen.stdout).toContain(
      "can be repeated until 2026-11-24 00:00:00 (São Paulo):\n  1 WhatsApp message failed",
    );
    expect(screen.stdout).toEndWith("\nTimes are those of America/Sao_Paulo.\n");

    const list = await opsctl(["list", "--state", "failed", "--json"]);
    expect(list.json).toMatchObject({
      ...{ exitCode: 0, more: false, next: null },
      owners: [
        { tenantId: noPhone.tenantId, tenantName: "Oficina", report: "completed", email: { state: "sent" } },
      ],
    });
    const shown = await opsctl(["show", "--tenant", sent.tenantId.toUpperCase()]);
    expect(shown.exitCode, shown.stderr).toBe(0);
    expect(shown.stdout).toContain(
      `provider id ${fixture.email.accepted.find(({ to }) => [to].flat().includes(sent.email!))!.id}\n`,
    );
    const [report] = list.json.owners as { reportId: string }[];
    const byId = await opsctl(["show", report!.reportId, "--json"]);
    expect(byId.json).toMatchObject({ reports: [{ tenantId: noPhone.tenantId, next: ["opsctl weekly"] }] });

    const narrow = await fixture.opsctl(["reports", "list"], { env: { COLUMNS: "60" } });
    expect(Math.max(...narrow.stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(60);
    expect(narrow.stdout).toContain(sent.tenantId);
    for (const { stdout, stderr } of [before, failed, screen, list, shown, byId, narrow])
      expect(stdout + stderr).not.toMatch(/98765|fulana@/);
    expect(await databaseSnapshot(fixture.db.sql)).toEqual(rows);
    expect(fixture.requests()).toEqual(calls);

    await fixture.db.sql`update users set phone = '+55 (11) 91234-0000' where id = ${noPhone.userId}`;
    await fixture.weekly(["--json"]);
    const clean = await opsctl(looking);
    expect(clean.json).toMatchObject({ exitCode: 0, status: "success", clean: true, open: [] });
  });
});

describe.concurrent("opsctl reports preview", () => {
  test("previews byte by byte what is sent, before and after", async () => {
    const { fixture, sent } = await openMixedFixture();
    await using _ = fixture;
    await fixture.weekly(["--json", "--skip-whatsapp", "--skip-email"]);
    const before = await filesOf(fixture, sent.tenantId);
    await fixture.weekly(["--json"]);
    const after = await filesOf(fixture, sent.tenantId);

    const { html, text, subject } = fixture.email.accepted.find(({ to }) =>
      [to].flat().includes(sent.email!),
    )!;
    const [{ text: whatsapp } = { text: "" }] = fixture.gateway.accepted;
    expect(before).toEqual({ source: "stored", subject, html, text, whatsapp });
    expect(after).toEqual(before);
    const printed = await fixture.opsctl(["reports", "preview", "--tenant", sent.tenantId]);
    expect(printed.stdout).toContain(`--- WhatsApp ---\n${whatsapp}\n`);
    const out = join(fixture.folder, "preview");
    const names = ["email.html", "email.txt", "whatsapp.txt"].map(
      (part) => `2026-11-16.${sent.userId}.${part}`,
    );
    expect(readdirSync(out).toSorted()).toEqual(names);
    for (const path of [out, ...names.map((name) => join(out, name))])
      expect(statSync(path).mode & 0o077).toBe(0);
    const line = await fixture.opsctl(["reports", "preview", "--tenant", sent.tenantId, "--json"]);
    expect(line.json).toMatchObject({ previews: [{ subject, html, text, whatsapp, source: "stored" }] });
  });
});

describe.concurrent("opsctl reports", () => {
  test("opsctl reports under another login than the owner shows names, states and drafts", async () => {
    const { fixture, sent } = await openMixedFixture();
    await using _ = fixture;
    const { json } = await fixture.opsctl(["reports", "list", "--state", "missing", "--json"]);
    expect((json.owners as { tenantName: string }[]).map(({ tenantName }) => tenantName).toSorted()).toEqual([
      "Oficina",
      "Padaria do Zé",
    ]);
    const draft = await fixture.opsctl(["reports", "preview", "--tenant", sent.tenantId]);
    expect(draft.exitCode, draft.stderr).toBe(0);
    expect(draft.stdout).toContain("DRAFT: no report is stored");
    const [file, taken] = ["file", "taken"].map((name) => join(fixture.folder, name)) as [string, string];
    writeFileSync(file, "");
    mkdirSync(join(taken, `2026-11-16.${sent.userId}.email.html`), { recursive: true });
    for (const out of [file, taken]) {
      const refused = await fixture.opsctl([
        "reports",
        "preview",
        "--tenant",
        sent.tenantId,
        "--out",
        out,
        "--json",
      ]);
      expect(refused.json).toMatchObject({ exitCode: 1, error: { code: "PREVIEW_UNWRITABLE" } });
    }
    expect(fixture.requests()).toEqual([]);
  });

  test("ends with 2 for what cannot be meant, with 1 for what is not there, with 3 without migrations", async () => {
    const { fixture } = await openMixedFixture();
    await using _ = fixture;
    const id = "3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d";
    const ends = async (...args: string[]) => {
      const { exitCode, json } = await fixture.opsctl(["reports", ...args, "--json"]);
      return [exitCode, (json.error as { code: string }).code];
    };
    expect(await ends("status", "--week", "2026-11-23")).toEqual([2, "WEEK_NOT_CLOSED"]);
    expect(await ends("show", id)).toEqual([1, "REPORT_NOT_FOUND"]);
    expect(await ends("list", "--after", id)).toEqual([1, "OWNER_NOT_FOUND"]);
    expect(await ends("preview", "--tenant", id)).toEqual([3, "TENANT_NOT_ELIGIBLE"]);
    await using empty = await openFixture({ migrated: false });
    const { exitCode, json } = await empty.opsctl(["reports", "status", "--json"]);
    expect([exitCode, (json.error as { code: string }).code]).toEqual([3, "DATABASE_OBJECT_MISSING"]);
  });

  test("reports how the last run of this host ended, and works without its file", async () => {
    const { fixture } = await openMixedFixture();
    await using _ = fixture;
    await fixture.weekly(["--json"]);
    const known = await fixture.opsctl(["reports", "status", "--json"]);
    expect(known.json).toMatchObject({
      lastRun: { status: "failed", code: "recipient_phone_missing", begunAt: "2026-11-23T11:00:00Z" },
    });
    const elsewhere = { OPSCTL_LOG_DIR: join(fixture.folder, "nothing") };
    const unknown = await fixture.opsctl(["reports", "status", "--json"], { env: elsewhere });
    const { lastRun: _known, ...sameWeek } = known.json;
    expect(unknown.json).toEqual({ ...sameWeek, lastRun: null });
    writeFileSync(join(fixture.logDir, "weekly_performance_reports.last.json"), "torn");
    const relative = await fixture.opsctl(["reports", "status", "--json"], {
      env: { OPSCTL_LOG_DIR: "logs" },
    });
    expect({ ...relative.json, lastRun: null }).toEqual({ ...unknown.json, lastRun: null });
    expect(relative.exitCode).toBe(unknown.exitCode);
    expect(relative.stderr).toContain("OPSCTL_LOG_DIR is no absolute path");

    const torn = await fixture.opsctl(["reports", "status", "--json"]);
    expect(torn.json).toMatchObject({ ...sameWeek, lastRun: null });
    expect(torn.stderr).toContain("LAST_RUN_MALFORMED");
  });
});
