import type { Transaction } from "./transaction.ts";

/** Rows changed in one transaction: while it runs, the service cannot accept. */
const ROWS_AT_ONCE = 1_000;
/** Longer than the longest pause between two tries of a process that waits for the file. */
const PAUSE_MS = 120;

/** Changes rows a thousand at a time; `change` returns how many it changed, and so does this. */
export async function inParts(
  transaction: Transaction,
  ids: readonly number[],
  change: (id: number) => number,
): Promise<number> {
  let changed = 0;
  for (let at = 0; at < ids.length; at += ROWS_AT_ONCE) {
    if (at > 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    const part = ids.slice(at, at + ROWS_AT_ONCE);
    changed += transaction(() => part.reduce((sum, id) => sum + change(id), 0));
  }
  return changed;
}
