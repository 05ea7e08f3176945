import { type Owner, ownerKey } from "../context/owner.ts";
import type { Run } from "../context/run.ts";
import { completeReport, type ReportResult, type ThrottledReport } from "./complete.ts";

/**
 * Steps 1 to 6 for one owner, as soon as it may be claimed.
 *
 * Behaviour: an owner whose call the application throttled (429) is put back, waits without a claim, and is claimed
 *            again: a run that is killed meanwhile holds nothing, and another process may take the owner.
 */
export async function completeInTurn(run: Run, owner: Owner): Promise<ReportResult> {
  let throttled: ThrottledReport | null = null;
  for (;;) {
    const result: ReportResult | ThrottledReport = await completeOnce(run, throttled?.owner ?? owner);
    if (result.status === "stopped" && throttled !== null) return leave(run, throttled);
    if (result.status !== "throttled") return result;
    throttled = result;
    await run.throttle.wait(result.owner.throttled?.untilMs ?? 0);
  }
}

async function completeOnce(run: Run, owner: Owner): Promise<ReportResult | ThrottledReport> {
  const turn = await run.admission.enter(ownerKey(owner.scope));
  if (turn === null) return { status: "stopped" };
  return await completeReport(run, owner, turn).finally(() => run.admission.leave(turn));
}

/** The run has stopped: it counts this owner with those that it leaves for the next one. */
function leave(run: Run, { reportId, code, owner: { scope } }: ThrottledReport): ReportResult {
  run.putBack.add({ scope, reportId, code, answers: null });
  return { status: "put_back" };
}
