import type { Alert } from "../alert/alert.ts";

/** The alert that a row keeps, or null when what it keeps is none: a damaged row must not end the service. */
export function storedAlert(text: string): Alert | null {
  try {
    const alert = JSON.parse(text) as Partial<Alert> | null;
    return typeof alert?.fingerprint === "string" ? (alert as Alert) : null;
  } catch {
    return null;
  }
}
