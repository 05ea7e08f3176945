import type { ApplicationClient } from "../../providers/application/client.ts";
import type { Scope } from "../database/recipients.ts";
import type { Connection, WindowBounds } from "../database/reports.ts";

/** A connection after its call: `code` is null when the application analysed it. */
export type CollectedConnection = Connection & { code: string | null };

/** The code of a connection that was not asked for: the claim's lease would have ended during the call. */
export const LEASE_EXHAUSTED = "collection_lease_exhausted";

/** The outcome of collecting one owner's connections; with a `refusal` the report must not be built. */
export type Collected = { connections: CollectedConnection[]; refusal: string | null };

/** What collecting needs: the application, the right to go on, and how much of the claim's lease is left. */
export type CollectDependencies = {
  application: Pick<ApplicationClient, "analyzeWeek">;
  /** Why no further call may begin, as far as this process knows; null when one may. */
  stopped(): string | null;
  /** The same, after asking the database's clock: the end of Monday stops a run too. */
  refusal(): Promise<string | null>;
  leaseLeftMs(): number;
  /** Called when a call begins. */
  onCall(): void;
  signal: AbortSignal;
};

/** How much of the lease must be left to begin a call: time for the call and for the steps after it. */
const LEASE_NEEDED_MS = 120_000;

/**
 * Step 3: asks the application to analyse each active connection, one call each and never a second one.
 *
 * Behaviour: a failed call is data, with its code; a refusal of the worker itself (401, 409) ends the collection. One
 *            call at a time per owner, so that few calls are in flight when a refusal comes.
 * Source:    weekly report document, run flow 3 and 4.
 */
export async function collectSocial(
  dependencies: CollectDependencies,
  scope: Scope,
  window: WindowBounds,
  connections: Connection[],
): Promise<Collected> {
  const collected: CollectedConnection[] = [];
  let isFirst = true;
  for (const connection of connections) {
    // The claim has just checked the day, so the first call need not ask the clock.
    const refusal = isFirst ? dependencies.stopped() : await dependencies.refusal();
    if (refusal !== null) return { connections: collected, refusal };
    if (dependencies.leaseLeftMs() < LEASE_NEEDED_MS) {
      collected.push({ ...connection, code: LEASE_EXHAUSTED });
      continue;
    }
    isFirst = false;
    dependencies.onCall();
    const result = await dependencies.application.analyzeWeek(
      {
        tenantId: scope.tenantId,
        userId: scope.userId,
        connectionId: connection.id,
        windowStart: window.start,
        windowEnd: window.end,
      },
      dependencies.signal,
    );
    collected.push({ ...connection, code: result.status === "ok" ? null : result.code });
    if (result.status !== "ok" && result.refusesWorker)
      return { connections: collected, refusal: result.code };
  }
  return { connections: collected, refusal: null };
}
