import type { Sql, Store } from "./sql.ts";
import { KEEP_DELIVERED_MS, KEEP_ENDED_MS } from "./types.ts";

const ROWS_AT_ONCE = 500;
const HOUR_MS = 3_600_000;
const KEEP_HOURS = 31 * 24;

const REMOVALS: readonly { text: string; keptMs: number }[] = [
  {
    text: `delete from {outbox} where id in
      (select id from {outbox} where state = 'delivered' and ended_at <= {now} - $1 limit ${ROWS_AT_ONCE})`,
    keptMs: KEEP_DELIVERED_MS,
  },
  {
    text: `delete from {outbox} where id in
      (select id from {outbox} where state in ('dead', 'unknown') and ended_at <= {now} - $1 limit ${ROWS_AT_ONCE})`,
    keptMs: KEEP_ENDED_MS,
  },
  {
    text: `delete from {alert} where fingerprint in
      (select fingerprint from {alert} where seen_at <= {now} - $1 and claim_until <= {now} limit ${ROWS_AT_ONCE})`,
    keptMs: KEEP_DELIVERED_MS,
  },
];

/** Removes what is old, some hundred rows at a time; other work runs in between. */
export async function prune(store: Store): Promise<void> {
  const remove = (work: (sql: Sql) => Promise<number>) => store.write("remove old rows", work);
  for (const { text, keptMs } of REMOVALS)
    while ((await remove((sql) => sql.run(text, [keptMs]))) === ROWS_AT_ONCE) await nextTurn();
  await remove((sql) => sql.run(`delete from {hour} where hour <= {now} / ${HOUR_MS} - ${KEEP_HOURS}`));
  await store.afterPrune();
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
