/** Functions and deletions that meet wait for each other, and no deadlock ends either. */
import { beforeEach, expect, test } from "bun:test";
import type postgres from "postgres";
import { type Claim, describeLedger, type Ledger, type Owner } from "./support/ledger.ts";

/** How an application deletes an owner in one transaction: the user first, or a tenant whose keys cascade. */
const ERASURES = {
  "the user": async (tx: postgres.ISql, { userId }: Owner) => {
    await tx`delete from timeline_entries where user_id = ${userId}`;
    await tx`delete from users where id = ${userId}`;
  },
  "the user, then the tenant": async (tx: postgres.ISql, { tenantId, userId }: Owner) => {
    await tx`delete from timeline_entries where user_id = ${userId}`;
    await tx`delete from credit_wallets where tenant_id = ${tenantId}`;
    await tx`delete from users where id = ${userId}`;
    await tx`delete from tenants where id = ${tenantId}`;
  },
  "the tenant, and its keys take the user along": async (tx: postgres.ISql, { tenantId }: Owner) => {
    await tx`delete from tenants where id = ${tenantId}`;
  },
};
type Erasure = keyof typeof ERASURES;
const ERASURE_NAMES = Object.keys(ERASURES) as Erasure[];

async function cascadeInTheApplication({ sql }: Ledger): Promise<void> {
  for (const [table, parent] of [
    ["users", "tenant"],
    ["credit_wallets", "tenant"],
    ["timeline_entries", "tenant"],
    ["timeline_entries", "user"],
  ] as const)
    await sql.unsafe(`
      alter table ${table} drop constraint if exists ${table}_${parent}_id_fkey,
        add constraint ${table}_${parent}_id_fkey foreign key (${parent}_id) references ${parent}s (id) on delete cascade`);
}

async function dispatchedOf(ledger: Ledger, owner: Owner): Promise<Claim & { reportId: string }> {
  const reportId = await ledger.completedReport(owner);
  const claim = await ledger.claimDelivery(reportId);
  await ledger.dispatch(claim);
  return { ...claim, reportId };
}

/** Holds what `lock` locks, starts `meanwhile`, and goes on with `then` once that waits for a lock. */
async function whileLocked<T>(
  ledger: Ledger,
  lock: (tx: postgres.TransactionSql) => Promise<unknown>,
  meanwhile: () => Promise<T>,
  then: (tx: postgres.TransactionSql) => Promise<unknown>,
): Promise<T> {
  let result: Promise<T> | undefined;
  await ledger.sql.begin(async (tx) => {
    await tx`set local deadlock_timeout = '900ms'`;
    await lock(tx);
    result = meanwhile();
    result.catch(() => {});
    await ledger.untilWaiting();
    await then(tx);
  });
  return await result!;
}

describeLedger("a deletion that has locked an owner's user", (ledger) => {
  beforeEach(async () => {
    await ledger.empty();
    await cascadeInTheApplication(ledger);
  });

  const lockUser = (owner: Owner) => (tx: postgres.ISql) =>
    tx`select from users where id = ${owner.userId} for update`;

  test.each(ERASURE_NAMES.slice(0, 2))("goes on while a send is settled: %s", async (name) => {
    const owner = await ledger.newOwner();
    const claim = await dispatchedOf(ledger, owner);
    const settled = await whileLocked(
      ledger,
      lockUser(owner),
      () => ledger.settle(claim, "sent", "3EB0"),
      (tx) => ERASURES[name](tx, owner),
    );
    expect(settled).toEqual({ status: "erased", code: null });
  });

  test.each(ERASURE_NAMES.slice(0, 2))("goes on while an unknown result is reconciled: %s", async (name) => {
    const owner = await ledger.newOwner();
    const claim = await dispatchedOf(ledger, owner);
    await ledger.settle(claim, "unknown", null, "gateway_timeout");
    const reconciled = whileLocked(
      ledger,
      lockUser(owner),
      () => ledger.reconcile(claim.id, "sent", "3EB0"),
      (tx) => ERASURES[name](tx, owner),
    );
    await expect(reconciled).rejects.toMatchObject({ code: "OW021" });
  });

  test.each(ERASURE_NAMES.slice(0, 2))("goes on while the owner's report is claimed: %s", async (name) => {
    const owner = await ledger.newOwner();
    const claimed = whileLocked(
      ledger,
      lockUser(owner),
      () => ledger.claimReport(owner),
      (tx) => ERASURES[name](tx, owner),
    );
    await expect(claimed).rejects.toMatchObject({ code: "23503" });
  });

  test("lets a send be settled with its entry when it is rolled back", async () => {
    const owner = await ledger.newOwner();
    const claim = await dispatchedOf(ledger, owner);
    let settled: Promise<unknown> | undefined;
    const deletion = ledger.sql.begin(async (tx) => {
      await ERASURES["the user"](tx, owner);
      settled = ledger.settle(claim, "sent", "3EB0");
      await ledger.untilWaiting();
      throw new Error("changed their mind");
    });
    await expect(deletion).rejects.toThrow("changed their mind");
    expect(await settled).toEqual({ status: "sent", code: null });
    expect(await ledger.sql`select from timeline_entries where user_id = ${owner.userId}`).toHaveLength(1);
  });
});

describeLedger("a deletion that has locked an owner's tenant, whose keys cascade,", (ledger) => {
  test.each(["a report is claimed", "a send is settled"])("goes on while %s", async (what) => {
    await ledger.empty();
    await cascadeInTheApplication(ledger);
    const owner = await ledger.newOwner();
    const claim = what === "a send is settled" ? await dispatchedOf(ledger, owner) : null;
    const outcome = await whileLocked(
      ledger,
      (tx) => tx`select from tenants where id = ${owner.tenantId} for update`,
      async () =>
        claim
          ? (await ledger.settle(claim, "sent", "3EB0")).status
          : await ledger.claimReport(owner).catch(({ code }) => code),
      (tx) => ERASURES["the tenant, and its keys take the user along"](tx, owner),
    );
    expect(outcome).toBe(claim ? "erased" : "23503");
  });
});

describeLedger("a deletion that has locked one of an owner's two reports of a week", (ledger) => {
  test("goes on while a delivery of it is claimed", async () => {
    await ledger.empty();
    await cascadeInTheApplication(ledger);
    const owner = await ledger.newOwner();
    const reports = [await ledger.completedReport(owner), await ledger.otherVersion(owner)].sort();
    const claimed = await whileLocked(
      ledger,
      (tx) => tx`select from weekly_performance_reports where id = ${reports[1]!} for update`,
      () => ledger.claimDelivery(reports[1]!).catch(({ code }) => code),
      (tx) => ERASURES["the user"](tx, owner),
    );
    expect(claimed).toBe("OW003");
  });
});

describeLedger("a message that was settled twice at the same time", (ledger) => {
  beforeEach(() => ledger.empty());

  const entries = ({ sql }: Ledger, id: string) =>
    sql`select from timeline_entries where metadata ->> 'deliveryId' = ${id}`;

  test("has one timeline entry: by one worker whose first answer is still on its way", async () => {
    const claim = await dispatchedOf(ledger, await ledger.newOwner());
    const settled = await Promise.all([1, 2, 3, 4].map(() => ledger.settle(claim, "sent", "3EB0")));
    expect(settled).toEqual(settled.map(() => ({ status: "sent", code: null })));
    expect(await entries(ledger, claim.id)).toHaveLength(1);
  });

  test("has one timeline entry: by operators who reconcile it", async () => {
    const { id } = await ledger.unknownDelivery();
    const results = await Promise.allSettled([1, 2, 3, 4].map(() => ledger.reconcile(id, "sent", "3EB0")));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const one of results)
      if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "OW030" });
    expect(await entries(ledger, id)).toHaveLength(1);
  });

  test("has one timeline entry: by operators who repair it", async () => {
    const claim = await ledger.dispatchedDelivery();
    await ledger.sql`alter table timeline_entries add constraint broken check (false) not valid`;
    await ledger.settle(claim, "sent", "3EB0");
    await ledger.sql`alter table timeline_entries drop constraint broken`;
    const repaired = await Promise.all(
      [1, 2, 3, 4].map(() => ledger.sql`select * from repair_weekly_performance_delivery(${claim.id})`),
    );
    for (const [row] of repaired) expect(row).toEqual({ status: "sent", error_code: null });
    expect(await entries(ledger, claim.id)).toHaveLength(1);
  });
});

describeLedger("many deletions, claims, settlings and reconciliations at once", (ledger) => {
  const OWNERS = 60;

  /** What meets the deletion of one owner, and what each of it came to: an outcome, or the code of its refusal. */
  async function meet(owner: Owner, at: number): Promise<string[]> {
    const claim = await dispatchedOf(ledger, owner);
    const other = at % 2 === 0 ? await ledger.otherVersion(owner) : claim.reportId;
    const settled = at % 3 === 0 ? await ledger.settle(claim, "unknown", null, "gateway_timeout") : null;
    const result =
      at % 5 === 0
        ? { status: "failed", id: null, code: "gateway_400" }
        : { status: "sent", id: `3EB0${at}`, code: null };
    const calls = [
      () => ledger.sql.begin((tx) => ERASURES[ERASURE_NAMES[at % ERASURE_NAMES.length]!](tx, owner)),
      () => ledger.settleAndClaimEmail(claim, claim.reportId, result),
      () => ledger.settle(claim, result.status, result.id, result.code),
      () => ledger.claimDelivery(other, "email"),
      () => ledger.claimReport(owner),
      ...(settled ? [() => ledger.reconcile(claim.id, "sent", `3EB0${at}`)] : []),
    ];
    const turn = at % calls.length;
    return await Promise.all([...calls.slice(turn), ...calls.slice(0, turn)].map(codeOf));
  }

  /** The code that a call ends with, as its refusal or its remark. */
  async function codeOf(call: () => Promise<unknown>): Promise<string> {
    const outcome = (await call().catch((error: unknown) => error)) as { code?: unknown } | null | undefined;
    return String(outcome?.code ?? "done");
  }

  test("end without a deadlock and without a lost entry", async () => {
    await ledger.empty();
    await cascadeInTheApplication(ledger);
    const owners = await Promise.all(Array.from({ length: OWNERS }, () => ledger.newOwner()));
    const outcomes = (await Promise.all(owners.map(meet))).flat();
    expect([...new Set(outcomes)].sort()).toEqual(expect.not.arrayContaining(["40P01"]));
    expect(outcomes).not.toContain("timeline_entry_failed");
    expect(await ledger.sql`select from users`).toHaveLength(0);
    expect(await ledger.sql`select from weekly_performance_reports`).toHaveLength(0);
  });

  /** What meets the deletion of an owner whose report is stored and whose message is claimed in one statement. */
  async function meetStoring(owner: Owner, at: number): Promise<string[]> {
    const claim = await ledger.claimReport(owner);
    const other = await ledger.otherVersion(owner);
    const calls = [
      () => ledger.sql.begin((tx) => ERASURES[ERASURE_NAMES[at % ERASURE_NAMES.length]!](tx, owner)),
      () => ledger.persistAndClaim(owner, claim),
      () => ledger.claimDelivery(other),
      () => ledger.claimReport(owner),
    ];
    const turn = at % calls.length;
    return await Promise.all([...calls.slice(turn), ...calls.slice(0, turn)].map(codeOf));
  }

  test("end without a deadlock while reports are stored", async () => {
    await ledger.empty();
    await cascadeInTheApplication(ledger);
    const owners = await Promise.all(Array.from({ length: OWNERS }, () => ledger.newOwner()));
    const outcomes = (await Promise.all(owners.map(meetStoring))).flat();
    expect([...new Set(outcomes)].sort()).toEqual(expect.not.arrayContaining(["40P01"]));
    expect(await ledger.sql`select from users`).toHaveLength(0);
    expect(await ledger.sql`select from weekly_performance_reports`).toHaveLength(0);
  });
});
