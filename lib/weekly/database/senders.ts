/** With what a tenant sends, as parts of a statement; null for a tenant that has none, and for no tenant. */
import type postgres from "postgres";

/** The name of the newest messaging instance. */
export function newestInstance(sql: postgres.ISql, tenantId: string | null) {
  return sql`
      (select i.instance_name from public.messaging_instances as i
       where i.tenant_id = ${tenantId}::uuid
       order by i.created_at desc, i.id desc limit 1)`;
}

/** `tenant_config.config.email`. */
export function emailSettings(sql: postgres.ISql, tenantId: string | null) {
  return sql`
      (select t.config -> 'email' from public.tenant_config as t
       where t.tenant_id = ${tenantId}::uuid)`;
}
