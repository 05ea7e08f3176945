/** Why a run takes up nothing new. */
export type StopReason = { code: string; message: string; hint?: string };

/** Whether a run may still begin something; all of its work in flight shares it. */
export type Stop = ReturnType<typeof createStop>;

/**
 * How a run ends before its work is done: the first reason stays, waiting ends, nothing new begins.
 *
 * Behaviour: three stages, each with a signal. `because` aborts `signal`. `giveUp` aborts `abandon`, which ends the
 *            calls in flight; their outcome is then unknown. `expire` aborts `expired`, which ends every wait for the
 *            database.
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

/** The run reached midnight in America/Sao_Paulo. */
export const MONDAY_ENDED: StopReason = {
  code: "MONDAY_ENDED",
  message: "Stopped the run: Monday has ended in America/Sao_Paulo",
  hint: "What was not sent stays unsent: the week is closed. Start earlier, or raise the providers' rates",
};

/** The database does not answer any more. */
export const DATABASE_LOST: StopReason = {
  code: "DATABASE_LOST",
  message: "Stopped the run: the database does not answer any more",
  hint: "Look at the database, then run opsctl weekly again on the same Monday",
};

/** The database answers and takes no writes any more. */
export const DATABASE_READ_ONLY: StopReason = {
  code: "DATABASE_LOST",
  message: "Stopped the run: the database takes no writes any more",
  hint: "It is a replica, or was set read-only. Look at the database, then run opsctl weekly again on the same Monday",
};

/** The database has forgotten what the run has sent: owners who have had their message look like new ones. */
export const LEDGER_LOST_ROWS: StopReason = {
  code: "LEDGER_WENT_BACK",
  message:
    "Stopped the run: the database has lost rows of messages that were sent, and a further one might be a second one",
  hint: "Run nothing before you have decided what to do: opsctl explain LEDGER_WENT_BACK",
};

/** The run cannot read which owners are left. */
export const SCOPES_UNREADABLE: StopReason = {
  code: "SCOPES_UNREADABLE",
  message: "Stopped the run: the database no longer lists the tenant owners",
  hint: "Look at the database, then run opsctl weekly again on the same Monday",
};

/** A signal asked the run to end. */
export const RUN_INTERRUPTED: StopReason = {
  code: "RUN_INTERRUPTED",
  message: "Stopped the run: a signal asked for it",
  hint: "Run opsctl weekly again on the same Monday; it goes on where this run stopped",
};

/** The application was away for longer than the run's patience. */
export const APP_NOT_ANSWERING: StopReason = {
  code: "APP_NOT_ANSWERING",
  message: "Stopped the run: the application did not analyse any connection for as long as the run waits",
  hint: "Look at the application, then run opsctl weekly again on the same Monday. If it stays away, --without-social makes the reports without networks, for good",
};

/** Answers that refuse the worker itself: a run that went on would send every owner an empty report. */
export const APPLICATION_REFUSES: Record<string, StopReason> = {
  APP_HTTP_401: {
    code: "APP_HTTP_401",
    message: "Stopped the run: the application refused the worker's secret (401)",
    hint: "Make TRIGGER_SECRET here (opsctl secret set TRIGGER_SECRET) and VPS_TRIGGER_SECRET in the application refer to the same secret, then run again",
  },
  APP_HTTP_409: {
    code: "APP_HTTP_409",
    message: "Stopped the run: the application says that it is not Monday in America/Sao_Paulo (409)",
    hint: "Compare the clocks of application and database; do not force the run, wait or use --dry-run",
  },
};
