/** Why a run takes up nothing new. */
export type StopReason = { code: string; message: string; hint?: string };

/** The one answer to "may I begin something?" that all of a run's work in flight shares. */
export type Stop = ReturnType<typeof createStop>;

/**
 * How a run ends before its work is done: the first reason given stays, waiting ends, nothing new begins.
 *
 * Shape: three stages. `signal` is aborted with the first reason; `abandon` is aborted by `giveUp`, when what is in
 *        flight has had its time, and ends calls whose outcome is then unknown; `expired` is aborted by `expire`, when
 *        these outcomes have had theirs to be recorded, and ends every wait for the database.
 */
export function createStop() {
  const stopping = new AbortController();
  const abandoning = new AbortController();
  const expiring = new AbortController();
  let reason: StopReason | null = null;
  return {
    reason: (): StopReason | null => reason,
    signal: stopping.signal,
    abandon: abandoning.signal,
    expired: expiring.signal,
    because(given: StopReason): void {
      reason ??= given;
      stopping.abort();
    },
    giveUp(): void {
      abandoning.abort();
    },
    expire(): void {
      expiring.abort();
    },
  };
}

/** A run that reached midnight in America/Sao_Paulo. */
export const MONDAY_ENDED: StopReason = {
  code: "MONDAY_ENDED",
  message: "Stopped the run: Monday has ended in America/Sao_Paulo",
  hint: "What was not sent stays unsent: the week is closed. Start earlier, or raise the providers' rates",
};

/** A run whose database does not answer any more. */
export const DATABASE_LOST: StopReason = {
  code: "DATABASE_LOST",
  message: "Stopped the run: the database does not answer any more",
  hint: "Look at the database, then run opsctl weekly again on the same Monday",
};

/** A run that cannot know whom it has still to report to. */
export const SCOPES_UNREADABLE: StopReason = {
  code: "SCOPES_UNREADABLE",
  message: "Stopped the run: the database no longer lists the tenant owners",
  hint: "Look at the database, then run opsctl weekly again on the same Monday",
};

/** A run that was told to end. */
export const RUN_INTERRUPTED: StopReason = {
  code: "RUN_INTERRUPTED",
  message: "Stopped the run: a signal asked for it",
  hint: "Run opsctl weekly again on the same Monday; it goes on where this run stopped",
};

/** Answers of the application that refuse the worker itself: to go on would send every owner an empty report for good. */
export const APPLICATION_REFUSES: Record<string, StopReason> = {
  APP_HTTP_401: {
    code: "APP_HTTP_401",
    message: "Stopped the run: the application refused the worker's secret (401)",
    hint: "Make TRIGGER_SECRET here and VPS_TRIGGER_SECRET in the application refer to the same secret, then run again",
  },
  APP_HTTP_409: {
    code: "APP_HTTP_409",
    message: "Stopped the run: the application says that it is not Monday in America/Sao_Paulo (409)",
    hint: "Compare the clocks of application and database; do not force the run, wait or use --dry-run",
  },
};
