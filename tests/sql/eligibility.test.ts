import { expect, test } from "bun:test";
import { describeLedger, type Ledger } from "./support/ledger.ts";

type Tenant = {
  wallet?: string | null;
  balance?: number;
  archived?: boolean;
  roles?: string[];
};

/** A tenant as described, with its users in the order of `roles`. */
async function makeTenant(ledger: Ledger, tenant: Tenant): Promise<{ tenantId: string; users: string[] }> {
  const { wallet = "active", balance = 100, archived = false, roles = ["owner"] } = tenant;
  const [row] = await ledger.sql`
    insert into tenants (name, archived_at) values ('Tenant', ${archived ? "2026-01-01" : null}) returning id`;
  const tenantId: string = row!.id;
  if (wallet !== null)
    await ledger.sql`
      insert into credit_wallets (tenant_id, status, balance) values (${tenantId}, ${wallet}, ${balance})`;
  const users: string[] = [];
  for (const role of roles) {
    const [user] = await ledger.sql`
      insert into users (tenant_id, role) values (${tenantId}, ${role}) returning id`;
    users.push(user!.id);
  }
  return { tenantId, users };
}

async function listed(ledger: Ledger, tenantId: string): Promise<string[]> {
  const rows = await ledger.sql`
    select user_id from list_weekly_performance_report_scopes(p_tenant_id => ${tenantId})`;
  return rows.map((row) => row.user_id);
}

describeLedger("list_weekly_performance_report_scopes()", (ledger) => {
  const eligible: [string, Tenant][] = [
    ["an active wallet", {}],
    ["a wallet in grace", { wallet: "grace" }],
    ["a balance of zero", { balance: 0 }],
    ["a negative balance", { balance: -50 }],
    ["an owner among others", { roles: ["owner", "admin", "member"] }],
  ];
  const ineligible: [string, Tenant][] = [
    ["a suspended wallet", { wallet: "suspended" }],
    ["a closed wallet", { wallet: "closed" }],
    ["no wallet", { wallet: null }],
    ["an archived tenant", { archived: true }],
    ["an archived tenant in grace", { archived: true, wallet: "grace" }],
    ["no user at all", { roles: [] }],
    ["no owner", { roles: ["admin", "member"] }],
  ];

  for (const [name, tenant] of eligible)
    test(`lists the owner with ${name}, and the claim agrees`, async () => {
      const { tenantId, users } = await makeTenant(ledger, tenant);
      expect(await listed(ledger, tenantId)).toEqual([users[0]!]);
      expect(await ledger.claimReport({ tenantId, userId: users[0]! })).toMatchObject({ outcome: "claimed" });
    });

  for (const [name, tenant] of ineligible)
    test(`lists nobody with ${name}, and the claim agrees`, async () => {
      const { tenantId, users } = await makeTenant(ledger, tenant);
      expect(await listed(ledger, tenantId)).toEqual([]);
      for (const userId of users)
        expect(await ledger.claimReport({ tenantId, userId })).toMatchObject({ outcome: "ineligible" });
    });

  test("lists every owner of a tenant", async () => {
    const { tenantId, users } = await makeTenant(ledger, { roles: ["owner", "owner"] });
    expect(await listed(ledger, tenantId)).toEqual(users.toSorted());
  });

  test("lists all tenants in the order of their keys", async () => {
    const rows = await ledger.sql`select * from list_weekly_performance_report_scopes()`;
    const keys = rows.map((row) => `${row.tenant_id} ${row.user_id}`);
    expect(keys.length).toBeGreaterThan(5);
    expect(keys).toEqual(keys.toSorted());
  });

  test("lists of all tenants what it lists of each", async () => {
    const all = await ledger.sql`select * from list_weekly_performance_report_scopes()`;
    const each = await ledger.sql`
      select s.* from tenants as t, list_weekly_performance_report_scopes(t.id) as s order by s.tenant_id, s.user_id`;
    expect(Array.from(each)).toEqual(Array.from(all));
  });

  test("changes no wallet", async () => {
    const { tenantId, users } = await makeTenant(ledger, { balance: 7 });
    await ledger.completedReport({ tenantId, userId: users[0]! });
    const [wallet] = await ledger.sql`
      select status, balance::int from credit_wallets where tenant_id = ${tenantId}`;
    expect(wallet).toEqual({ status: "active", balance: 7 });
  });

  test("never looks at tenants.status: any value, null, or no such column", async () => {
    await ledger.sql`alter table tenants alter column status drop not null`;
    for (const status of ["active", "suspended", "archived", null]) {
      const { tenantId, users } = await makeTenant(ledger, {});
      await ledger.sql`update tenants set status = ${status} where id = ${tenantId}`;
      expect(await listed(ledger, tenantId)).toEqual(users);
    }
    await ledger.sql`alter table tenants drop column status`;
    const { tenantId, users } = await makeTenant(ledger, {});
    expect(await listed(ledger, tenantId)).toEqual(users);
    await ledger.completedReport({ tenantId, userId: users[0]! });
  });

  test("takes wallet states and roles to the letter, and no state for none", async () => {
    await ledger.sql.unsafe(`
      alter table credit_wallets drop constraint credit_wallets_status_check, alter status drop not null;
      alter table users drop constraint users_role_check`);
    for (const wallet of ["Active", "GRACE", " active", "cancelled", "", null]) {
      const { tenantId, users } = await makeTenant(ledger, {});
      await ledger.sql`update credit_wallets set status = ${wallet} where tenant_id = ${tenantId}`;
      expect(await listed(ledger, tenantId)).toEqual([]);
      expect(await ledger.claimReport({ tenantId, userId: users[0]! })).toMatchObject({
        outcome: "ineligible",
      });
    }
    const { tenantId } = await makeTenant(ledger, { roles: ["Owner", "OWNER", "owner ", "co-owner", ""] });
    expect(await listed(ledger, tenantId)).toEqual([]);
  });
});
