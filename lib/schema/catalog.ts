import type postgres from "postgres";
import type { ColumnRequirement, FunctionRequirement } from "./requirements.ts";

/** A role that lacks a privilege on some columns of one table. */
export type MissingGrant = {
  side: "login" | "owner";
  role: string;
  table: string;
  columns: string[];
  privilege: string;
  /** Whether `service_role` has what this role lacks. */
  serviceRoleHas: boolean;
};

/** What the database's catalog says about the requirements; every list holds faults only. */
export type Catalog = {
  login: string;
  serverVersion: number;
  /** Whether the login is, or has the privileges of, `service_role`; null when there is no such role. */
  isService: boolean | null;
  /** Whether the login was made a member of `service_role`, perhaps without inheriting its privileges. */
  isServiceMember: boolean | null;
  missingRoles: string[];
  missingAuthUid: boolean;
  missingTables: { table: string; origin: "application" | "opsctl" }[];
  missingColumns: { table: string; columns: string[]; origin: "application" | "opsctl" }[];
  missingFunctions: string[];
  schemaGrants: { role: string; schema: string; privilege: string }[];
  grants: MissingGrant[];
  executeGrants: { name: string; args: string; serviceRoleHas: boolean }[];
  rowSecurity: {
    side: "login" | "owner";
    /** From whom rows are hidden: that of the side, or who owns the view that stands in the place of the table. */
    role: string;
    isViewOwner: boolean;
    table: string;
    origin: "application" | "opsctl";
  }[];
  /** Whether the record of migrations exists, and whether the login may read it and sees its rows. */
  recordTable: { exists: boolean; readable: boolean; visible: boolean };
};

/**
 * What the catalog is compared with.
 *
 * Shape: `owner` says who owns opsctl's functions: their `present` owner, or the `login`, which is about to create
 *        them.
 */
export type Wanted = {
  requirements: readonly ColumnRequirement[];
  functions: readonly FunctionRequirement[];
  owner: "present" | "login";
};

/** Compares the requirements with the database's catalog in one statement, without touching a row. */
export async function readCatalog(sql: postgres.Sql, wanted: Wanted): Promise<Catalog> {
  const [row] = await sql<[{ catalog: Catalog }]>`
    with recursive ${comparison(sql, wanted)}, ${faults(sql, wanted)}
    select jsonb_build_object(
      ${aboutLogin(sql)}, ${whatIsMissing(sql)}, ${whatIsForbidden(sql)}, ${recordTable(sql)}
    ) as catalog`;
  return row.catalog;
}

type Fragment = postgres.PendingQuery<postgres.Row[]>;

/** The common table expressions of what is compared: each requirement beside what the database has, and the roles. */
function comparison(sql: postgres.Sql, { requirements, functions, owner }: Wanted): Fragment {
  return sql`
    service as (
      select oid from pg_roles where rolname = 'service_role'
    ), wanted as materialized (
      select w.*, c.oid as relation, a.attnum
      from jsonb_to_recordset(${JSON.stringify(requirements)}::text::jsonb)
        as w(side text, "table" text, "column" text, privilege text, origin text)
      left join pg_class as c
        on c.relname = w."table" and c.relnamespace = 'public'::regnamespace
        and c.relkind in ('r', 'p', 'v', 'm', 'f')
      left join pg_attribute as a
        on a.attrelid = c.oid and a.attname = w."column" and a.attnum > 0 and not a.attisdropped
    ), function as materialized (
      select f.name, f.args, p.oid, p.proowner, p.prosecdef
      from jsonb_to_recordset(${JSON.stringify(functions)}::text::jsonb) as f(name text, args text)
      left join pg_proc as p
        on p.proname = f.name and p.pronamespace = 'public'::regnamespace
        -- A login with quote_all_identifiers sees "uuid".
        and replace(oidvectortypes(p.proargtypes), '"', '') = f.args
    ), side as materialized (
      select 'login' as side, r.oid, r.rolname, r.rolsuper, r.rolbypassrls
      from pg_roles as r where r.rolname = current_user
      union all
      select 'owner', r.oid, r.rolname, r.rolsuper, r.rolbypassrls
      from pg_roles as r
      where case when ${owner === "login"}::boolean then r.rolname = current_user
                 else r.oid in (select f.proowner from function as f where f.prosecdef) end
    )`;
}

/** The common table expressions of the faults, made from those of `comparison`. */
function faults(sql: postgres.Sql, { owner }: Wanted): Fragment {
  return sql`
    faulty_grant as (
      select s.side, s.rolname, w."table", w.privilege, jsonb_agg(w."column") as columns,
             coalesce(bool_and(has_column_privilege(v.oid, w.relation, w.attnum, w.privilege)), false) as service_role_has
      from wanted as w join side as s using (side) left join service as v on true
      where w.attnum is not null and not has_column_privilege(s.oid, w.relation, w.attnum, w.privilege)
      group by 1, 2, 3, 4
    ), reading as (
      select distinct s.side, s.oid as asker, s.oid as reader, w."table", w.origin, w.relation
      from wanted as w join side as s using (side)
      where w.relation is not null and w.privilege <> 'REFERENCES'
      union
      -- A view reads as its owner; with security_invoker as whoever asks, even when it is asked by another view.
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
    ), covered as (
      select distinct r.side, p.rolname, r.reader <> r.asker as is_view_owner, r."table", r.origin
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
      select s.rolname, n.nspname, p.privilege
      from side as s
      join (values ('login', 'public', 'USAGE'), ('owner', 'public', 'USAGE'),
                   ('creator', 'public', 'CREATE'), ('creator', 'auth', 'USAGE')) as p(side, nspname, privilege)
        on p.side = s.side or (p.side = 'creator' and s.side = 'owner' and ${owner === "login"}::boolean)
      join pg_namespace as n on n.nspname = p.nspname
      where not has_schema_privilege(s.oid, n.oid, p.privilege)
    )`;
}

/** Who is connected, and the server's version. */
function aboutLogin(sql: postgres.Sql): Fragment {
  return sql`
    'login', current_user,
    'serverVersion', current_setting('server_version_num')::integer,
    'isService', (select pg_has_role(current_user, v.oid, 'USAGE') from service as v),
    'isServiceMember', (select pg_has_role(current_user, v.oid, 'MEMBER') from service as v)`;
}

/** Roles, tables, columns and functions that do not exist. */
function whatIsMissing(sql: postgres.Sql): Fragment {
  return sql`
    'missingRoles', (
      select coalesce(jsonb_agg(r.name), '[]') from (values ('anon'), ('authenticated'), ('service_role')) as r(name)
      where not exists (select from pg_roles as p where p.rolname = r.name)),
    'missingAuthUid', not exists (
      select from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
      where n.nspname = 'auth' and p.proname = 'uid' and p.pronargs = 0),
    'missingTables', (
      select coalesce(jsonb_agg(distinct jsonb_build_object('table', w."table", 'origin', w.origin)), '[]')
      from wanted as w where w.relation is null),
    'missingColumns', (
      select coalesce(jsonb_agg(to_jsonb(m)), '[]') from (
        select w."table", w.origin, jsonb_agg(distinct w."column") as columns
        from wanted as w where w.relation is not null and w.attnum is null group by 1, 2 order by 1) as m),
    'missingFunctions', (
      select coalesce(jsonb_agg(format('%s(%s)', f.name, f.args)), '[]') from function as f where f.oid is null)`;
}

/** Missing privileges, and tables whose rows stay hidden. */
function whatIsForbidden(sql: postgres.Sql): Fragment {
  return sql`
    'schemaGrants', (
      select coalesce(jsonb_agg(distinct jsonb_build_object(
        'role', g.rolname, 'schema', g.nspname, 'privilege', g.privilege)), '[]') from schema_grant as g),
    'grants', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'side', g.side, 'role', g.rolname, 'table', g."table", 'columns', g.columns, 'privilege', g.privilege,
        'serviceRoleHas', g.service_role_has) order by g.side, g."table", g.privilege), '[]')
      from faulty_grant as g),
    'executeGrants', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'name', f.name, 'args', f.args,
        'serviceRoleHas', coalesce(has_function_privilege(v.oid, f.oid, 'EXECUTE'), false))), '[]')
      from function as f left join service as v on true
      where f.oid is not null and not has_function_privilege(f.oid, 'EXECUTE')),
    'rowSecurity', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'side', c.side, 'role', c.rolname, 'isViewOwner', c.is_view_owner, 'table', c."table", 'origin', c.origin)
                                order by c.side, c."table"), '[]') from covered as c)`;
}

/** The record of migrations. */
function recordTable(sql: postgres.Sql): Fragment {
  return sql`
    'recordTable', (
      select jsonb_build_object(
        'exists', count(*) > 0,
        'readable', coalesce(bool_and(has_table_privilege(c.oid, 'SELECT')), false),
        'visible', coalesce(bool_and(
          not row_security_active(c.oid) or pg_has_role(current_user, v.oid, 'USAGE')), false))
      from pg_class as c left join service as v on true
      where c.relname = 'opsctl_migrations' and c.relnamespace = 'public'::regnamespace)`;
}
