import type { Alert, Squad, Unit } from "./alert.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { alertName, datasourceTrouble } from "./name.ts";
import { readStateReason } from "./state-reason.ts";
import { readAlertTime } from "./time.ts";
import { readValue } from "./value.ts";

/** An entry of a group that is no alert, and why; without its content. */
export type RejectedAlert = { index: number; problems: string[] };

/** A part that makes the whole body unusable, by its path: `$.alerts[2]`. */
export type InvalidPart = { path: string; problem: string };

/** What was read of a body; a list of what is wrong has the first hundred, its total counts all. */
export type ParsedAlerts =
  | { alerts: Alert[]; rejected: RejectedAlert[]; rejectedTotal: number }
  | { invalid: InvalidPart[]; invalidTotal: number };

/** An object from the sender, not checked yet. */
type JsonObject = Readonly<Record<string, unknown>>;

/** The most alerts of one body: each takes memory beside its text, and all of them are kept in one commit. */
const MOST_ALERTS = 20_000;
/** A body may have millions of entries that are no alerts. */
const MOST_LISTED = 100;
/** No text that is made of an alert shows more; looking through megabytes would block everything else. */
const MAX_TEXT_UNITS = 65_536;

const EXPECTED_OBJECT = "expected an object";

/**
 * The alerts of a parsed body: a group's, as Grafana and Alertmanager send it, or the one of the simple shape.
 *
 * Behaviour: the key `alerts` alone decides which of the two shapes it is. An entry that is no object is rejected
 *            alone; labels or annotations that are no object count as absent, because an alert that says little is
 *            better than none. In them, a number or a boolean becomes text; null, lists and objects are left out. Blank
 *            texts count as absent, long ones are cut. A group with nothing but rejected entries is invalid, and so is
 *            one with more than 20,000 alerts; an empty group is not.
 * Errors:    a body of neither shape is `invalid`, with the path of each problem and nothing that the sender wrote.
 * Source:    monitoring document, Alert input shapes; alert webhook contract, Rules for our parser.
 */
export function parseAlerts(body: unknown): ParsedAlerts {
  if (!isJsonObject(body)) return invalid("$", EXPECTED_OBJECT);
  if (Object.hasOwn(body, "alerts")) return parseGroup(body);
  if (!Object.hasOwn(body, "status") && !Object.hasOwn(body, "labels"))
    return invalid("$", "expected alerts, or an alert's status or labels");
  return { alerts: [readAlert(body, 0)], rejected: [], rejectedTotal: 0 };
}

function parseGroup({ alerts: entries, truncatedAlerts }: JsonObject): ParsedAlerts {
  if (!Array.isArray(entries)) return invalid("$.alerts", "expected a list of alerts");
  const objects = entries.filter(isJsonObject);
  if (objects.length > MOST_ALERTS) return invalid("$.alerts", "expected at most 20,000 alerts");
  const bad = entries.flatMap((entry, index) => (isJsonObject(entry) ? [] : [index]));
  const listed = bad.slice(0, MOST_LISTED);
  if (objects.length === 0 && bad.length > 0) {
    const parts = listed.map((index) => ({ path: `$.alerts[${index}]`, problem: EXPECTED_OBJECT }));
    return { invalid: parts, invalidTotal: bad.length };
  }
  const leftOut = Number.isSafeInteger(truncatedAlerts) ? Math.max(0, truncatedAlerts as number) : 0;
  return {
    alerts: objects.map((object) => readAlert(object, leftOut)),
    rejected: listed.map((index) => ({ index, problems: [EXPECTED_OBJECT] })),
    rejectedTotal: bad.length,
  };
}

function invalid(path: string, problem: string): ParsedAlerts {
  return { invalid: [{ path, problem }], invalidTotal: 1 };
}

function readAlert(raw: JsonObject, truncatedAlerts: number): Alert {
  const labels = textRecord(raw.labels);
  const annotations = textRecord(raw.annotations);
  const trouble = datasourceTrouble(labels);
  const reason = readStateReason(annotations.grafana_state_reason);
  // Else the steps have no values, and -1 in the place of each (grafana/grafana, state.go, SetNextValues).
  const isMeasured = trouble === null && reason !== "NoData" && reason !== "Error";
  // Over a restart the platform forgets the start, and writes the end in its place (state.go, resultNormal).
  const isStartLost = raw.status === "resolved" && raw.startsAt === raw.endsAt;
  return {
    name: alertName(labels),
    status: typeof raw.status === "string" ? cut(raw.status) : null,
    firing: raw.status === "firing",
    squad: squadOf(labels.ruleGroup),
    severity: presentText(labels.severity),
    fingerprint: fingerprintOf(raw.fingerprint, labels),
    // Both speak as if what the rule looks for were true, which is not known when it could not be evaluated.
    summary: trouble === null ? presentText(annotations.summary) : null,
    description: presentText(trouble === null ? annotations.description : annotations.Error),
    startsAt: isStartLost ? null : readAlertTime(raw.startsAt),
    endsAt: readAlertTime(raw.endsAt),
    value: isMeasured ? readValue(objectOf(raw.values), presentText(raw.valueString)) : null,
    unit: unitOf(annotations.unit ?? labels.unit),
    reason,
    labels,
    ruleUrl: presentText(raw.generatorURL),
    silenceUrl: presentText(raw.silenceURL),
    dashboardUrl: presentText(raw.dashboardURL),
    truncatedAlerts,
  };
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The result has no prototype, so that a label named `__proto__` or `toString` is a label. */
function textRecord(raw: unknown): Record<string, string> {
  const texts: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(objectOf(raw)))
    if (["string", "number", "boolean"].includes(typeof value)) texts[cut(name)] = cut(String(value));
  return texts;
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
  return unit === "bytes" || unit === "percent" ? unit : null;
}

/** Never half of a character, which not every store can keep. */
function cut(text: string): string {
  return text.length <= MAX_TEXT_UNITS ? text : text.slice(0, MAX_TEXT_UNITS).replace(/[\uD800-\uDBFF]$/, "");
}
