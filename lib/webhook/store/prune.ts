import { setImmediate as nextTurn } from "node:timers/promises";
import { KEEP_DELIVERED_MS, KEEP_ENDED_MS } from "./model.ts";
import type { Sql, Store } from "./sql.ts";

const ROWS_AT_ONCE = 500;

/** What is removed: the rows of a table, by their key, that fulfil a condition for longer than `$1` milliseconds. */
const REMOVALS = [
  ["outbox", "id", "state = 'delivered' and ended_at <= {now} - $1", KEEP_DELIVERED_MS],
  ["outbox", "id", "state in ('dead', 'unknown') and ended_at <= {now} - $1", KEEP_ENDED_MS],
  ["alert", "fingerprint", "seen_at <= {now} - $1 and claim_until <= {now}", KEEP_DELIVERED_MS],
] as const;

/** Removes what is old, some hundred rows at a time; other work runs in between. */
export async function prune(store: Store): Promise<void> {
  for (const [table, key, condition, keptMs] of REMOVALS) {
    const old = `select ${key} from {${table}} where ${condition} limit ${ROWS_AT_ONCE}`;
    const remove = (sql: Sql) => sql.run(`delete from {${table}} where ${key} in (${old})`, [keptMs]);
    while ((await store.write(remove)) === ROWS_AT_ONCE) await nextTurn();
  }
  await store.afterPrune();
}
