import { mondayLeftOf } from "./monday-left.ts";
import type { Run } from "./run.ts";

/**
 * Warns once, as early as possible, that the providers' rates do not let the run end on its Monday.
 *
 * Shape:     a function to be called after each report.
 * Behaviour: the warning is also kept for the summary; the run goes on until midnight.
 */
export function warnOfShortMonday(run: Run): () => void {
  const mondayLeftMs = mondayLeftOf(run);
  let warned = false;
  return () => {
    if (warned) return;
    const rates = run.channels
      .filter(
        (channel) => !channel.leftOut && channel.stop.reason() === null && channel.senderTenantId !== null,
      )
      .map((channel) => channel.rate.perSecond())
      .filter((rate) => rate !== null);
    if (rates.length === 0) return;
    const { scopes, completed, reused, failed, ineligible } = run.tally.reports;
    const ownersLeft = scopes - completed - reused - failed - ineligible;
    const leftMs = mondayLeftMs();
    const perSecond = Math.min(...rates);
    if ((ownersLeft / perSecond) * 1000 <= leftMs) return;
    warned = true;
    const code = "MONDAY_TOO_SHORT";
    run.tally.fail({ step: "run", code });
    run.dependencies.log.warn(
      "The providers' rates do not let this run end before midnight in America/Sao_Paulo",
      {
        code,
        ownersLeft,
        perSecond,
        minutesLeft: Math.max(0, Math.floor(leftMs / 60_000)),
      },
    );
  };
}
