import type { Announcement } from "../../last-run/last-run.ts";
import type { WeeklySummary } from "../context/summary.ts";
import { isOnlyHeldElsewhere, isOnlyRecipients } from "./failing.ts";

/** What the end of a run has to tell. */
export type AnnouncementChoice =
  | { status: "none" }
  | { status: "firing"; severity: "critical" | "warning" }
  | { status: "resolved" };

/**
 * Whether the end of a run is announced: a failure once for each run, a success when this host has announced a failure
 * of the same week.
 *
 * Shape: `held` is the announcement that the host's last-run file holds.
 */
export function decideAnnouncement(
  summary: WeeklySummary,
  { held, week }: { held: Announcement | null; week: string },
): AnnouncementChoice {
  if (summary.status === "success") return { status: held?.week === week ? "resolved" : "none" };
  if (isOnlyHeldElsewhere(summary)) return { status: "none" };
  return { status: "firing", severity: isOnlyRecipients(summary) ? "warning" : "critical" };
}
