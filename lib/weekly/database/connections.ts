import type postgres from "postgres";
import type { Scope } from "./recipients.ts";
import type { Connection } from "./reports.ts";

/** The owner's active connections, as a claim lists them. */
export async function listConnections(sql: postgres.ISql, scope: Scope): Promise<Connection[]> {
  return await sql<Connection[]>`
    select s.id, s.network
    from public.social_connections as s
    where s.tenant_id = ${scope.tenantId}::uuid and s.user_id = ${scope.userId}::uuid
      and s.status = 'active' and s.network in ('instagram', 'linkedin')
    order by s.network, s.created_at, s.id`;
}
