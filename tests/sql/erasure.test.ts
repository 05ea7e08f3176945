import { beforeEach, expect, test } from "bun:test";
import {
  type Claim,
  describeLedger,
  type Ledger,
  type Owner,
  refusal,
  validPersist,
} from "./support/ledger.ts";

/** How the application erases a user: its own rows about them first, then the user, then perhaps the tenant. */
async function eraseUser(ledger: Ledger, { userId }: Owner): Promise<void> {
  await ledger.sql`delete from timeline_entries where user_id = ${userId}`;
  await ledger.sql`delete from users where id = ${userId}`;
}

async function eraseTenant(ledger: Ledger, owner: Owner): Promise<void> {
  await eraseUser(ledger, owner);
  await ledger.sql`delete from credit_wallets where tenant_id = ${owner.tenantId}`;
  await ledger.sql`delete from tenants where id = ${owner.tenantId}`;
}

/** How many rows opsctl still has about a user. */
async function rowsAbout(ledger: Ledger, { userId }: Owner): Promise<number> {
  const [row] = await ledger.sql`
    select ((select count(*) from weekly_performance_reports where user_id = ${userId})
          + (select count(*) from weekly_performance_deliveries where user_id = ${userId})
          + (select count(*) from weekly_performance_reconciliations))::int as rows`;
  return row!.rows;
}

async function deliveryOf(ledger: Ledger, owner: Owner, channel = "whatsapp"): Promise<Claim> {
  return await ledger.claimDelivery(await ledger.completedReport(owner), channel);
}

async function dispatchedOf(ledger: Ledger, owner: Owner): Promise<Claim> {
  const claim = await deliveryOf(ledger, owner);
  await ledger.dispatch(claim);
  return claim;
}

async function settledOf(
  ledger: Ledger,
  owner: Owner,
  status: string,
  id: string | null,
  code: string | null,
) {
  const claim = await dispatchedOf(ledger, owner);
  await ledger.settle(claim, status, id, code);
  return claim;
}

type Build = (ledger: Ledger, owner: Owner) => Promise<unknown>;

const STATES: [string, Build][] = [
  ["a report that a run makes", (ledger, owner) => ledger.claimReport(owner)],
  [
    "a failed report",
    async (ledger, owner) => ledger.failReport(await ledger.claimReport(owner), "report_persist_failed"),
  ],
  ["a completed report", (ledger, owner) => ledger.completedReport(owner)],
  ["a claimed delivery", deliveryOf],
  ["a delivery that is being sent", dispatchedOf],
  ["a failed delivery", (ledger, owner) => settledOf(ledger, owner, "failed", null, "gateway_400")],
  [
    "a delivery with an unknown result",
    (ledger, owner) => settledOf(ledger, owner, "unknown", null, "gateway_timeout"),
  ],
  ["a sent delivery", (ledger, owner) => settledOf(ledger, owner, "sent", "3EB0", null)],
  [
    "a reconciled delivery",
    async (ledger, owner) => {
      const { id } = await settledOf(ledger, owner, "unknown", null, "gateway_timeout");
      await ledger.reconcile(id, "sent", `3EB0-${id}`);
    },
  ],
  [
    "a report whose content was removed",
    async (ledger, owner) => {
      await settledOf(ledger, owner, "sent", "3EB0", null);
      await ledger.setClock("2027-03-01T11:00:00Z");
      await ledger.sql`select prune_weekly_performance_reports('2026-11-23T03:00:00Z', 10)`;
    },
  ],
];

describeLedger("a user or tenant whom the application deletes", (ledger) => {
  beforeEach(() => ledger.empty());

  test.each(STATES)("takes all rows along: %s", async (_name, build) => {
    for (const erase of [eraseUser, eraseTenant]) {
      const [owner, other] = [await ledger.newOwner(), await ledger.newOwner()];
      await build(ledger, owner);
      await ledger.setClock("2026-11-23T11:00:00Z");
      await ledger.completedReport(other);
      expect(await rowsAbout(ledger, owner)).toBeGreaterThan(0);
      await erase(ledger, owner);
      expect(await rowsAbout(ledger, owner)).toBe(0);
      expect(await rowsAbout(ledger, other)).toBe(1);
    }
  });

  test("goes in one statement, too, where the application's own keys cascade", async () => {
    const owner = await ledger.newOwner();
    await settledOf(ledger, owner, "unknown", null, "gateway_timeout");
    await ledger.sql.unsafe(`
      alter table users drop constraint users_tenant_id_fkey,
        add constraint users_tenant_id_fkey foreign key (tenant_id) references tenants (id) on delete cascade;
      alter table credit_wallets drop constraint credit_wallets_tenant_id_fkey,
        add constraint credit_wallets_tenant_id_fkey foreign key (tenant_id) references tenants (id) on delete cascade`);
    await ledger.sql`delete from tenants where id = ${owner.tenantId}`;
    expect(await rowsAbout(ledger, owner)).toBe(0);
  });

  test("is deleted by the application's own role, which may not touch opsctl's rows", async () => {
    const owner = await ledger.newOwner();
    await settledOf(ledger, owner, "unknown", null, "gateway_timeout");
    await ledger.sql`grant select, delete on users to anon`;
    await ledger.as("anon", (tx) => tx`delete from users where id = ${owner.userId}`);
    expect(await rowsAbout(ledger, owner)).toBe(0);
    await ledger.sql`revoke all on users from anon`;
  });

  test("takes nothing along when the deletion is rolled back", async () => {
    const owner = await ledger.newOwner();
    await settledOf(ledger, owner, "sent", "3EB0", null);
    await ledger.sql`delete from timeline_entries`;
    const deletion = ledger.sql.begin(async (tx) => {
      await tx`delete from users where id = ${owner.userId}`;
      throw new Error("changed their mind");
    });
    await expect(deletion).rejects.toThrow("changed their mind");
    expect(await rowsAbout(ledger, owner)).toBe(2);
  });
});

describeLedger("a row whose user and tenant are there", (ledger) => {
  test("is never deleted by itself, nor with its report", async () => {
    await ledger.empty();
    const owner = await ledger.newOwner();
    const { id } = await settledOf(ledger, owner, "unknown", null, "gateway_timeout");
    await ledger.reconcile(id, "failed", null);
    for (const table of ["reports", "deliveries"])
      expect(await refusal(ledger.sql.unsafe(`delete from weekly_performance_${table}`))).toBe(
        "OW033 weekly_performance_rows_are_kept",
      );
    expect(await refusal(ledger.sql`delete from weekly_performance_reconciliations`)).toStartWith("OW031");
    expect(await rowsAbout(ledger, owner)).toBe(3);
  });
});

describeLedger("a run that worked for an erased owner", (ledger) => {
  test("is refused by each function, and settle answers erased without a failure", async () => {
    const owner = await ledger.newOwner();
    const claim = await ledger.claimReport(owner);
    await eraseUser(ledger, owner);
    expect(await refusal(ledger.persist(owner, claim, validPersist(owner, claim)))).toBe(
      "OW003 report_not_found",
    );
    expect(await refusal(ledger.failReport(claim, "x"))).toBe("OW003 report_not_found");
    expect(await refusal(ledger.claimDelivery(claim.id))).toBe("OW003 report_not_found");
    expect(await ledger.claimReport(owner)).toMatchObject({ outcome: "ineligible", token: null });

    for (const [status, id, code] of [
      ["sent", "3EB0", null],
      ["failed", null, "gateway_400"],
      ["unknown", null, "gateway_timeout"],
    ] as const) {
      const another = await ledger.newOwner();
      const delivery = await dispatchedOf(ledger, another);
      await eraseTenant(ledger, another);
      expect(await ledger.settle(delivery, status, id, code)).toEqual({ status: "erased", code: null });
      expect(await refusal(ledger.dispatch(delivery))).toBe("OW021 delivery_not_found");
      expect(await refusal(ledger.reconcile(delivery.id, "sent", "3EB0"))).toBe("OW021 delivery_not_found");
    }
  });
});

describeLedger("the message of an erased owner", (ledger) => {
  beforeEach(() => ledger.empty());

  const remembered = async () =>
    Array.from(
      await ledger.sql`select encode(digest, 'hex') as digest from weekly_performance_erased_messages`,
    );

  async function unknownOfAnother(): Promise<string> {
    const { id } = await settledOf(ledger, await ledger.newOwner(), "unknown", null, "gateway_timeout");
    return id;
  }

  test("is never another delivery's, neither when it was recorded before nor after", async () => {
    const other = await unknownOfAnother();
    const [before, after] = [await ledger.newOwner(), await ledger.newOwner()];
    await settledOf(ledger, before, "sent", "3EB0BEFORE", null);
    const underWay = await dispatchedOf(ledger, after);
    for (const owner of [before, after]) await eraseTenant(ledger, owner);
    expect(await ledger.settle(underWay, "sent", "3EB0AFTER")).toEqual({ status: "erased", code: null });
    for (const id of ["3EB0BEFORE", "3EB0AFTER"])
      expect(await refusal(ledger.reconcile(other, "sent", id))).toStartWith("OW034");
    expect(await ledger.reconcile(other, "sent", "3EB0ANOTHER")).toMatchObject({ status: "sent" });
  });

  test("leaves a digest and nothing that reveals the id, one that was not sent leaves nothing", async () => {
    const digest = (id: string) =>
      new Bun.CryptoHasher("sha256").update(`weekly_performance_message ${id}`).digest("hex");
    for (const [status, id, code] of [
      ["sent", "wamid.NTUxMTk4NzY1NDMyMQ", null],
      ["failed", null, "gateway_400"],
      ["unknown", null, "gateway_timeout"],
    ] as const) {
      const owner = await ledger.newOwner();
      await settledOf(ledger, owner, status, id, code);
      await eraseUser(ledger, owner);
    }
    expect(await remembered()).toEqual([{ digest: digest("wamid.NTUxMTk4NzY1NDMyMQ") }]);
  });

  test("is forgotten by a prune of the weeks before the day of the erasure, and by no earlier one", async () => {
    const owner = await ledger.newOwner();
    await settledOf(ledger, owner, "sent", "3EB0", null);
    await eraseUser(ledger, owner);
    await ledger.setClock("2027-03-01T11:00:00Z");
    const prune = (before: string) =>
      ledger.sql`select prune_weekly_performance_reports(${before}::text::timestamptz, 10)`;
    await prune("2026-11-23T03:00:00Z");
    expect(await remembered()).toHaveLength(1);
    await prune("2026-11-30T03:00:00Z");
    expect(await remembered()).toEqual([]);
  });

  test("does not stay remembered when the deletion is rolled back", async () => {
    const owner = await ledger.newOwner();
    const { id } = await settledOf(ledger, owner, "sent", "3EB0", null);
    const deletion = ledger.sql.begin(async (tx) => {
      await tx`delete from timeline_entries`;
      await tx`delete from users where id = ${owner.userId}`;
      throw new Error("changed their mind");
    });
    await expect(deletion).rejects.toThrow("changed their mind");
    expect(await remembered()).toEqual([]);
    expect(await ledger.delivery(id)).toMatchObject({ status: "sent" });
  });
});
