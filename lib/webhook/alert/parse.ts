import type { Alert } from "./alert.ts";
import { isJsonObject, type JsonObject } from "./json-object.ts";
import { readAlert } from "./read-alert.ts";

/** An entry of a group that is no alert, and why; without its content. */
export type RejectedAlert = { index: number; problems: string[] };

/** A part that makes the whole body unusable, by its path: `$.alerts[2]`. */
export type InvalidPart = { path: string; problem: string };

/** What was read of a body; a list of what is wrong has the first hundred, its total counts all. */
export type ParsedAlerts =
  | { alerts: Alert[]; rejected: RejectedAlert[]; rejectedTotal: number }
  | { invalid: InvalidPart[]; invalidTotal: number };

/** The most alerts of one body: each takes memory beside its text, and all of them are kept in one commit. */
const MOST_ALERTS = 20_000;
/** A body may have millions of entries that are no alerts. */
const MOST_LISTED = 100;

const EXPECTED_OBJECT = "expected an object";

/**
 * The alerts of a parsed body: a group's, as Grafana and Alertmanager send it, or the one of the simple shape.
 *
 * Behaviour: the key `alerts` alone decides which of the two shapes it is. An entry that is no object is rejected
 *            alone; one whose labels or annotations are something else than objects is an alert without them, because
 *            one that says little is better than none. A group with nothing but rejected entries is invalid, and so is
 *            one with more than 20,000 alerts; an empty group is not. No part is read deeper than needed.
 * Errors:    a body of neither shape is `invalid`, with the path of each problem and nothing that the sender wrote.
 * Source:    monitoring document, Alert input shapes; alert webhook contract, Rules for our parser.
 */
export function parseAlerts(body: unknown): ParsedAlerts {
  if (!isJsonObject(body)) return invalid("$", EXPECTED_OBJECT);
  return Object.hasOwn(body, "alerts") ? parseGroup(body) : parseSimple(body);
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
  return {
    alerts: objects.map((object) => readAlert(object, countOf(truncatedAlerts))),
    rejected: listed.map((index) => ({ index, problems: [EXPECTED_OBJECT] })),
    rejectedTotal: bad.length,
  };
}

function parseSimple(body: JsonObject): ParsedAlerts {
  if (!Object.hasOwn(body, "status") && !Object.hasOwn(body, "labels"))
    return invalid("$", "expected alerts, or an alert's status or labels");
  return { alerts: [readAlert(body, 0)], rejected: [], rejectedTotal: 0 };
}

function invalid(path: string, problem: string): ParsedAlerts {
  return { invalid: [{ path, problem }], invalidTotal: 1 };
}

function countOf(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;
}
