import type { ApplicationClient } from "../../providers/application/client.ts";
import type { Scope } from "../database/recipients.ts";
import type { Connection, WindowBounds } from "../database/reports.ts";

/** A connection after its call: `code` is null when the application analysed it. */
export type CollectedConnection = Connection & { code: string | null };

/** The code of a connection that was not called: the claim's lease would not have outlasted the call. */
export const LEASE_EXHAUSTED = "collection_lease_exhausted";

/** The outcome of collecting one owner's connections; with a `refusal` the report must not be built. */
export type Collected = { connections: CollectedConnection[]; refusal: string | null };

/** What collecting needs: the application, the right to go on, and how much of the claim's lease is left. */
export type CollectDependencies = {
  application: Pick<ApplicationClient, "analyzeWeek">;
  /** Why nothing new may begin, as far as this process knows. */
  stopped(): string | null;
  /** The same, with the database's clock asked anew: another day stops a run too. */
  refusal(): Promise<string | null>;
  leaseLeftMs(): number;
  /** Told of each call that begins. */
  onCall(): void;
  signal: AbortSignal;
};

/** What one analysis call may take, with what follows it: a call is not begun with less lease than this. */
const LEASE_NEEDED_MS = 120_000;

/**
 * Step 3: asks the application to analyse each active connection, one call each and never a second one.
 *
 * Shape:  a failed call is data, with its code; a refusal of the worker itself (401, 409) ends the collection. One
 *         call at a time per owner, so that a refusal finds as few as possible on their way.
 * Source: weekly report document, run flow 3 and 4.
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
    // The claim itself has just vouched for the day of the first call.
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
