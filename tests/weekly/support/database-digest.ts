/** What a database holds, to be compared before and after: every row of every table, and which version of it. */
import type postgres from "postgres";

/** Table name to its number of rows and a digest of their content, place and transaction. */
export async function databaseDigest(sql: postgres.Sql): Promise<Record<string, string>> {
  const tables = await sql`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' order by relname`;
  const digests: Record<string, string> = {};
  for (const { name } of tables) {
    const [row] = await sql`
      select count(*)::text || ' ' || md5(coalesce(
        string_agg(t.xmin::text || ' ' || t.xmax::text || ' ' || t.ctid::text || t::text, '' order by t.ctid), '')
      ) as digest
      from ${sql(name)} as t`;
    digests[name] = row!.digest;
  }
  return digests;
}
