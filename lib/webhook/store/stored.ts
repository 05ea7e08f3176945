/** What is kept of an alert, and read back. */
import { aboutAlert } from "../alert/about.ts";
import type { Alert } from "../alert/alert.ts";
import type { ShownAlert } from "./model.ts";

const LONGEST_SHOWN = 200;

/** What is kept of a delivered alert, its texts cut to 200 characters. */
export function shownAlert(alert: Alert): ShownAlert {
  const { name, status, firing, severity, squad, reason } = alert;
  const cut = (text: string | null) => text?.slice(0, LONGEST_SHOWN) ?? null;
  const about = aboutAlert(alert).slice(0, LONGEST_SHOWN);
  const why = reason ? { reason } : {};
  return { name: cut(name), status: cut(status), firing, severity: cut(severity), squad, about, ...why };
}

/** The alert of a row that was not delivered; one with nothing in it when its JSON is damaged. */
export function storedAlert(json: string): Alert {
  return { ...NOTHING, ...parsed(json) };
}

const NOTHING: Alert = {
  ...{ name: null, status: null, firing: false, squad: "geral", severity: null, fingerprint: "" },
  ...{ summary: null, description: null, startsAt: null, endsAt: null, value: null, labels: {} },
  ...{ ruleUrl: null, silenceUrl: null, dashboardUrl: null, truncatedAlerts: 0 },
};

/** What people are shown of a row; that of a delivered one is kept. */
export function shownOf(json: string): ShownAlert {
  const shown: Partial<ShownAlert> = parsed(json);
  return shown.about === undefined ? shownAlert(storedAlert(json)) : (shown as ShownAlert);
}

function parsed(json: string): object {
  try {
    return JSON.parse(json) ?? {};
  } catch {
    return {};
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
