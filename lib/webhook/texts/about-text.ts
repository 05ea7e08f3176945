import { aboutAlert } from "../alert/about.ts";
import type { Alert } from "../alert/alert.ts";
import { datasourceTrouble } from "../alert/name.ts";

/** Labels that the platform adds when a rule could not be evaluated: of the data source, not of what is watched. */
const OF_THE_SOURCE: ReadonlySet<string> = new Set(["rulename", "datasource_uid", "ref_id"]);

/**
 * What tells an alert from its neighbours, as `aboutAlert` returns it, but never a name of the data source.
 *
 * Source: alert webhook contract, Special alerts.
 */
export function aboutText({ labels }: Pick<Alert, "labels">): string {
  if (datasourceTrouble(labels) === null) return aboutAlert({ labels });
  const own = Object.entries(labels).filter(([name]) => !OF_THE_SOURCE.has(name));
  return aboutAlert({ labels: Object.fromEntries(own) });
}
