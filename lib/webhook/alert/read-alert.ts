import type { Alert } from "./alert.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { alertName, datasourceTrouble } from "./name.ts";
import { squadOf } from "./squad.ts";
import { readAlertTime } from "./time.ts";

/** An object from the sender, not checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether `value` is an object, and not a list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Reads one alert of a sender.
 *
 * Shape:     `labels` and `annotations` of `raw` are objects, null or absent.
 * Behaviour: a number or a boolean in them becomes text; null, lists and objects are left out. Blank texts count as
 *            absent.
 * Source:    alert webhook contract, Rules for our parser.
 */
export function readAlert(raw: JsonObject, truncatedAlerts: number): Alert {
  const labels = textRecord(raw.labels);
  const annotations = textRecord(raw.annotations);
  const status = typeof raw.status === "string" ? raw.status : null;
  return {
    name: alertName(labels),
    status,
    firing: status === "firing",
    squad: squadOf(labels.ruleGroup),
    severity: presentText(labels.severity),
    fingerprint: fingerprintOf({ fingerprint: raw.fingerprint, labels }),
    summary: presentText(annotations.summary),
    description: describe(labels, annotations),
    startsAt: readAlertTime(raw.startsAt),
    endsAt: readAlertTime(raw.endsAt),
    value: datasourceTrouble(labels) === null ? valueText(raw) : null,
    labels,
    ruleUrl: presentText(raw.generatorURL),
    silenceUrl: presentText(raw.silenceURL),
    dashboardUrl: presentText(raw.dashboardURL),
    truncatedAlerts,
  };
}

/** The result has no prototype, so that a label named `__proto__` or `toString` is a label. */
function textRecord(raw: unknown): Record<string, string> {
  const texts: Record<string, string> = Object.create(null);
  if (!isJsonObject(raw)) return texts;
  for (const key of Object.keys(raw)) {
    const text = scalarText(raw[key]);
    if (text !== null) texts[key] = text;
  }
  return texts;
}

function scalarText(value: unknown): string | null {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : null;
}

function presentText(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

/** The rule's description; when the rule could not be evaluated, the reason first. */
function describe(labels: Alert["labels"], annotations: Record<string, string>): string | null {
  const description = presentText(annotations.description);
  const error = datasourceTrouble(labels) === "DatasourceError" ? presentText(annotations.Error) : null;
  return error === null || description === null ? (error ?? description) : `${error}\n${description}`;
}

/** The values of the rule's steps; not for an alert without data, whose steps are all -1 and were not measured. */
function valueText({ values, valueString }: JsonObject): string | null {
  const steps = Object.entries(textRecord(values)).map(([step, value]) => `${step}=${value}`);
  return steps.length > 0 ? steps.join(", ") : presentText(valueString);
}
