/** What both stores keep of an alert, and read back. */
import type { Alert } from "../alert/alert.ts";

/** The dedup's key of a fingerprint's issue. */
export function issueKey(fingerprint: string): string {
  return `issue:${fingerprint}`;
}

/** The order in which rows are due: 0 before 1. */
export function priorityOf({ severity }: Alert): 0 | 1 {
  return severity === "critical" ? 0 : 1;
}

/** The alert of a row's text, or null when the text is none: a damaged row must not end the service. */
export function storedAlert(text: string): Alert | null {
  try {
    const alert = JSON.parse(text) as Partial<Alert> | null;
    return typeof alert?.fingerprint === "string" ? (alert as Alert) : null;
  } catch {
    return null;
  }
}
