import type { Alert } from "./alert.ts";

/** The order in which rows are due, 0 first; letters' case does not matter. */
export function priorityOf({ severity }: Pick<Alert, "severity">): 0 | 1 | 2 | 3 {
  switch (severity?.trim().toLowerCase()) {
    case "critical":
      return 0;
    case "high":
      return 1;
    case "warning":
      return 2;
    default:
      return 3;
  }
}

/** Whether an alert also goes out by the fallback channel: a critical one, or one about the alarm itself. */
export function isUrgent(alert: Alert): boolean {
  return priorityOf(alert) === 0 || alert.labels.via === "other";
}
