import type { Alert } from "./alert.ts";

const SEVERITIES = ["critical", "high", "warning"];

/** The order in which rows are due, 0 first, 3 for any other severity; letters' case does not matter. */
export function priorityOf({ severity }: Pick<Alert, "severity">): number {
  const at = SEVERITIES.indexOf(severity?.trim().toLowerCase() ?? "");
  return at === -1 ? SEVERITIES.length : at;
}

/** Whether an alert also goes out by the fallback channel: a critical one, or one about the alarm itself. */
export function isUrgent(alert: Alert): boolean {
  return priorityOf(alert) === 0 || alert.labels.via === "other";
}
