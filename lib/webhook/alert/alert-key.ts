import type { Alert } from "./alert.ts";

/** Alerts with the same key are one and the same alert, posted again. */
export function alertKey({ fingerprint, status, startsAt, endsAt, firing }: Alert): string {
  return JSON.stringify([fingerprint, status, startsAt, firing ? null : endsAt]);
}
