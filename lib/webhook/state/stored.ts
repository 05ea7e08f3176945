/** What both stores keep of an alert, and read back. */
import { aboutAlert } from "../alert/about.ts";
import type { Alert } from "../alert/alert.ts";
import type { Settlement, ShownAlert } from "./contract.ts";

/** The dedup's key of a fingerprint's issue. */
export function issueKey(fingerprint: string): string {
  return `issue:${fingerprint}`;
}

/** The order in which rows are due, 0 first; letters' case does not matter. */
export function priorityOf({ severity }: Alert): 0 | 1 | 2 | 3 {
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

/** Whether an alert also goes out by the second channel: a critical one, or one about the alarm itself. */
export function isUrgent(alert: Alert): boolean {
  return priorityOf(alert) === 0 || alert.labels.via === "other";
}

/** Whether something in front of the peer answered an attempt in its place, which may have passed the row on. */
export function isUnanswered(settlement: Settlement): boolean {
  return "isUnanswered" in settlement && settlement.isUnanswered === true;
}

/** The code of a comment whose issue was given up. */
export const ISSUE_GIVEN_UP = "issue_given_up";

const LONGEST_SHOWN = 200;

/** What is kept of a delivered alert, its texts cut to 200 characters. */
export function shownAlert(alert: Alert): ShownAlert {
  const { name, status, firing, severity, squad, reason } = alert;
  const cut = (text: string | null) => text?.slice(0, LONGEST_SHOWN) ?? null;
  const about = aboutAlert(alert).slice(0, LONGEST_SHOWN);
  const why = reason ? { reason } : {};
  return { name: cut(name), status: cut(status), firing, severity: cut(severity), squad, about, ...why };
}

/** An alert of which only this is kept; what tells it from its neighbours is its one label. */
export function alertAsShown({ about, ...shown }: ShownAlert, fingerprint: string): Alert {
  const nothing = { summary: null, description: null, startsAt: null, endsAt: null, value: null };
  const noLinks = { ruleUrl: null, silenceUrl: null, dashboardUrl: null };
  const labels: Record<string, string> = about === "" ? {} : { about };
  return { ...shown, ...nothing, ...noLinks, fingerprint, labels, truncatedAlerts: 0 };
}

/** The alert of a row's text, or null when the text holds none: a damaged row must not end the service. */
export function storedAlert(text: string | null): Alert | null {
  if (text === null) return null;
  try {
    const alert = JSON.parse(text) as Partial<Alert> | null;
    return typeof alert?.fingerprint === "string" ? (alert as Alert) : null;
  } catch {
    return null;
  }
}
