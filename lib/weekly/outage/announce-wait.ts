import type { Log } from "../../platform/log/log.ts";
import type { Progress } from "../../platform/log/progress.ts";
import { formatInstant } from "../../time/instant.ts";
import { REPORT_ZONE } from "../../time/local-date.ts";
import type { WaitEnd } from "./admission.ts";
import type { Wait } from "./wait.ts";

/** Where a wait is told: the log, and the progress line of a terminal. */
type Listeners = { log: Log; progress: Progress };

/** Says that the run waits, for whom and until when; `until` is the wait's end by the database's clock. */
export function announceWait({ log, progress }: Listeners, wait: Wait, until: Temporal.Instant): void {
  log.warn("The application does not answer: the run waits, and asks it again every 30 seconds", {
    code: "APP_NOT_ANSWERING",
    waitsFor: "application",
    until: formatInstant(until.round("second")),
    afterwards: wait.kind === "tripped" ? "break off" : "second pass",
  });
  progress.setNote(`waiting for the application until ${timeInSaoPaulo(until)} (São Paulo)`);
}

/** Says how the wait ended. */
export function announceWaitEnd({ log, progress }: Listeners, wait: Wait, end: WaitEnd, nowMs: number): void {
  const waitedSeconds = Math.round((nowMs - wait.sinceMs) / 1000);
  progress.setNote(null);
  if (end === "answered") log.info("The application answers again: the run goes on", { waitedSeconds });
  else log.warn("The application still does not answer: the second pass decides", { waitedSeconds });
}

function timeInSaoPaulo(instant: Temporal.Instant): string {
  const { hour, minute } = instant.toZonedDateTimeISO(REPORT_ZONE);
  return [hour, minute].map((part) => String(part).padStart(2, "0")).join(":");
}
