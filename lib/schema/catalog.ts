import type postgres from "postgres";
import { recordAccess } from "./recorded.ts";
import type { FunctionRequirement, TableRequirement } from "./requirements.ts";

/** A role that lacks a privilege on some columns of one table. */
export type MissingGrant = {
  side: TableRequirement["side"];
  role: string;
  table: string;
  columns: string[];
  privilege: string;
  /** Whether the privilege is missing on every column that is needed. */
  isWhole: boolean;
  /** Whether `service_role` has what this role lacks. */
  serviceRoleHas: boolean;
};

/** A table whose rows are hidden from a role: the side's own, or the owner of the view in the table's place. */
export type HiddenTable = {
  side: TableRequirement["side"];
  role: string;
  isViewOwner: boolean;
  table: string;
  origin: TableRequirement["origin"];
};

/** The database's catalog compared with the requirements; every list holds faults only. */
export type Catalog = {
  login: string;
  serverVersion: number;
  /** Whether the login is, or has the privileges of, `service_role`; null when there is no such role. */
  isService: boolean | null;
  /** Whether the login is a member of `service_role`, perhaps without inheriting its privileges. */
  isServiceMember: boolean | null;
  missingRoles: string[];
  missingAuthUid: boolean;
  /** Tables and columns that do not exist; `columns` is null where the whole table is missing. */
  missing: { table: string; columns: string[] | null; origin: TableRequirement["origin"] }[];
  missingFunctions: string[];
  schemaGrants: { role: string; schema: string; privilege: string }[];
  grants: MissingGrant[];
  executeGrants: { name: string; serviceRoleHas: boolean }[];
  hiddenTables: HiddenTable[];
  /** Whether the record of migrations exists, and whether the login may read it and sees its rows. */
  record: { exists: boolean; readable: boolean; visible: boolean };
};

/**
 * What the catalog is compared with.
 *
 * Shape: `owner` says who owns opsctl's functions: their `present` owner, or the `login`, which is about to create
 *        them.
 */
export type Wanted = {
  requirements: readonly TableRequirement[];
  functions: readonly FunctionRequirement[];
  owner: "present" | "login";
};

/** Compares the requirements with the database's catalog in one statement, without touching a row. */
export async function readCatalog(
  sql: postgres.Sql,
  { requirements, functions, owner }: Wanted,
): Promise<Catalog> {
  const isCreator = owner === "login";
  const [row] = await sql<[{ catalog: Catalog }]>`
    with recursive service as (
      select oid from pg_roles where rolname = 'service_role'
    ), wanted as materialized (
      select r.side, r.privilege, r."table", r.origin, n.name as "column", c.oid as relation, a.attnum
      from jsonb_to_recordset(${JSON.stringify(requirements)}::text::jsonb)
        as r(side text, privilege text, "table" text, columns jsonb, origin text)
      cross join jsonb_array_elements_text(r.columns) as n(name)
      left join pg_class as c
        on c.relname = r."table" and c.relnamespace = 'public'::regnamespace
        and c.relkind in ('r', 'p', 'v', 'm', 'f')
      left join pg_attribute as a
        on a.attrelid = c.oid and a.attname = n.name and a.attnum > 0 and not a.attisdropped
    ), function as materialized (
      select format('%s(%s)', f.name, f.args) as name, p.oid, p.proowner, p.prosecdef
      from jsonb_to_recordset(${JSON.stringify(functions)}::text::jsonb) as f(name text, args text)
      left join pg_proc as p
        on p.proname = f.name and p.pronamespace = 'public'::regnamespace
        -- A login with quote_all_identifiers sees "uuid".
        and replace(oidvectortypes(p.proargtypes), '"', '') = f.args
    ), side as materialized (
      select 'login' as side, r.oid, r.rolname from pg_roles as r where r.rolname = current_user
      union all
      select 'owner', r.oid, r.rolname from pg_roles as r
      where case when ${isCreator}::boolean then r.rolname = current_user
                 else r.oid in (select f.proowner from function as f where f.prosecdef) end
    ), missing as (
      select w."table", w.origin,
             case when w.relation is not null then jsonb_agg(distinct w."column") end as columns
      from wanted as w where w.attnum is null group by w."table", w.origin, w.relation
    ), column_grant as (
      select s.side, s.rolname as role, w."table", w."column", w.privilege,
             has_column_privilege(s.oid, w.relation, w.attnum, w.privilege) as has,
             coalesce(has_column_privilege(v.oid, w.relation, w.attnum, w.privilege), false) as service_has
      from wanted as w join side as s using (side) left join service as v on true
      where w.attnum is not null
    ), missing_grant as (
      select side, role, "table", privilege, jsonb_agg("column") filter (where not has) as columns,
             not bool_or(has) as "isWhole", bool_and(service_has) filter (where not has) as "serviceRoleHas"
      from column_grant group by side, role, "table", privilege having not bool_and(has)
    ), reading as (
      select distinct s.side, s.oid as asker, s.oid as reader, w."table", w.origin, w.relation
      from wanted as w join side as s using (side)
      where w.relation is not null and w.privilege <> 'REFERENCES'
      union
      -- A view reads as its owner; with security_invoker as the reader, even when another view reads it.
      select r.side, r.asker,
             case when exists (select from pg_options_to_table(c.reloptions) as o
                               where o.option_name = 'security_invoker' and o.option_value::boolean)
                  then r.asker else c.relowner end,
             r."table", r.origin, d.refobjid
      from reading as r
      join pg_class as c on c.oid = r.relation and c.relkind = 'v'
      join pg_rewrite as w on w.ev_class = c.oid
      join pg_depend as d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid
                         and d.refclassid = 'pg_class'::regclass and d.refobjid <> c.oid
    ), hidden as (
      select distinct r.side, p.rolname as role, r.reader <> r.asker as "isViewOwner", r."table", r.origin
      from reading as r
      join pg_class as c on c.oid = r.relation and c.relrowsecurity
      join pg_roles as p on p.oid = r.reader
      left join service as v on true
      -- On opsctl's own tables a policy lets service_role and its members read.
      where not (r.origin = 'opsctl' and r.side = 'login' and coalesce(pg_has_role(r.reader, v.oid, 'USAGE'), false))
        -- The rule behind row_security_active(), for a role that is not the current one.
        and not (p.rolsuper or p.rolbypassrls
                 or (pg_has_role(r.reader, c.relowner, 'USAGE') and not c.relforcerowsecurity))
    ), schema_grant as (
      select distinct s.rolname as role, p.schema, p.privilege
      from (values ('login', 'public', 'USAGE', true), ('owner', 'public', 'USAGE', true),
                   ('owner', 'public', 'CREATE', ${isCreator}::boolean),
                   ('owner', 'auth', 'USAGE', ${isCreator}::boolean)) as p(side, schema, privilege, is_needed)
      join side as s using (side) join pg_namespace as n on n.nspname = p.schema
      where p.is_needed and not has_schema_privilege(s.oid, n.oid, p.privilege)
    )
    select jsonb_build_object(
      'login', current_user,
      'serverVersion', current_setting('server_version_num')::integer,
      'isService', (select pg_has_role(current_user, v.oid, 'USAGE') from service as v),
      'isServiceMember', (select pg_has_role(current_user, v.oid, 'MEMBER') from service as v),
      'missingRoles', (
        select coalesce(jsonb_agg(r.name), '[]') from (values ('anon'), ('authenticated'), ('service_role')) as r(name)
        where not exists (select from pg_roles as p where p.rolname = r.name)),
      'missingAuthUid', not exists (
        select from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
        where n.nspname = 'auth' and p.proname = 'uid' and p.pronargs = 0),
      'missing', (select coalesce(jsonb_agg(m order by m.columns is not null, m."table"), '[]') from missing as m),
      'missingFunctions', (select coalesce(jsonb_agg(f.name), '[]') from function as f where f.oid is null),
      'schemaGrants', (select coalesce(jsonb_agg(g), '[]') from schema_grant as g),
      'grants', (
        select coalesce(jsonb_agg(g order by g.side, g."table", g.privilege), '[]') from missing_grant as g),
      'executeGrants', (
        select coalesce(jsonb_agg(jsonb_build_object('name', f.name,
          'serviceRoleHas', coalesce(has_function_privilege(v.oid, f.oid, 'EXECUTE'), false))), '[]')
        from function as f left join service as v on true
        where f.oid is not null and not has_function_privilege(f.oid, 'EXECUTE')),
      'hiddenTables', (select coalesce(jsonb_agg(h order by h.side, h."table"), '[]') from hidden as h),
      'record', (select to_jsonb(a) from (${recordAccess(sql)}) as a)
    ) as catalog`;
  return row.catalog;
}
