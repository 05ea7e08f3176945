import { rememberBusyScope } from "../context/look-again.ts";
import { newOwner, type Owner, ownerKey } from "../context/owner.ts";
import type { Run } from "../context/run.ts";
import { forEachConcurrently } from "../context/scopes.ts";
import { askReported } from "./ask-reported.ts";
import type { PutBackOwner } from "./put-back.ts";

/** How one owner's turn ended; `not_taken`: the run stopped before the claim. */
export type OwnerStatus = "done" | "busy" | "put_back" | "not_taken";

/** Reports to one owner. */
export type ReportOwner = (owner: Owner) => Promise<OwnerStatus>;

/**
 * The second pass: takes the owners that were put back, until each has been decided about or the run stops. It is
 * repeated for those whose second chance fell into an outage, too.
 *
 * Behaviour: an owner that is put back again comes after the others, so that each probe asks for another one.
 */
export async function takeAgain(run: Run, reportOwner: ReportOwner): Promise<void> {
  const { putBack, admission, stop, options, dependencies } = run;
  let before = Number.POSITIVE_INFINITY;
  while (putBack.count() > 0 && stop.reason() === null) {
    admission.endPass({ hasDecided: putBack.count() < before });
    before = putBack.count();
    putBack.prefer(({ scope }) => !admission.isAsked(ownerKey(scope)));
    await forEachConcurrently(putBackOwners(run), options.concurrency, async (owner) => {
      const { scope, answers } = owner;
      const status = await reportOwner({ ...newOwner(scope), isSecondChance: true, answers });
      if (status === "not_taken") putBack.add(owner);
      if (status === "busy") rememberBusyScope(run, scope);
      if (status === "busy" || status === "done") dependencies.progress.advance(1);
    });
  }
}

/** Counts the owners that a stopped run leaves for the next one. */
export function countLeftOwners({ putBack, tally }: Run): void {
  for (let owner = putBack.take(); owner !== undefined; owner = putBack.take()) {
    const { scope, reportId, code } = owner;
    tally.reports.failed += 1;
    tally.fail({ step: "report", code, tenantId: scope.tenantId, reportId });
  }
}

/** Each of them once: an owner that is put back meanwhile comes in the next pass, before which the run may wait. */
async function* putBackOwners(run: Run): AsyncGenerator<PutBackOwner> {
  const { putBack, stop, admission } = run;
  for (let left = putBack.count(); left > 0 && stop.reason() === null; left -= 1) {
    const owner = putBack.take();
    if (owner === undefined) return;
    if (admission.isAsked(ownerKey(owner.scope))) await askReported(run, admission.isFlowing);
    yield owner;
  }
}
