/** What is kept of an alert, and read back. */
import { aboutAlert } from "../alert/about.ts";
import type { Alert } from "../alert/alert.ts";
import type { ShownAlert } from "./types.ts";

const LONGEST_SHOWN = 200;

/** What is kept of a delivered alert, its texts cut to 200 characters. */
export function shownAlert(alert: Alert): ShownAlert {
  const { name, status, firing, severity, squad, reason } = alert;
  const cut = (text: string | null) => text?.slice(0, LONGEST_SHOWN) ?? null;
  const about = aboutAlert(alert).slice(0, LONGEST_SHOWN);
  const why = reason ? { reason } : {};
  return { name: cut(name), status: cut(status), firing, severity: cut(severity), squad, about, ...why };
}

/** The alert of a row that was not delivered, or null when its JSON is none: a damaged row must not end the service. */
export function storedAlert(json: string): Alert | null {
  const alert = parsed(json) as Partial<Alert> | null;
  const isAlert =
    typeof alert?.fingerprint === "string" && typeof alert.labels === "object" && alert.labels !== null;
  return isAlert ? (alert as Alert) : null;
}

const UNREADABLE: ShownAlert = {
  name: null,
  status: null,
  firing: false,
  severity: null,
  squad: "geral",
  about: "",
};

/** What people are shown of a row, delivered or not; of an unreadable one, nothing. */
export function shownOf(json: string): ShownAlert {
  const alert = storedAlert(json);
  if (alert !== null) return shownAlert(alert);
  const shown = parsed(json);
  return typeof shown === "object" && shown !== null ? { ...UNREADABLE, ...shown } : UNREADABLE;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

/** As long as an index of PostgreSQL takes in any alphabet, and longer than any id of the gateway. */
const LONGEST_REFERENCE = 500;

/** A text of an external service as both databases can keep it. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\u{fffd}");
}

/** An id of an external service as it is kept, and looked for. */
export function storableReference(reference: string): string {
  return storableText(reference.slice(0, LONGEST_REFERENCE));
}
