import { describe, expect, test } from "bun:test";
import { seedOwner } from "../../support/seed.ts";
import { deliveriesByOwner } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";

const shared = sharedWeekly();

describe("runWeekly() with owners who cannot be reached by WhatsApp", () => {
  test("each is failed before the gateway is asked anything, gets the e-mail, and is sent to once the number is there", async () => {
    const weekly = shared();
    const { db, gateway, email } = weekly;
    const phones = [
      null,
      "",
      "   ",
      "\n\t",
      "abc",
      "sem telefone",
      "123",
      "4321",
      "+55 11",
      "99999999999999999999",
    ];
    for (const phone of phones) await seedOwner(db.sql, { phone, networks: [] });
    const reachable = await seedOwner(db.sql, { phone: "(11) 98765-4321", networks: [] });

    const summary = await weekly.run();

    expect(summary).toMatchObject({ exitCode: 1, heartbeat: "kept" });
    expect(summary.whatsapp).toMatchObject({ sent: 1, failed: phones.length });
    expect(summary.email.sent).toBe(phones.length + 1);
    expect(gateway.routes.state.calls).toHaveLength(1);
    expect(gateway.accepted.map(({ number }) => number)).toEqual(["5511987654321"]);
    const rows = await deliveriesByOwner(weekly, "whatsapp");
    expect(rows.get(reachable.userId)).toMatchObject({ status: "sent", maskedHint: "4321" });
    rows.delete(reachable.userId);
    expect(rows.size).toBe(phones.length);
    for (const row of rows.values()) {
      expect(row).toMatchObject({
        status: "failed",
        errorCode: "recipient_phone_missing",
        maskedHint: null,
        senderTenantId: null,
        dispatched: false,
      });
    }

    await db.sql`update users set phone = '+55 11 9' || lpad((ascii(right(id::text, 1)) * 100000)::text, 8, '5')
                 where id <> ${reachable.userId}`;
    expect(await weekly.run()).toMatchObject({
      status: "success",
      whatsapp: { sent: phones.length, reused: 1 },
      email: { sent: 0, reused: phones.length + 1 },
    });
    expect(gateway.accepted).toHaveLength(phones.length + 1);
    expect(email.accepted).toHaveLength(phones.length + 1);
    const again = await deliveriesByOwner(weekly, "whatsapp");
    for (const [userId, row] of rows) expect(again.get(userId)).toMatchObject({ id: row.id, attempts: 2 });
  });
});

describe("runWeekly() with owners who cannot be reached by e-mail", () => {
  test("each is failed before the provider is called, gets the message, and is sent to once the address is there", async () => {
    const weekly = shared();
    const { db, gateway, email } = weekly;
    const addresses = [
      null,
      "",
      "  ",
      "x",
      "@x.example",
      "x@",
      "a b@c.example",
      "Ana <ana@client.example>",
      "a@client.example, b@client.example",
      '"a@b"@client.example',
      "ana@client.example\nbcc: eve@other.example",
      "a@b@c.example",
    ];
    for (const address of addresses) await seedOwner(db.sql, { email: address, networks: [] });

    const summary = await weekly.run();

    expect(summary).toMatchObject({ exitCode: 1, heartbeat: "kept" });
    expect(summary.email).toMatchObject({ sent: 0, failed: addresses.length });
    expect(summary.whatsapp.sent).toBe(addresses.length);
    expect(email.ledger).toHaveLength(0);
    const rows = await deliveriesByOwner(weekly, "email");
    expect(rows.size).toBe(addresses.length);
    for (const row of rows.values()) {
      expect(row).toMatchObject({ status: "failed", errorCode: "recipient_email_missing", maskedHint: null });
    }

    await db.sql`update users set email = 'owner.' || id || '@client.example' where role = 'owner'`;
    expect((await weekly.run()).email).toMatchObject({ sent: addresses.length });
    expect(gateway.accepted).toHaveLength(addresses.length);
    for (const row of rows.values()) {
      expect(email.accepted.find(({ to }) => String(to).includes(row.userId))?.idempotencyKey).toBe(
        `weekly-performance-email/${row.id}`,
      );
    }
  });

  test("blanks and invisible characters around an address or a number are no reason to leave an owner out", async () => {
    const weekly = shared();
    const { db, gateway, email } = weekly;
    await seedOwner(db.sql, {
      email: "\u00A0\u200Bana@client.example\uFEFF\n",
      phone: "\u00A0\u200B11 98765-4321\uFEFF\n",
      networks: [],
    });
    expect(await weekly.run()).toMatchObject({ status: "success", exitCode: 0 });
    expect(email.accepted.map(({ to }) => [to].flat())).toEqual([["ana@client.example"]]);
    expect(gateway.accepted.map(({ number }) => number)).toEqual(["5511987654321"]);
    const hints = await db.sql`select masked_hint from weekly_performance_deliveries order by channel desc`;
    expect(hints.map(({ masked_hint }) => masked_hint)).toEqual(["4321", "a***@client.example"]);
  });

  test("the recipient is the owner of this tenant, not another user of it or the same address elsewhere", async () => {
    const weekly = shared();
    const { db } = weekly;
    const owner = await seedOwner(db.sql, { networks: [] });
    await seedOwner(db.sql, { tenantId: owner.tenantId, role: "admin", networks: [] });
    await seedOwner(db.sql, { tenantId: owner.tenantId, role: "member", networks: [] });
    const second = await seedOwner(db.sql, { tenantId: owner.tenantId, networks: [] });
    expect(await weekly.run()).toMatchObject({ reports: { scopes: 2, completed: 2 } });
    const to = weekly.email.accepted.map((accepted) => String(accepted.to)).sort();
    expect(to).toEqual([owner.email!, second.email!].sort());
  });

  test("a corrected e-mail under a key that the provider has seen with another body is unknown, and stays so", async () => {
    const weekly = shared();
    const { db, email } = weekly;
    const owner = await seedOwner(db.sql, { networks: [] });
    email.routes.send.next({
      status: 422,
      json: { statusCode: 422, name: "validation_error", message: "no" },
    });
    expect((await weekly.run()).email.failed).toBe(1);
    await db.sql`update users set email = 'new@client.example' where id = ${owner.userId}`;
    email.routes.send.next({
      status: 409,
      json: { statusCode: 409, name: "invalid_idempotent_request", message: "no" },
    });
    expect((await weekly.run()).email.unknown).toBe(1);
    const [first, second] = email.routes.send.calls;
    expect(second!.headers["idempotency-key"]).toBe(first!.headers["idempotency-key"]!);
    expect((await weekly.run()).email).toMatchObject({ sent: 0, unknown: 1 });
    expect(email.routes.send.calls).toHaveLength(2);
  });
});
