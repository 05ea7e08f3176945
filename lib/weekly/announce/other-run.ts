import type { LastRun } from "../../last-run/last-run.ts";
import { isOtherRunning, isSameProcess, type ProcessMark } from "../../last-run/process-mark.ts";
import type { WeeklySummary } from "../context/summary.ts";
import { isOnlyHeldElsewhere } from "./failing.ts";

/** Whether the file holds a run of another process on this host that still goes on. */
export function isOtherRun(file: LastRun | null, own: ProcessMark): boolean {
  return file?.status === "running" && isOtherRunning(file.process, own);
}

/**
 * Whether the end of a run leaves the last-run file to the run that overlapped with it.
 *
 * Shape:     `file` is what the file holds now; `hasOverlapped`: another run went on when this one began.
 * Behaviour: a run that goes on writes its own end. One that has ended keeps its place when this one only met what the
 *            other worked on, or did nothing and says the same: it would hide who did the work.
 */
export function leavesFileToOther(
  summary: WeeklySummary,
  { file, own, hasOverlapped }: { file: LastRun; own: ProcessMark; hasOverlapped: boolean },
): boolean {
  if (isSameProcess(file.process, own)) return false;
  if (isOtherRun(file, own)) return true;
  if (!hasOverlapped || file.status === "running") return false;
  return isOnlyHeldElsewhere(summary) || (hasDoneNothing(summary) && file.status === summary.status);
}

function hasDoneNothing({ reports, whatsapp, email }: WeeklySummary): boolean {
  return reports.completed + whatsapp.sent + email.sent === 0;
}
