import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { listConnections } from "../../../lib/weekly/database/connections.ts";
import type { Scope } from "../../../lib/weekly/database/recipients.ts";
import type { Connection } from "../../../lib/weekly/database/reports.ts";
import { SCHEMA_VERSION } from "../../../lib/weekly/payload.ts";
import { WEEK } from "../../support/seed.ts";
import { type EvidenceFixture, evidenceFixture } from "../support/evidence-fixture.ts";

let weekly: EvidenceFixture;
beforeAll(async () => {
  weekly = await evidenceFixture();
});
afterAll(() => weekly.close());

async function connect(
  { tenantId, userId }: Scope,
  id: string,
  network: string,
  { status = "active", createdAt = "2026-11-02" } = {},
): Promise<void> {
  await weekly.db.sql`
    insert into social_connections (id, tenant_id, user_id, network, status, created_at)
    values (${id}, ${tenantId}, ${userId}, ${network}, ${status}, ${createdAt}::text::timestamptz)`;
}

/** Who lists an owner's connections: the claim of a report, and the draft of one. */
const LISTS: [string, (scope: Scope) => Promise<Connection[]>][] = [
  ["claimReport()", claimedConnections],
  ["listConnections()", (scope) => listConnections(weekly.db.sql, scope)],
];

async function claimedConnections(scope: Scope): Promise<Connection[]> {
  const claim = await weekly.store.claimReport(scope, WEEK, SCHEMA_VERSION, randomUUID());
  if (!("connections" in claim)) throw new Error(`The claim is ${claim.outcome}`);
  return claim.connections;
}

describe.each(LISTS)("%s lists the connections", (_name, connectionsOf) => {
  async function newOwner(tenantId?: string): Promise<Scope> {
    const scope = await weekly.newOwner(tenantId);
    await weekly.db.sql`
      insert into credit_wallets (tenant_id, status, balance) values (${scope.tenantId}, 'active', 1)
      on conflict do nothing`;
    return scope;
  }

  test("by network, then the older one first, of two made at once the one with the lesser id", async () => {
    const scope = await newOwner();
    const [a, b, c, d] = Array.from({ length: 4 }, () => randomUUID()).toSorted() as [
      ...[string, string, string, string],
    ];
    await connect(scope, a, "linkedin", { createdAt: "2026-11-01" });
    await connect(scope, c, "instagram", { createdAt: "2026-11-03" });
    await connect(scope, b, "instagram", { createdAt: "2026-11-03" });
    await connect(scope, d, "instagram");
    expect((await connectionsOf(scope)).map(({ id, network }) => [id, network])).toEqual([
      [d, "instagram"],
      [b, "instagram"],
      [c, "instagram"],
      [a, "linkedin"],
    ]);
  });

  test("that are active, of the two networks and of nobody else", async () => {
    const scope = await newOwner();
    const [colleague, stranger] = [await newOwner(scope.tenantId), await newOwner()];
    await connect(scope, randomUUID(), "instagram", { status: "revoked" });
    await connect(scope, randomUUID(), "tiktok");
    await connect(colleague, randomUUID(), "instagram");
    await connect({ ...scope, tenantId: stranger.tenantId }, randomUUID(), "instagram");
    expect(await connectionsOf(scope)).toEqual([]);
  });
});
