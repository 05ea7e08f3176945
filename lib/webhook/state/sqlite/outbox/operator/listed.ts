/** What the lists for operators show of a row, besides its columns. */
import type { Alert } from "../../../../alert/alert.ts";

/** What a list shows of an alert; an unreadable one has the squad of those that name none. */
export function alertFacts(
  text: string | null,
): Pick<Alert, "squad" | "severity"> & { alertname: string | null } {
  try {
    const { name, squad, severity } = JSON.parse(text ?? "") as Alert;
    return { alertname: name, squad, severity };
  } catch {
    return { alertname: null, squad: "geral", severity: null };
  }
}

/** An instant in ISO 8601. */
export function instantOf(ms: number): string {
  return new Date(ms).toISOString();
}
