import { describe, expect, test } from "bun:test";
import { databaseSnapshot } from "../../support/database-snapshot.ts";
import { seedOwner } from "../../support/seed.ts";
import { type Fixture, openFixture } from "../support/fixture.ts";

type Row = { id: string; state: string; code: string | null; channel: string; maskedHint: string | null };

async function list(fixture: Fixture, args: string[]): Promise<Row[]> {
  const { exitCode, json, stderr } = await fixture.opsctl(["deliveries", "list", "--json", ...args]);
  expect(exitCode, stderr).toBe(0);
  return json.deliveries as Row[];
}

/** One owner whose message has an unknown result, and whose e-mail is sent. */
async function openUnknownFixture(): Promise<{ fixture: Fixture; id: string }> {
  const fixture = await openFixture();
  await seedOwner(fixture.db.sql, { phone: "+55 (11) 98765-4321", email: "fulana@client.example" });
  fixture.gateway.routes.send.next({ accept: "drop" });
  const { summary } = await fixture.weekly(["--json"]);
  expect(summary).toMatchObject({ exitCode: 1, whatsapp: { unknown: 1 }, email: { sent: 1 } });
  return { fixture, id: summary.failures[0]!.deliveryId! };
}

describe.concurrent("opsctl deliveries", () => {
  test("finds the unknown delivery, shows it, and settles it as sent", async () => {
    const { fixture, id } = await openUnknownFixture();
    await using _ = fixture;
    const before = await databaseSnapshot(fixture.db.sql);

    const unknown = await list(fixture, ["--state", "unknown"]);
    const shown = await fixture.opsctl(["deliveries", "show", id, "--json"]);
    const forPeople = await fixture.opsctl(["deliveries", "show", id]);

    expect(unknown).toMatchObject([{ id, state: "unknown", channel: "whatsapp", maskedHint: "4321" }]);
    expect(shown.json).toMatchObject({
      exitCode: 0,
      delivery: { id, state: "unknown" },
      reconciliations: [],
    });
    expect(forPeople.stdout).toContain(`opsctl deliveries reconcile ${id} --to sent`);
    for (const { stdout } of [shown, forPeople]) expect(stdout).not.toMatch(/98765|fulana@/);
    expect(await databaseSnapshot(fixture.db.sql)).toEqual(before);

    const reconcile = ["deliveries", "reconcile", id, "--to", "sent", "--provider-message-id", "3EB0ABCDEF"];
    const reason = ["--reason", "seen on the sending phone", "--actor", "operator", "--json"];
    const settled = await fixture.opsctl([...reconcile, ...reason]);
    const twice = await fixture.opsctl([...reconcile, ...reason]);
    const next = await fixture.weekly(["--json"]);

    expect(settled.exitCode, settled.stderr).toBe(0);
    expect(settled.json).toMatchObject({ delivery: { id, state: "sent" }, error: null });
    expect(twice.exitCode).toBe(1);
    expect(twice.json).toMatchObject({ error: { code: "DELIVERY_NOT_UNKNOWN" } });
    expect(next.summary).toMatchObject({
      exitCode: 0,
      whatsapp: { sent: 0, reused: 1 },
      heartbeat: "written",
    });
    expect(fixture.gateway.accepted).toHaveLength(1);
    const after = await fixture.opsctl(["deliveries", "show", id, "--json"]);
    expect(after.json).toMatchObject({
      delivery: { state: "sent", providerMessageId: "3EB0ABCDEF" },
      reconciliations: [{ state: "sent", reason: "seen on the sending phone", actor: "operator" }],
    });
    const timeline = await fixture.db.sql`select source from timeline_entries`;
    expect([...timeline]).toEqual([{ source: "weekly_performance_report" }]);
  });
});

describe.concurrent("an unknown delivery", () => {
  test("reconciled as failed is sent by the next run on the same Monday", async () => {
    const { fixture, id } = await openUnknownFixture();
    await using _ = fixture;

    const settled = await fixture.opsctl([
      "deliveries",
      "reconcile",
      id,
      "--to",
      "failed",
      "--reason",
      "not there",
    ]);
    const failed = await list(fixture, ["--state", "failed"]);
    const next = await fixture.weekly(["--json"]);

    expect(settled.exitCode, settled.stderr).toBe(0);
    expect(failed).toMatchObject([{ id, state: "failed", retryableUntil: "2026-11-24T03:00:00Z" }]);
    expect(next.summary).toMatchObject({ exitCode: 0, whatsapp: { sent: 1 }, email: { reused: 1 } });
    expect(fixture.gateway.accepted).toHaveLength(2);
    expect(await list(fixture, ["--state", "unknown"])).toEqual([]);
  });

  test("left alone stays unknown, and every run says so", async () => {
    const { fixture, id } = await openUnknownFixture();
    await using _ = fixture;
    for (let run = 0; run < 2; run += 1) {
      const { summary } = await fixture.weekly(["--json"]);
      expect(summary).toMatchObject({ exitCode: 1, whatsapp: { unknown: 1 }, heartbeat: "kept" });
      expect(summary.failures).toMatchObject([{ code: "delivery_unknown", deliveryId: id }]);
    }
    expect(fixture.gateway.routes.send.calls).toHaveLength(1);
  });

  test("is not reconciled by a reason that names the recipient, nor one that is not there", async () => {
    const { fixture, id } = await openUnknownFixture();
    await using _ = fixture;
    const before = await databaseSnapshot(fixture.db.sql);
    const base = ["deliveries", "reconcile", "--json", "--to", "failed", "--reason"];
    const named = await fixture.opsctl([...base, "asked fulana@client.example", id]);
    const absent = await fixture.opsctl([...base, "x", "3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d"]);
    expect(named.json).toMatchObject({ error: { code: "RECONCILE_REASON_PRIVATE" } });
    expect(named.exitCode).toBe(2);
    expect(named.stdout + named.stderr).not.toContain("fulana@client.example");
    expect(absent.json).toMatchObject({ error: { code: "DELIVERY_NOT_FOUND" } });
    expect(absent.exitCode).toBe(1);
    expect(await databaseSnapshot(fixture.db.sql)).toEqual(before);
  });
});
