import { expect, test } from "bun:test";
import type postgres from "postgres";
import { newLogin } from "../support/roles.ts";
import { WEEK } from "../support/seed.ts";
import { describeLedger, type Owner } from "./support/ledger.ts";

const NEXT_WEEK = "2026-11-23T03:00:00Z";

async function idOf(
  sql: postgres.ISql,
  { tenantId, userId }: Owner,
  { start = WEEK.start, version = 1, channel = "email" } = {},
): Promise<string> {
  const [row] = await sql`
    select public.weekly_performance_delivery_id(
      ${tenantId}::uuid, ${userId}::uuid, ${start}::text::timestamptz, ${version}::integer, ${channel}::text) as id`;
  return row!.id;
}

describeLedger("the id of a delivery", (ledger) => {
  test("follows from owner, masked address, week, version and channel, and from nothing else", async () => {
    const [owner, other] = [await ledger.newOwner(), await ledger.newOwner()];
    const id = await idOf(ledger.sql, owner);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    const changed = [
      await idOf(ledger.sql, other),
      await idOf(ledger.sql, { ...owner, tenantId: other.tenantId }),
      await idOf(ledger.sql, owner, { start: NEXT_WEEK }),
      await idOf(ledger.sql, owner, { version: 2 }),
      await idOf(ledger.sql, owner, { channel: "whatsapp" }),
    ];
    await ledger.sql`update users set email = 'ana@client.example' where id = ${owner.userId}`;
    changed.push(await idOf(ledger.sql, owner));
    expect(new Set([id, ...changed]).size).toBe(7);
    // What the ledger must not keep cannot be guessed from the id.
    await ledger.sql`update users set email = 'amelia@client.example' where id = ${owner.userId}`;
    expect(await idOf(ledger.sql, owner)).toBe(changed.at(-1)!);

    for (const setting of ["TimeZone = 'Asia/Kathmandu'", "DateStyle = 'German'", "extra_float_digits = -15"])
      await ledger.sql.begin(async (tx) => {
        await tx.unsafe(`set local ${setting}`);
        expect(await idOf(tx, owner)).toBe(changed.at(-1)!);
      });
  });

  test("is the one that a claim gives", async () => {
    const report = await ledger.completedReport();
    const { tenant_id: tenantId, user_id: userId } = await ledger.report(report);
    expect((await ledger.claimDelivery(report, "email")).id).toBe(
      await idOf(ledger.sql, { tenantId, userId }),
    );
  });

  test("follows from the rest where the functions' owner may not read the address", async () => {
    const owner = await ledger.newOwner();
    const login = await newLogin(ledger.sql, "grant select (id) on users to");
    const withoutAddress = await idOf(ledger.sql, owner);
    await ledger.sql`update users set email = 'ana@client.example' where id = ${owner.userId}`;
    await ledger.sql.unsafe(
      `grant execute on function weekly_performance_delivery_id(uuid, uuid, timestamptz, integer, text) to ${login}`,
    );
    await ledger.sql.begin(async (tx) => {
      await tx.unsafe(`set local role ${login}`);
      expect(await idOf(tx, owner)).toBe(withoutAddress);
    });
  });
});
