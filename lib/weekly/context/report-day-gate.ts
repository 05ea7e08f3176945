import { isReportDay } from "../../time/report-day.ts";
import { type Run, readClock } from "./run.ts";
import { MONDAY_ENDED } from "./run-stop.ts";

/**
 * Null while a further call may begin, else the code of why not: the run was stopped, or Monday has ended.
 *
 * Source: the database's clock, asked anew each time.
 */
export async function refusalToBegin(run: Pick<Run, "dependencies" | "stop">): Promise<string | null> {
  if (!run.stop.reason()) {
    const now = await readClock(run);
    if (!isReportDay(now)) run.stop.because(MONDAY_ENDED);
  }
  return run.stop.reason()?.code ?? null;
}

/** The same for one of many calls that follow each other: the clock's last reading may be a few seconds old. */
export async function refusalByRecentClock(run: Pick<Run, "stop" | "recentClock">): Promise<string | null> {
  if (!run.stop.reason() && !isReportDay(await run.recentClock())) run.stop.because(MONDAY_ENDED);
  return run.stop.reason()?.code ?? null;
}
