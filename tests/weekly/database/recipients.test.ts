import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import type { Scope } from "../../../lib/weekly/database/recipients.ts";
import { WEEK } from "../../support/seed.ts";
import { type EvidenceFixture, evidenceFixture } from "../support/evidence-fixture.ts";
import { weeksBefore, writePastReport } from "../support/past-report.ts";

let weekly: EvidenceFixture;
beforeAll(async () => {
  weekly = await evidenceFixture();
});
afterAll(() => weekly.close());

/** Lets the database list these scopes in this order; with `readOnly` only to a transaction that can write nothing. */
async function list(scopes: readonly Scope[], { readOnly = false } = {}): Promise<void> {
  const rows = scopes.map(({ tenantId, userId }) => `('${tenantId}'::uuid, '${userId}'::uuid)`);
  const refusal = "if current_setting('transaction_read_only') = 'off' then raise 'may write'; end if;";
  await weekly.db.sql.unsafe(`
    create or replace function list_weekly_performance_report_scopes(p_tenant_id uuid default null)
    returns table (tenant_id uuid, user_id uuid) language plpgsql stable set search_path = pg_catalog, pg_temp
    as $$ begin ${readOnly ? refusal : ""} return query values ${rows.join(", ")}; end $$`);
}

const keyOf = ({ tenantId, userId }: Scope) => `${tenantId} ${userId}`;
const inKeyOrder = (scopes: readonly Scope[]) => scopes.map(keyOf).toSorted();

/** Two tenants with three owners each, in an order that is that of no key. */
let owners: Scope[];
beforeEach(async () => {
  const [first, second] = [randomUUID(), randomUUID()];
  owners = [];
  for (const tenantId of [second, first, first, second, second, first])
    owners.push(await weekly.newOwner(tenantId));
  owners.sort((one, other) => (inKeyOrder([one, other])[0] === keyOf(one) ? 1 : -1));
  owners.push(owners.shift()!);
  await list(owners);
});

type ReadPage = (tenantId: string | null, after: Scope | null, limit: number) => Promise<Scope[]>;

/** The lists of owners, each of those that the run reads page by page. */
const LISTS: [string, ReadPage][] = [
  ["listScopes", (...page) => weekly.store.listScopes(...page)],
  ["listNewScopes", (tenantId, ...page) => weekly.store.listNewScopes(tenantId, WEEK, ...page)],
  ["listRecipients", (...page) => weekly.store.listRecipients(...page)],
];

describe.each(LISTS)("%s()", (_name, readPage) => {
  /** All pages of two, or more owners than there are; fails on a page that is longer. */
  async function pagesOfTwo(tenantId: string | null): Promise<string[]> {
    const read: Scope[] = [];
    for (;;) {
      const page = await readPage(tenantId, read.at(-1) ?? null, 2);
      expect(page.length).toBeLessThanOrEqual(2);
      read.push(...page);
      if (page.length === 0 || read.length > owners.length) return read.map(keyOf);
    }
  }

  test("gives every owner once, page by page in key order, in whichever order they are listed", async () => {
    expect(await pagesOfTwo(null)).toEqual(inKeyOrder(owners));
  });

  test("gives those of one tenant when it is named", async () => {
    const { tenantId } = owners[0]!;
    const wanted = owners.filter((owner) => owner.tenantId === tenantId);
    expect(await pagesOfTwo(tenantId)).toEqual(inKeyOrder(wanted));
  });
});

describe("countScopes()", () => {
  test("counts all, or those of one tenant", async () => {
    expect(await weekly.store.countScopes(null)).toBe(6);
    expect(await weekly.store.countScopes(owners[0]!.tenantId)).toBe(3);
  });
});

describe("listNewScopes()", () => {
  test("leaves out who has a report of exactly this window, tenant and user together", async () => {
    const [reported, colleague, ...others] = owners.filter(
      ({ tenantId }) => tenantId === owners[0]!.tenantId,
    ) as [Scope, Scope, Scope];
    const stranger = owners.find(({ tenantId }) => tenantId !== reported.tenantId)!;
    const misplaced = { tenantId: stranger.tenantId, userId: colleague.userId };
    for (const scope of [reported, misplaced]) await writePastReport(weekly.db.sql, scope, WEEK);
    const before = weeksBefore(WEEK, 1);
    const after = weeksBefore(WEEK, -1);
    for (const window of [before, { ...WEEK, start: before.start }, { ...WEEK, end: after.end }])
      await writePastReport(weekly.db.sql, stranger, window);
    await list([reported, colleague, ...others, stranger]);
    const found = await weekly.store.listNewScopes(null, WEEK, null, 10);
    expect(found.map(keyOf)).toEqual(inKeyOrder([colleague, ...others, stranger]));
  });
});

describe("listRecipients()", () => {
  test("has nobody's phone and e-mail under another tenant or for a colleague", async () => {
    const [one, other] = [await weekly.newOwner(), await weekly.newOwner()];
    const colleague = await weekly.newOwner(one.tenantId);
    await weekly.db.sql`update users set phone = '1', email = 'one@client.example' where id = ${one.userId}`;
    const misplaced = { tenantId: other.tenantId, userId: one.userId };
    await list([one, colleague, misplaced]);
    const recipients = await weekly.store.listRecipients(null, null, 10);
    expect(new Map(recipients.map(({ phone, email, ...scope }) => [keyOf(scope), [phone, email]]))).toEqual(
      new Map([
        [keyOf(one), ["1", "one@client.example"]],
        [keyOf(colleague), [null, null]],
        [keyOf(misplaced), [null, null]],
      ]),
    );
  });

  test("is read where nothing can be written", async () => {
    await list(owners, { readOnly: true });
    expect(await weekly.store.listRecipients(null, null, 10)).toHaveLength(6);
    await expect(weekly.store.listScopes(null, null, 10)).rejects.toThrow("may write");
  });
});

describe("ownerExists()", () => {
  test("is true of a user of this tenant alone", async () => {
    const [one, other] = [await weekly.newOwner(), await weekly.newOwner()];
    const exists = [
      one,
      { ...one, tenantId: other.tenantId },
      { ...one, userId: randomUUID() },
      { tenantId: randomUUID(), userId: randomUUID() },
    ].map((scope) => weekly.store.ownerExists(scope));
    expect(await Promise.all(exists)).toEqual([true, false, false, false]);
  });
});

describe("readSenders()", () => {
  test("is the newest instance of one tenant, of two made at once the one with the greater id", async () => {
    const { sql } = weekly.db;
    const [one, other] = [await weekly.newOwner(), await weekly.newOwner()];
    const ids = Array.from({ length: 4 }, () => randomUUID()).toSorted();
    const madeAt = ["2026-11-02", "2026-11-03", "2026-11-03", "2026-11-01"];
    for (const n of [0, 1, 2, 3])
      await sql`
        insert into messaging_instances (id, tenant_id, instance_name, created_at)
        values (${ids[n]!}, ${one.tenantId}, ${`instance ${n}`}, ${madeAt[n]!}::text::timestamptz)`;
    await sql`
      insert into messaging_instances (tenant_id, instance_name, created_at)
      values (${other.tenantId}, 'of another tenant', '2026-11-20')`;
    for (const { tenantId } of [one, other])
      await sql`
        insert into tenant_config (tenant_id, config)
        values (${tenantId}, jsonb_build_object('email', ${tenantId}::text))`;
    expect(await weekly.store.readSenders(one.tenantId, other.tenantId)).toEqual({
      instanceName: "instance 2",
      emailSender: other.tenantId,
    });
    expect(await weekly.store.readSenders(null, null)).toEqual({ instanceName: null, emailSender: null });
  });
});
