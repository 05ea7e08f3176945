import { member } from "../platform/http/answer.ts";
import { EXPRESSION_SOURCE } from "../providers/grafana/document.ts";
import { parseDurationMs, renderDuration } from "./duration.ts";

/** One field that differs; null on the side where it is absent. */
export type FieldChange = { path: string; from: unknown; to: unknown };

const RECEIVER_PATH = "notification_settings.receiver";
const REQUIRED = ["title", "folderUID", "ruleGroup", "condition", "noDataState", "execErrState"];
const OPTIONAL = ["isPaused", "keep_firing_for", "missingSeriesEvalsToResolve", "record"];
/** The values by which Grafana says that an optional field is not set. */
const UNSET: readonly unknown[] = [undefined, null, "", "0s", 0, false];

const MODEL_FIELDS = ["expr", "type", "expression", "reducer", "settings"];
/** What Grafana fills in where a step's model does not have it. */
const MODEL_DEFAULTS = { instant: false, range: false, intervalMs: 1000, maxDataPoints: 43_200 };
/** The name of the expressions' data source before Grafana 9. */
const OLD_EXPRESSION_SOURCE = "-100";

/**
 * The differences between Grafana's rule and the wanted one, by path; empty when both behave alike.
 *
 * Behaviour: where `wanted` names no receiver, a person decides who receives the rule, and it is not compared.
 */
export function fieldChanges(present: unknown, wanted: unknown): FieldChange[] {
  const before = canonicalFields(present);
  const after = canonicalFields(wanted);
  if (!after.has(RECEIVER_PATH)) before.delete(RECEIVER_PATH);
  return [...new Set([...after.keys(), ...before.keys()])]
    .map((path) => ({ path, from: before.get(path) ?? null, to: after.get(path) ?? null }))
    .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to));
}

/**
 * The fields of a rule that decide what it does, by path: `for`, `labels.severity`, `data.A.model.expr`.
 *
 * Behaviour: leaves out what only Grafana writes (`id`, `updated`, `provenance`), its defaults, and the notification
 *            settings beside the receiver, which belong to a person. A value of unknown form stays as it is.
 * Source:    grafana/grafana pkg/services/ngalert/models/alert_query.go (defaults), api_provisioning.go (durations).
 */
function canonicalFields(rule: unknown): Map<string, unknown> {
  const settings = { receiver: member(member(rule, "notification_settings"), "receiver") };
  const optional = OPTIONAL.filter((name) => !UNSET.includes(member(rule, name)));
  return leavesOf({
    ...picked(rule, [...REQUIRED, ...optional, "labels", "annotations"]),
    for: canonicalDuration(member(rule, "for")),
    notification_settings: settings,
    data: canonicalSteps(member(rule, "data")),
  });
}

function canonicalDuration(value: unknown): unknown {
  if (UNSET.includes(value)) return "0s";
  const ms = typeof value === "string" ? parseDurationMs(value) : null;
  return ms === null ? value : renderDuration(ms);
}

/** The steps by their name; a second one of the same name gets its index behind it. */
function canonicalSteps(steps: unknown): Record<string, object> {
  const named: Record<string, object> = {};
  for (const [index, step] of (Array.isArray(steps) ? steps : []).entries()) {
    const name = String(member(step, "refId") ?? index);
    named[name in named ? `${name}[${index}]` : name] = canonicalStep(step);
  }
  return named;
}

function canonicalStep(step: unknown): object {
  const source = member(step, "datasourceUid");
  const model = {
    ...MODEL_DEFAULTS,
    ...picked(member(step, "model"), [...MODEL_FIELDS, ...Object.keys(MODEL_DEFAULTS)]),
  };
  if (source === EXPRESSION_SOURCE || source === OLD_EXPRESSION_SOURCE)
    return { datasourceUid: EXPRESSION_SOURCE, model };
  return {
    datasourceUid: source,
    relativeTimeRange: { from: 0, to: 0, ...picked(member(step, "relativeTimeRange"), ["from", "to"]) },
    // Grafana copies the model's `queryType` to the step; old versions have only the step's.
    model: { ...model, queryType: member(member(step, "model"), "queryType") || member(step, "queryType") },
  };
}

/** Those of the named fields that have a value. */
function picked(value: unknown, names: readonly string[]): Record<string, unknown> {
  const entries = names.map((name) => [name, member(value, name)] as const);
  return Object.fromEntries(entries.filter(([, field]) => field !== undefined && field !== null));
}

/** Every value inside objects by its path; absent and empty ones are left out, lists stay whole. */
function leavesOf(value: unknown, path = ""): Map<string, unknown> {
  if (value === undefined || value === null || value === "") return new Map();
  if (typeof value !== "object" || Array.isArray(value)) return new Map([[path, value]]);
  const prefix = path === "" ? "" : `${path}.`;
  return new Map(Object.entries(value).flatMap(([key, inner]) => [...leavesOf(inner, prefix + key)]));
}
