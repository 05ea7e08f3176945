import { type Alert, type Squad, UNITS, type Unit } from "./alert.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { isJsonObject, type JsonObject } from "./json-object.ts";
import { alertName, datasourceTrouble } from "./name.ts";
import { readStateReason } from "./state-reason.ts";
import { readAlertTime } from "./time.ts";
import { readValue } from "./value.ts";

/** No text that is made of an alert shows more; looking through megabytes would block everything else. */
const MAX_TEXT_UNITS = 65_536;
/** Of all labels, and of all annotations: a digest has forty alerts in memory at once. */
const MAX_RECORD_UNITS = 4 * MAX_TEXT_UNITS;
/** What identifies and describes an alert; these count first. */
const READ_FIRST = [
  ...["alertname", "rulename", "severity", "ruleGroup", "instance"],
  ...["summary", "description", "Error", "grafana_state_reason", "unit"],
];

/**
 * Reads one alert of a sender.
 *
 * Behaviour: labels or annotations that are no object count as absent. A number or a boolean in them becomes text;
 *            null, lists and objects are left out. Blank texts count as absent. Long texts are cut, and labels beyond
 *            some 260,000 units are left out. An alert about the measuring itself has the platform's error as its
 *            description, and no summary.
 * Source:    alert webhook contract, Rules for our parser.
 */
export function readAlert(raw: JsonObject, truncatedAlerts: number): Alert {
  const labels = textRecord(raw.labels);
  const annotations = textRecord(raw.annotations);
  const status = typeof raw.status === "string" ? cut(raw.status) : null;
  const trouble = datasourceTrouble(labels);
  const reason = readStateReason(annotations.grafana_state_reason);
  // Else the steps have no values, and -1 in the place of each (grafana/grafana, state.go, SetNextValues).
  const isMeasured = trouble === null && reason !== "NoData" && reason !== "Error";
  return {
    name: alertName(labels),
    status,
    firing: status === "firing",
    squad: squadOf(labels.ruleGroup),
    severity: presentText(labels.severity),
    fingerprint: fingerprintOf({ fingerprint: raw.fingerprint, labels }),
    // Both speak as if what the rule looks for were true, which is not known when it could not be evaluated.
    summary: trouble === null ? presentText(annotations.summary) : null,
    description: presentText(trouble === null ? annotations.description : annotations.Error),
    startsAt: isOnlyItsEnd(raw) ? null : readAlertTime(raw.startsAt),
    endsAt: readAlertTime(raw.endsAt),
    value: isMeasured ? presentText(readValue(raw)) : null,
    unit: unitOf(annotations.unit ?? labels.unit),
    reason,
    labels,
    ruleUrl: presentText(raw.generatorURL),
    silenceUrl: presentText(raw.silenceURL),
    dashboardUrl: presentText(raw.dashboardURL),
    truncatedAlerts,
  };
}

/**
 * Whether a resolved alert has its end in the place of its start, which the platform has forgotten over a restart.
 *
 * Source: grafana/grafana pkg/services/ngalert/state/state.go, resultNormal, read 2026-11-23.
 */
function isOnlyItsEnd({ status, startsAt, endsAt }: JsonObject): boolean {
  return status === "resolved" && startsAt === endsAt;
}

/** The result has no prototype, so that a label named `__proto__` or `toString` is a label. */
function textRecord(raw: unknown): Record<string, string> {
  const texts: Record<string, string> = Object.create(null);
  if (!isJsonObject(raw)) return texts;
  let unitsLeft = MAX_RECORD_UNITS;
  const keys = Object.keys(raw);
  const isFirst = (key: string) => READ_FIRST.includes(key);
  for (const key of [...keys.filter(isFirst), ...keys.filter((key) => !isFirst(key))]) {
    const text = scalarText(raw[key]);
    if (text === null) continue;
    const name = cut(key);
    unitsLeft -= name.length + text.length;
    if (unitsLeft < 0) break;
    texts[name] = text;
  }
  return texts;
}

function scalarText(value: unknown): string | null {
  if (typeof value === "string") return cut(value);
  return typeof value === "number" || typeof value === "boolean" ? String(value) : null;
}

function presentText(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? cut(value) : null;
}

/** Exact names only; anything else, and nothing, is `geral`. */
function squadOf(ruleGroup: string | undefined): Squad {
  if (ruleGroup === "vps-infra") return "infra";
  return ruleGroup === "vps-security" ? "security" : "geral";
}

function unitOf(text: string | undefined): Unit | null {
  const unit = text?.trim().toLowerCase();
  return UNITS.find((known) => known === unit) ?? null;
}

/** Never half of a character, which not every store can keep. */
function cut(text: string): string {
  return text.length <= MAX_TEXT_UNITS ? text : text.slice(0, MAX_TEXT_UNITS).replace(/[\uD800-\uDBFF]$/, "");
}
