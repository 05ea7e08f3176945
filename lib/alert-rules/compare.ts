import { member } from "../platform/http/answer.ts";

/** One field that differs; null on the side where it is absent. */
export type FieldChange = { path: string; from: unknown; to: unknown };

const RULE_FIELDS = [
  ...["title", "folderUID", "ruleGroup", "condition", "for", "noDataState", "execErrState"],
  ...["isPaused", "keep_firing_for", "missingSeriesEvalsToResolve", "record", "labels", "annotations"],
];
const MODEL_FIELDS = ["expr", "type", "expression", "reducer", "settings", "instant", "range", "queryType"];
const RECEIVER_PATH = "notification_settings.receiver";
/** The values by which Grafana says that a field is not set. */
const UNSET: readonly unknown[] = [null, "", "0s", 0, false];

/**
 * The differences between Grafana's rule and the wanted one, by path (`data.A.model.expr`); empty when both behave
 * alike.
 *
 * Behaviour: leaves out what only Grafana writes (`id`, `updated`, `provenance`) and the notification settings beside
 *            the receiver, which belong to a person; the receiver, too, where `wanted` names none.
 * Source:    grafana/grafana pkg/services/ngalert/api/api_provisioning.go: durations have one form, `1m30s`.
 */
export function fieldChanges(present: unknown, wanted: unknown): FieldChange[] {
  const [before, after] = [comparedFields(present), comparedFields(wanted)];
  if (!after.has(RECEIVER_PATH)) before.delete(RECEIVER_PATH);
  return [...new Set([...after.keys(), ...before.keys()])]
    .map((path) => ({ path, from: before.get(path) ?? null, to: after.get(path) ?? null }))
    .filter(({ from, to }) => !(UNSET.includes(from) && UNSET.includes(to)))
    .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to));
}

/** The fields of a rule that decide what it does, by path; a list stays whole. */
function comparedFields(rule: unknown): Map<string, unknown> {
  const steps = member(rule, "data");
  const data = (Array.isArray(steps) ? steps : []).map((step: unknown, at) => {
    const model = picked(member(step, "model"), MODEL_FIELDS);
    const fields = { ...picked(step, ["datasourceUid", "relativeTimeRange"]), model };
    return [String(member(step, "refId") ?? at), fields];
  });
  return leavesOf({
    ...picked(rule, RULE_FIELDS),
    notification_settings: picked(member(rule, "notification_settings"), ["receiver"]),
    data: Object.fromEntries(data),
  });
}

function picked(value: unknown, names: readonly string[]): Record<string, unknown> {
  const entries = names.map((name) => [name, member(value, name)] as const);
  return Object.fromEntries(entries.filter(([, field]) => field !== undefined));
}

function leavesOf(value: unknown, path = ""): Map<string, unknown> {
  if (value === undefined || value === null) return new Map();
  if (typeof value !== "object" || Array.isArray(value)) return new Map([[path, value]]);
  const prefix = path === "" ? "" : `${path}.`;
  return new Map(Object.entries(value).flatMap(([key, inner]) => [...leavesOf(inner, prefix + key)]));
}
