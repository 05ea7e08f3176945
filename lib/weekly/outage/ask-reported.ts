import { ownerKey } from "../context/owner.ts";
import { type Run, refusalToBegin } from "../context/run.ts";
import { databaseCode } from "../database/refusals.ts";
import type { AnalysedConnection } from "../database/reports.ts";
import { callVerdict } from "../report/call-verdict.ts";
import { askFor } from "../report/collect.ts";

/** How many owners are asked besides the refused one. */
const OTHERS = 2;

/**
 * Asks for connections of owners whose reports are complete, when a refusal (401, 409) has to be confirmed and no other
 * owner is left to ask: else one expired token would look like a wrong secret whenever all others are done.
 *
 * Behaviour: nothing is claimed or changed here; a completed report stays as it is. Without such owners, or without a
 *            database, the refusal stands.
 */
export async function askReported(run: Run): Promise<void> {
  const { dependencies, options, window, admission, stop } = run;
  try {
    const analysed = await dependencies.store.listAnalysedConnections(options.tenantId, window, OTHERS);
    for (const one of analysed) {
      if (admission.isFlowing() || (await refusalToBegin(run)) !== null) return;
      await askForOne(run, one);
    }
  } catch (error) {
    dependencies.log.warn("A refusal of the application could not be confirmed with other owners", {
      code: databaseCode(error),
      stopped: stop.reason()?.code,
    });
  }
}

async function askForOne(run: Run, { scope, connection }: AnalysedConnection): Promise<void> {
  const { dependencies, tally, stop, window, admission } = run;
  const onCall = () => {
    tally.social.calls += 1;
  };
  const asking = { application: dependencies.application, onCall, signal: stop.abandon };
  const answer = await askFor(asking, { scope, window, connection });
  const rows =
    answer.code === null ? await dependencies.store.readEvidence(scope, window, [connection.id]) : null;
  const verdict = callVerdict({ ...connection, ...answer }, rows)!;
  admission.record(
    { owner: ownerKey(scope), isProbe: true, calls: 1 },
    verdict,
    answer.code ?? "analysis_missing",
  );
}
