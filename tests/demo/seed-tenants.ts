import { randomUUID } from "node:crypto";
import type postgres from "postgres";
import { type SeededOwner, seedOwner, WEEK } from "../support/seed.ts";
import type { Analysis, DemoTenant } from "./tenants.ts";

/** A customer in the database, with what the application will find for each connection. */
export type SeededTenant = DemoTenant & { owner: SeededOwner; findings: Map<string, Analysis> };

const WEEK_BEFORE = { start: "2026-11-09T03:00:00Z", end: WEEK.start };

/**
 * Writes the customers into the application's tables.
 *
 * Behaviour: their ids are in the order of the list, so that a run takes them in this order; a name that comes twice is
 *            one tenant with two owners.
 */
export async function seedTenants(sql: postgres.Sql, tenants: DemoTenant[]): Promise<SeededTenant[]> {
  const seeded: SeededTenant[] = [];
  const ids = tenants.map(() => randomUUID()).sort();
  for (const tenant of tenants) {
    const tenantId = ids[tenants.findIndex(({ name }) => name === tenant.name)]!;
    const networks = tenant.analyses.map(({ network }) => network);
    const owner = await seedOwner(sql, { ...tenant.seed, tenantId, tenantName: tenant.name, networks });
    if (tenant.previousScore !== undefined) {
      await sql`
        insert into social_account_scores (tenant_id, user_id, window_start, window_end, score)
        values (${owner.tenantId}, ${owner.userId}, ${WEEK_BEFORE.start}, ${WEEK_BEFORE.end},
                ${tenant.previousScore})`;
    }
    const findings = new Map(owner.connections.map(({ id }, i) => [id, tenant.analyses[i]!]));
    seeded.push({ ...tenant, owner, findings });
  }
  return seeded;
}
