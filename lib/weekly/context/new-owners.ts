import type { Scope } from "../database/recipients.ts";
import { RUN_PATIENCE_MS, repeatWhileLost } from "../database/refusals.ts";
import { hasLostRows } from "./lost-rows.ts";
import { newOwner, type Owner, ownerKey } from "./owner.ts";
import type { Run } from "./run.ts";
import { LEDGER_LOST_ROWS } from "./run-stop.ts";
import { pagesOf } from "./scopes.ts";

/** How many owners without a claim a run remembers. */
const REMEMBERED = 1_000;

/** Remembers an owner whose claim failed: without a row it would look like one who became eligible meanwhile. */
export function rememberUnclaimed({ unclaimed }: Pick<Run, "unclaimed">, scope: Scope): void {
  if (unclaimed.size < REMEMBERED) unclaimed.add(ownerKey(scope));
}

/**
 * The owners who became eligible while the run was going on: those of whom the week has no row yet.
 *
 * Behaviour: each is counted when its turn comes. None when so many claims failed that they cannot be told apart. The
 *            run stops when the ledger has lost rows: then they may be owners who have had their message.
 */
export async function* newOwnersOf(run: Run): AsyncGenerator<Owner> {
  const { dependencies, options, stop, window, tally, unclaimed } = run;
  if (stop.reason() !== null || unclaimed.size >= REMEMBERED) return;
  const scopes = pagesOf((after, limit) =>
    repeatWhileLost(() => dependencies.store.listNewScopes(options.tenantId, window, after, limit), {
      deadlineMs: dependencies.monotonicMs() + RUN_PATIENCE_MS,
      ...dependencies,
      signal: stop.signal,
    }),
  );
  let isWhole: boolean | null = null;
  for await (const scope of scopes) {
    if (stop.reason() !== null) return;
    if (unclaimed.has(ownerKey(scope))) continue;
    isWhole ??= !(await hasLostRows(run));
    if (!isWhole) {
      dependencies.log.error("The database has lost rows of messages that were sent", {
        code: LEDGER_LOST_ROWS.code,
      });
      stop.because(LEDGER_LOST_ROWS);
      return;
    }
    tally.reports.scopes += 1;
    dependencies.progress.setTotal(tally.reports.scopes);
    yield newOwner(scope);
  }
}
