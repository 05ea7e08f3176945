import { refusalToBegin } from "../context/report-day-gate.ts";
import type { Run } from "../context/run.ts";
import { type EditorialSummary, noEditorials } from "../context/summary.ts";
import { databaseCode } from "../database/refusals.ts";
import { drainEditorials, newDrain } from "./drain.ts";
import { drainUnderLock } from "./drain-under-lock.ts";

/**
 * Steps 13 and 14: the editorial drain, unless this run leaves it out; at most one at a time over all hosts.
 *
 * Shape:  `disabled` by configuration, `skipped` by a flag, a `--tenant`, a stopped run or another run's drain.
 * Errors: SOCIAL_EDITORIALS_CRON_SECRET_MISSING, SOCIAL_EDITORIALS_LOCK_LOST, and those of `drainEditorials`.
 */
export async function editorialStep(run: Run): Promise<EditorialSummary> {
  const { options, dependencies, tally } = run;
  const { enabled, maxLlmCalls, secretPresent } = options.editorials;
  if (!enabled) return noEditorials("disabled", null);
  if (options.skipEditorials || options.tenantId !== null) return noEditorials("skipped", null);
  const stopped = run.stop.reason();
  if (stopped) return noEditorials("skipped", stopped.code);
  if (!secretPresent) {
    const code = "SOCIAL_EDITORIALS_CRON_SECRET_MISSING";
    tally.fail({ step: "editorials", code });
    dependencies.log.error(
      "Editorials are enabled, but the secret adapter has no SOCIAL_EDITORIALS_CRON_SECRET",
      {
        code,
        hint: "Put it into the credentials or secrets directory; it is never taken from the environment",
      },
    );
    return noEditorials("failed", code);
  }
  const drainDependencies = {
    application: dependencies.application,
    refusal: () => refusalToBegin(run),
    signal: run.stop.abandon,
    fail: tally.fail,
  };
  // Kept here: when the lock is lost, the drain goes on from it, and in the end the summary has what the drain did.
  const drain = newDrain();
  try {
    const result = await drainUnderLock(run, (confirm) =>
      drainEditorials(drainDependencies, maxLlmCalls, confirm, drain),
    );
    if (result !== "busy") return result;
    dependencies.log.info("Another run drains the editorials", { code: "SOCIAL_EDITORIALS_BUSY" });
    return noEditorials("skipped", "SOCIAL_EDITORIALS_BUSY");
  } catch (error) {
    const code = "SOCIAL_EDITORIALS_LOCK_LOST";
    dependencies.log.error("The editorial drain broke off", { code, cause: databaseCode(error) });
    const drained = drain.result ?? drain.summary;
    if (drained.code === null) tally.fail({ step: "editorials", code });
    return { ...drained, status: "failed", code: drained.code ?? code };
  }
}
