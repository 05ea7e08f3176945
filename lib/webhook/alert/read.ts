import type { Alert } from "./alert.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { alertName, datasourceTrouble } from "./name.ts";
import { squadOf } from "./squad.ts";
import { readAlertTime } from "./time.ts";

/** An object of the sender's, of which nothing is known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether `value` is an object and no list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * One alert of a sender, as far as it can be read.
 *
 * Shape:  `labels` and `annotations` are objects, null or absent. A number or a truth value in them becomes text; null,
 *         lists and objects are left out, and so is whatever is deeper. Blank texts count as absent.
 * Source: alert webhook contract, Rules for our parser.
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

/** Has no prototype, so that a label named `__proto__` or `toString` is a label. */
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

/** The rule's own words; where the rule could not be evaluated, first why. */
function describe(labels: Alert["labels"], annotations: Record<string, string>): string | null {
  const description = presentText(annotations.description);
  const error = datasourceTrouble(labels) === "DatasourceError" ? presentText(annotations.Error) : null;
  return error === null || description === null ? (error ?? description) : `${error}\n${description}`;
}

/** Not asked for an alert without data: its steps are all -1 there, which nobody measured. */
function valueText({ values, valueString }: JsonObject): string | null {
  const steps = Object.entries(textRecord(values)).map(([step, value]) => `${step}=${value}`);
  return steps.length > 0 ? steps.join(", ") : presentText(valueString);
}
