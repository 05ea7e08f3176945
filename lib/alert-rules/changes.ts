import { member } from "../platform/http/answer.ts";
import { EXPRESSION_SOURCE } from "../providers/grafana/document.ts";
import { parseDurationMs, renderDuration } from "./duration.ts";

/** One part of a rule that differs; null on the side where it is absent. */
export type FieldChange = { path: string; from: unknown; to: unknown };

/** Every part of a rule that has a meaning, by its path: `for`, `labels.severity`, `data.A.model.expr`. */
type RuleFields = ReadonlyMap<string, unknown>;

const TEXTS = ["title", "folderUID", "ruleGroup", "condition", "noDataState", "execErrState"] as const;

/** The path of the contact point that a rule names. */
const RECEIVER_FIELD = "notification_settings.receiver";

/** Fields of the platform that ours do not have, with the values that mean "not set". */
const UNSET: Readonly<Record<string, readonly unknown[]>> = {
  isPaused: [false],
  keep_firing_for: ["", "0s", 0],
  missingSeriesEvalsToResolve: [0],
  record: [],
};

/** The parts of a step's model that change what it computes, with the values that the platform adds. */
const MODEL: Readonly<Record<string, unknown>> = {
  expr: null,
  instant: false,
  range: false,
  queryType: "",
  type: null,
  expression: null,
  reducer: null,
  "settings.mode": null,
  intervalMs: 1000,
  maxDataPoints: 43_200,
};

/**
 * The differences between `present` and `wanted`, by path; empty when both behave alike.
 *
 * Behaviour: where `wanted` names no receiver, a person decides who receives the rule, and it is not compared.
 */
export function fieldChanges(present: unknown, wanted: unknown): FieldChange[] {
  const before = new Map(ruleFields(present));
  const after = ruleFields(wanted);
  if (!after.has(RECEIVER_FIELD)) before.delete(RECEIVER_FIELD);
  const paths = [...new Set([...after.keys(), ...before.keys()])];
  return paths
    .map((path) => ({ path, from: before.get(path) ?? null, to: after.get(path) ?? null }))
    .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to));
}

/**
 * The fields of a rule, ours or the platform's, in a form that can be compared.
 *
 * Behaviour: drops what only the platform writes (`id`, `orgID`, `updated`, `provenance`), keys without a meaning for
 *            the evaluation, the order of keys, added defaults and the spelling of durations: two rules with equal
 *            fields behave alike. A value of unknown form is kept unchanged and so differs. What stands beside the
 *            receiver in the notification settings is a person's and left out.
 * Source:    grafana/grafana pkg/services/ngalert/models/alert_query.go (defaults), api_provisioning.go (durations).
 */
function ruleFields(rule: unknown): RuleFields {
  const fields = new Map<string, unknown>();
  for (const name of TEXTS) fields.set(name, member(rule, name) ?? null);
  fields.set("for", durationField(member(rule, "for")));
  for (const [name, unset] of Object.entries(UNSET)) {
    const value = member(rule, name) ?? null;
    if (value !== null && !unset.includes(value)) fields.set(name, sortedKeys(value));
  }
  const receiver = member(member(rule, "notification_settings"), "receiver");
  if (receiver !== undefined) fields.set(RECEIVER_FIELD, receiver);
  for (const name of ["labels", "annotations"]) addEntries(fields, name, member(rule, name));
  const steps = member(rule, "data");
  if (Array.isArray(steps)) for (const [index, step] of steps.entries()) addStep(fields, step, index);
  return fields;
}

function durationField(value: unknown): unknown {
  if (value === undefined || value === null || value === "") return "0s";
  const ms = typeof value === "string" ? parseDurationMs(value) : null;
  return ms === null ? value : renderDuration(ms);
}

function addEntries(fields: Map<string, unknown>, name: string, map: unknown): void {
  if (typeof map !== "object" || map === null) return;
  for (const [key, value] of Object.entries(map)) fields.set(`${name}.${key}`, value);
}

function addStep(fields: Map<string, unknown>, step: unknown, index: number): void {
  const refId = member(step, "refId");
  const plain = `data.${typeof refId === "string" ? refId : index}`;
  // Two steps of one name must not hide one another.
  const path = fields.has(`${plain}.datasourceUid`) ? `${plain}[${index}]` : plain;
  const model = member(step, "model");
  const given = member(step, "datasourceUid");
  const isExpression = given === EXPRESSION_SOURCE || given === "-100";
  fields.set(`${path}.datasourceUid`, isExpression ? EXPRESSION_SOURCE : (given ?? null));
  if (!isExpression) {
    const range = member(step, "relativeTimeRange");
    fields.set(`${path}.relativeTimeRange.from`, member(range, "from") ?? 0);
    fields.set(`${path}.relativeTimeRange.to`, member(range, "to") ?? 0);
  }
  // The platform copies the model's `queryType` to the step; an old platform has only the step's.
  const queryType = isExpression ? "" : member(model, "queryType") || member(step, "queryType") || "";
  for (const [name, fallback] of Object.entries(MODEL)) {
    const value = name === "queryType" ? queryType : valueAt(model, name.split("."));
    const effective = sortedKeys(value ?? fallback);
    if (effective !== null && effective !== "") fields.set(`${path}.model.${name}`, effective);
  }
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce(member, value);
}

/** The same value with the keys of every object in alphabetical order. */
function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== "object" || value === null) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sortedKeys(member(value, key))]));
}
