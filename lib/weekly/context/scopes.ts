import type { Scope } from "../database/recipients.ts";
import { RUN_PATIENCE_MS, repeatWhileLost } from "../database/refusals.ts";
import { newOwner, type Owner } from "./owner.ts";
import type { Run } from "./run.ts";

/** How many scopes are read and held at once. */
const SCOPE_PAGE = 500;

/** Every owner whom the run reports to, until it is stopped. */
export async function* ownersOf(run: Run): AsyncGenerator<Owner> {
  const { dependencies, options, stop } = run;
  const scopes = pagesOf((after, limit) =>
    repeatWhileLost(() => dependencies.store.listScopes(options.tenantId, after, limit), {
      ...dependencies,
      deadlineMs: dependencies.monotonicMs() + RUN_PATIENCE_MS,
      signal: stop.signal,
    }),
  );
  for await (const scope of scopes) {
    if (stop.reason()) return;
    yield newOwner(scope);
  }
}

/** Every scope in key order, page by page; the next page is read when the last one is used up. */
export async function* pagesOf<T extends Scope>(
  readPage: (after: Scope | null, limit: number) => Promise<T[]>,
): AsyncGenerator<T> {
  let after: Scope | null = null;
  for (;;) {
    const page: T[] = await readPage(after, SCOPE_PAGE);
    yield* page;
    if (page.length < SCOPE_PAGE) return;
    after = page.at(-1)!;
  }
}

/**
 * Works on `items` with at most `limit` of them in flight, in their order.
 *
 * Errors: a failure to read the items is thrown after the work in flight has ended; `work` itself must not throw.
 */
export async function forEachConcurrently<T>(
  items: AsyncIterable<T> | Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const inFlight = new Set<Promise<void>>();
  try {
    for await (const item of items) {
      const task: Promise<void> = work(item).finally(() => inFlight.delete(task));
      inFlight.add(task);
      if (inFlight.size >= limit) await Promise.race(inFlight);
    }
  } finally {
    await Promise.all(inFlight);
  }
}
