import type { Pruned } from "./prune.ts";

/** What pruning did, for people. */
export function renderPruned({ before, reports, left }: Pruned): string {
  const count = reports === 1 ? "1 report" : `${reports} reports`;
  const removed = `Removed the content of ${count} of weeks before ${before}; that they were made, and sent, stays.\n`;
  return left ? `${removed}Some are left: run it again for the rest.\n` : removed;
}
