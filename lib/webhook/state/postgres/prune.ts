import type postgres from "postgres";
import { KEEP_DELIVERED_MS, KEEP_ENDED_MS } from "../contract.ts";
import type { StateLink } from "./connection.ts";

/** Longer than any host asks again about a batch. */
const KEEP_BATCHES_MS = 10 * 60_000;
const PRUNE_SHARE = 5_000;

/** Removes what has had its time, in short steps: between them the same connections do other work. */
export async function prune(link: StateLink): Promise<void> {
  const attempt = "remove old rows";
  await link.ask(attempt, async (sql) => await sql`select opsctl_state.prune_dedup()`);
  await link.ask(
    attempt,
    async (sql) =>
      await sql`
      select opsctl_state.prune_memory(${KEEP_BATCHES_MS}::bigint, ${KEEP_DELIVERED_MS}::bigint)`,
  );
  while (await link.ask(attempt, pruneShare));
}

async function pruneShare(sql: postgres.Sql): Promise<boolean> {
  const [row] = await sql`
    select opsctl_state.prune_old(
      ${KEEP_DELIVERED_MS}::bigint, ${KEEP_ENDED_MS}::bigint, ${PRUNE_SHARE}::bigint) as more`;
  return row!.more;
}
