import type { Alert } from "./alert.ts";

/** The labels that say which of several alerts of a rule this is, the first that is there. */
const TELLING = ["instance", "host", "project", "job"];
/** Labels that every alert of the platform has. */
export const COMMON_LABELS = new Set(["alertname", "severity", "ruleGroup", "grafana_folder"]);

/** By which way an alert comes, then what the platform adds when a rule could not be evaluated: not what is watched. */
const OF_THE_PLATFORM: ReadonlySet<string> = new Set(["via", "rulename", "datasource_uid", "ref_id"]);

/**
 * What distinguishes an alert from others of its rule: its instance, else host, project or job, else its first two
 * labels that are about what is watched; empty when there is none.
 *
 * Shape:  the sender's text, of any length and not made safe for any output; never a name of the data source.
 * Source: alert webhook contract, Special alerts.
 */
export function aboutAlert({ labels }: Pick<Alert, "labels">): string {
  for (const name of TELLING) if (Object.hasOwn(labels, name) && labels[name] !== "") return labels[name]!;
  return Object.entries(labels)
    .filter(([name, value]) => value !== "" && !COMMON_LABELS.has(name) && !OF_THE_PLATFORM.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, 2)
    .map(([, value]) => value)
    .join(" · ");
}
