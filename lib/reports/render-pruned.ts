import { prose } from "../text/terminal/prose.ts";
import type { Screen } from "../text/terminal/screen.ts";
import type { Pruned } from "./prune.ts";

/** What pruning did, for people. */
export function renderPruned({ before, reports, left }: Pruned, screen: Screen): string {
  const count = reports === 1 ? "1 report" : `${reports} reports`;
  const removed = `Removed the content of ${count} of weeks before ${before}; that they were made, and sent, stays.`;
  return prose(left ? [removed, "Some are left: run it again for the rest."] : [removed], screen);
}
