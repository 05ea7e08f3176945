import type { Alert } from "./alert.ts";
import { datasourceTrouble } from "./name.ts";

/** The labels that say which of several alerts of a rule this is, the first that is there. */
const TELLING = ["instance", "host", "project", "job"];
/** Labels that every alert of the platform has. */
export const COMMON_LABELS: ReadonlySet<string> = new Set([
  "alertname",
  "severity",
  "ruleGroup",
  "grafana_folder",
]);

/** Says by which way an alert reaches people, of all alerts of its rule the same. */
const WAY = "via";

/** Labels that the platform adds when a rule could not be evaluated: of the data source, not of what is watched. */
const OF_THE_SOURCE: ReadonlySet<string> = new Set(["rulename", "datasource_uid", "ref_id"]);

/**
 * What distinguishes an alert from others of its rule: its instance, else host, project or job, else its first two
 * labels that not every alert has, without the way by which it comes; empty when there is none.
 *
 * Shape:  the sender's text, of any length and not made safe for any output; never a name of the data source.
 * Source: alert webhook contract, Special alerts.
 */
export function aboutAlert({ labels }: Pick<Alert, "labels">): string {
  for (const name of TELLING) if (Object.hasOwn(labels, name) && labels[name] !== "") return labels[name]!;
  const isTrouble = datasourceTrouble(labels) !== null;
  const isTelling = (name: string) =>
    !COMMON_LABELS.has(name) && name !== WAY && !(isTrouble && OF_THE_SOURCE.has(name));
  return Object.entries(labels)
    .filter(([name, value]) => value !== "" && isTelling(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, 2)
    .map(([, value]) => value)
    .join(" · ");
}
