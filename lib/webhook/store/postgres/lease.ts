import type { Sql } from "../sql.ts";

const LEASE_MS = 15_000;

/**
 * The condition that a holder, a UUID, delivers.
 *
 * Behaviour: another process takes the row before it delivers, so that a holder which is late is still the only one.
 */
export function hasLease(holder: string): string {
  return `exists (select 1 from {meta} where key = 'lease' and value like '${holder} %')`;
}

/**
 * Takes or renews the lease, the row `<holder> <until ms>`, for 15 seconds; returns false while another holder has it.
 *
 * Behaviour: one that ends later than any lease can was taken before the clock was set back, and is over.
 */
export async function takeLease(sql: Sql, holder: string): Promise<boolean> {
  const taken = await sql.all(
    `insert into {meta} as lease (key, value) values ('lease', $1 || ' ' || ({now} + $2))
    on conflict (key) do update set value = excluded.value
    where lease.value like $1 || ' %'
      or cast(split_part(lease.value, ' ', 2) as bigint) not between {now} + 1 and {now} + $2
    returning key`,
    [holder, LEASE_MS],
  );
  return taken.length > 0;
}

/** Lets the next process take the lease at once. */
export async function giveUpLease(sql: Sql, holder: string): Promise<void> {
  await sql.run("delete from {meta} where key = 'lease' and value like $1 || ' %'", [holder]);
}
