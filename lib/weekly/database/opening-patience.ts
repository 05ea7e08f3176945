import type { OpeningPatience } from "../../platform/database/pool.ts";
import { DRY_RUN_PATIENCE_MS, REPORT_PATIENCE_MS, RUN_PATIENCE_MS } from "./refusals.ts";

/**
 * How long a run waits for its first connection: a person waits for a dry run, and wants to know now.
 *
 * Units: milliseconds.
 */
export function openingPatience(run: {
  dryRun: boolean;
}): Pick<OpeningPatience, "limitMs" | "unreachableLimitMs"> {
  return run.dryRun
    ? { limitMs: DRY_RUN_PATIENCE_MS, unreachableLimitMs: 0 }
    : { limitMs: RUN_PATIENCE_MS, unreachableLimitMs: REPORT_PATIENCE_MS };
}
