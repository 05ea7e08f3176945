import type postgres from "postgres";

/**
 * Everything in the schema `public`, to be compared before and after a run: each row of each table with its version,
 * sequences, views and functions. What `except` names is left out.
 *
 * Behaviour: a row that is updated to the same values, or deleted and inserted again, is a difference too.
 */
export async function databaseSnapshot(
  sql: postgres.Sql,
  { except = [] }: { except?: readonly string[] } = {},
): Promise<Record<string, string[]>> {
  const relations = await sql<{ name: string; kind: string }[]>`
    select c.relname as name, c.relkind::text as kind from pg_class as c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'S', 'v', 'm')
    order by 1`;
  const snapshot: Record<string, string[]> = {};
  for (const { name, kind } of relations) {
    if (except.includes(name)) continue;
    const version = kind === "r" ? sql`x.xmin::text || ' ' || x.ctid::text || ' ' ||` : sql``;
    const rows = await sql<
      { row: string }[]
    >`select ${version} to_jsonb(x)::text as row from ${sql(name)} as x`;
    snapshot[`${kind} ${name}`] = rows.map(({ row }) => row).sort();
  }
  const functions = await sql<{ row: string }[]>`
    select p.oid::regprocedure || ' ' || p.xmin || ' ' || coalesce(p.proacl::text, '') as row from pg_proc as p
    where p.pronamespace = 'public'::regnamespace order by 1`;
  snapshot.functions = functions.map(({ row }) => row);
  return snapshot;
}
