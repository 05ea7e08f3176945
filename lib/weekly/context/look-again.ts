import type { Scope } from "../database/recipients.ts";
import type { Count } from "../delivery/count.ts";
import { reuseSent } from "../delivery/mend-timeline.ts";
import { isOwnerErased } from "./erasure.ts";
import { newOwner, type Owner } from "./owner.ts";
import { type HeldDelivery, type Run, stopIfDatabaseIsGone } from "./run.ts";
import { forEachConcurrently } from "./scopes.ts";

/** How many busy reports, and as many deliveries, a run remembers to look at again; further ones stay busy. */
const REMEMBERED = 10_000;

/** Counts a report that another process holds, and remembers its owner. */
export function rememberBusyScope(run: Run, scope: Scope): void {
  run.tally.reports.busy += 1;
  if (run.busyScopes.length < REMEMBERED) run.busyScopes.push(scope);
}

/** Remembers a delivery that another process holds. */
export function rememberBusyDelivery(run: Run, held: HeldDelivery): void {
  if (run.busyDeliveries.length < REMEMBERED) run.busyDeliveries.push(held);
  else countBusyDelivery(run, held);
}

/**
 * Looks once more at what other processes held: by now they may have finished it.
 *
 * Behaviour: what they still hold counts as busy (reports) or partial (deliveries), since this run cannot know its end.
 */
export async function lookAgainAtBusy(
  run: Run,
  reportOwner: (owner: Owner) => Promise<"done" | "busy" | "put_back" | "not_taken">,
): Promise<void> {
  const scopes = run.busyScopes.splice(0);
  await forEachConcurrently(scopes, run.options.concurrency, async (scope) => {
    const status = run.stop.reason() ? "not_taken" : await reportOwner(newOwner(scope));
    if (status === "done" || status === "put_back") run.tally.reports.busy -= 1;
    else run.tally.fail({ step: "report", code: "report_busy", tenantId: scope.tenantId });
  });
  const deliveries = run.busyDeliveries.splice(0);
  await forEachConcurrently(deliveries, run.options.concurrency, async (held) => {
    const found = await readAgain(run, held.deliveryId);
    const counts = run.tally[held.channel.name];
    if (found?.status === "sent") await reuseSent(run.dependencies, found, countHeld(run, held));
    else if (found === null && (await isOwnerErased(run.dependencies.store, held.scope))) counts.skipped += 1;
    else if (found?.status === "failed" || found?.status === "unknown") {
      counts[found.status] += 1;
      failDelivery(run, held, found.errorCode ?? `delivery_${found.status}`);
    } else countBusyDelivery(run, held);
  });
}

function countHeld(run: Run, held: HeldDelivery): Count {
  return (counter, code) => {
    run.tally[held.channel.name][counter] += 1;
    if (code !== null) failDelivery(run, held, code);
  };
}

/** The delivery's state, null when it is gone; undefined when the database is away too long, which stops the run. */
async function readAgain(run: Run, deliveryId: string) {
  try {
    return await run.dependencies.store.readDelivery(deliveryId);
  } catch {
    await stopIfDatabaseIsGone(run);
    return undefined;
  }
}

function countBusyDelivery(run: Run, held: HeldDelivery): void {
  run.tally[held.channel.name].partial += 1;
  failDelivery(run, held, "delivery_busy");
}

function failDelivery(run: Run, { channel, deliveryId, reportId, scope }: HeldDelivery, code: string): void {
  run.tally.fail({ step: channel.name, code, tenantId: scope.tenantId, reportId, deliveryId });
}
