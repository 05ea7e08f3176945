import type postgres from "postgres";
import { recordAccess } from "./migrations.ts";
import type { TableRequirement } from "./requirements.ts";

/** `login` connects for the weekly run, `owner` owns opsctl's functions. */
type Side = "login" | "owner";
type Maker = TableRequirement["maker"];

/** What the database's catalog lacks of the requirements; roles are quoted where SQL needs it. */
export type Catalog = {
  login: string;
  serverVersion: number;
  /** Whether the login is, or has the privileges of, `service_role`; null when there is no such role. */
  isService: boolean | null;
  /** Whether one of opsctl's functions exists. */
  isMigrated: boolean;
  /** Roles, functions and tables that do not exist; with `columns` only those do not. */
  missing: { object: string; columns: string[] | null; maker: Maker | "platform" }[];
  /** Privileges that a role lacks; `columns` is null for the whole object. */
  lacking: { side: Side; role: string; privilege: string; object: string; columns: string[] | null }[];
  /** Tables whose rows are hidden from a role: the side's own, or the owner of the view in the table's place. */
  hidden: { side: Side; role: string; isViewOwner: boolean; table: string; maker: Maker }[];
  /** Whether the record of migrations exists, and whether the login may read it and sees its rows. */
  record: { exists: boolean; readable: boolean; visible: boolean };
};

/**
 * Compares the requirements with the catalog, in one statement and without touching a row.
 *
 * Behaviour: without `functions` the login is about to make them: it is the owner, and need not read as the weekly login.
 */
export async function readCatalog(
  sql: postgres.Sql,
  tables: readonly TableRequirement[],
  functions: readonly string[],
): Promise<Catalog> {
  const isMaker = functions.length === 0;
  const [row] = await sql<[{ catalog: Catalog }]>`
    with recursive service as (
      select oid from pg_roles where rolname = 'service_role'
    ), function as materialized (
      select f.name, p.oid, p.proowner, p.prosecdef
      from jsonb_array_elements_text(${JSON.stringify(functions)}::text::jsonb) as f(name)
      left join pg_proc as p
        on p.proname = split_part(f.name, '(', 1) and p.pronamespace = 'public'::regnamespace
        -- A login with quote_all_identifiers sees "uuid".
        and replace(oidvectortypes(p.proargtypes), '"', '') = rtrim(split_part(f.name, '(', 2), ')')
    ), side as materialized (
      select 'login' as side, r.oid, quote_ident(r.rolname) as role from pg_roles as r
      where r.rolname = current_user and not ${isMaker}::boolean
      union all
      select 'owner', r.oid, quote_ident(r.rolname) from pg_roles as r
      where case when ${isMaker}::boolean then r.rolname = current_user
                 else r.oid in (select f.proowner from function as f where f.prosecdef) end
    ), wanted as materialized (
      select split_part(g.name, ' ', 1) as side, split_part(g.name, ' ', 2) as privilege, t."table", t.maker,
             n.name as "column", c.oid as relation, a.attnum
      from jsonb_to_recordset(${JSON.stringify(tables)}::text::jsonb)
        as t("table" text, columns jsonb, grants jsonb, maker text)
      cross join jsonb_array_elements_text(t.grants) as g(name)
      cross join jsonb_array_elements_text(t.columns) as n(name)
      left join pg_class as c
        on c.relname = t."table" and c.relnamespace = 'public'::regnamespace
        and c.relkind in ('r', 'p', 'v', 'm', 'f')
      left join pg_attribute as a
        on a.attrelid = c.oid and a.attname = n.name and a.attnum > 0 and not a.attisdropped
    ), missing as (
      select 'table public.' || w."table" as object, w.maker,
             case when w.relation is not null then jsonb_agg(distinct w."column") end as columns
      from wanted as w where w.attnum is null group by w."table", w.maker, w.relation
      union all
      select 'function public.' || f.name, 'opsctl', null from function as f where f.oid is null
      union all
      select 'role ' || n.name, 'platform', null
      from (values ('anon'), ('authenticated'), ('service_role')) as n(name)
      where ${isMaker}::boolean and to_regrole(n.name) is null
      union all
      select 'function auth.uid()', 'platform', null
      where ${isMaker}::boolean and not exists (
        select from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
        where n.nspname = 'auth' and p.proname = 'uid' and p.pronargs = 0)
    ), granted as (
      select s.side, s.role, w.privilege, w."table", w."column",
             has_column_privilege(s.oid, w.relation, w.attnum, w.privilege) as has
      from wanted as w join side as s using (side) where w.attnum is not null
    ), lacking as (
      select s.side, s.role, p.privilege, 'schema ' || p.schema as object, null::jsonb as columns
      from (values ('login', 'public', 'USAGE', true), ('owner', 'public', 'USAGE', true),
                   ('owner', 'public', 'CREATE', ${isMaker}::boolean),
                   ('owner', 'auth', 'USAGE', ${isMaker}::boolean)) as p(side, schema, privilege, is_needed)
      join side as s using (side) join pg_namespace as n on n.nspname = p.schema
      where p.is_needed and not has_schema_privilege(s.oid, n.oid, p.privilege)
      union all
      select s.side, s.role, 'EXECUTE', 'function public.' || f.name, null
      from function as f join side as s on s.side = 'login' where not has_function_privilege(f.oid, 'EXECUTE')
      union all
      select g.side, g.role, g.privilege, 'public.' || g."table",
             case when bool_or(g.has) then jsonb_agg(g."column" order by g."column") filter (where not g.has) end
      from granted as g group by g.side, g.role, g.privilege, g."table" having not bool_and(g.has)
    ), reading as (
      select distinct s.side, s.oid as asker, s.oid as reader, w."table", w.maker, w.relation
      from wanted as w join side as s using (side)
      where w.relation is not null and w.privilege <> 'REFERENCES'
      union
      -- A view reads as its owner; with security_invoker as the reader, even when another view reads it.
      select r.side, r.asker,
             case when exists (select from pg_options_to_table(c.reloptions) as o
                               where o.option_name = 'security_invoker' and o.option_value::boolean)
                  then r.asker else c.relowner end,
             r."table", r.maker, d.refobjid
      from reading as r
      join pg_class as c on c.oid = r.relation and c.relkind = 'v'
      join pg_rewrite as w on w.ev_class = c.oid
      join pg_depend as d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid
                         and d.refclassid = 'pg_class'::regclass and d.refobjid <> c.oid
    ), hidden as (
      select distinct r.side, quote_ident(p.rolname) as role, r.reader <> r.asker as "isViewOwner", r."table", r.maker
      from reading as r
      join pg_class as c on c.oid = r.relation and c.relrowsecurity
      join pg_roles as p on p.oid = r.reader
      left join service as v on true
      -- On opsctl's own tables a policy lets service_role and its members read.
      where not (r.maker = 'opsctl' and r.side = 'login' and coalesce(pg_has_role(r.reader, v.oid, 'USAGE'), false))
        -- The rule behind row_security_active(), for a role that is not the current one.
        and not (p.rolsuper or p.rolbypassrls
                 or (pg_has_role(r.reader, c.relowner, 'USAGE') and not c.relforcerowsecurity))
    )
    select jsonb_build_object(
      'login', quote_ident(current_user),
      'serverVersion', current_setting('server_version_num')::integer,
      'isService', (select pg_has_role(current_user, v.oid, 'USAGE') from service as v),
      'isMigrated', exists (select from function as f where f.oid is not null),
      'missing', (select coalesce(jsonb_agg(m order by m.columns is not null, m.object), '[]') from missing as m),
      'lacking', (select coalesce(jsonb_agg(l order by l.side, l.object, l.privilege), '[]') from lacking as l),
      'hidden', (select coalesce(jsonb_agg(h order by h.side, h."table"), '[]') from hidden as h),
      'record', (select to_jsonb(a) from (${recordAccess(sql)}) as a)
    ) as catalog`;
  return row.catalog;
}
