import type { Alert } from "./alert.ts";
import { isJsonObject, type JsonObject } from "./json-object.ts";
import { readAlert } from "./read-alert.ts";

/** An entry of a group that is no alert, and why; without its content. */
export type RejectedAlert = { index: number; problems: string[] };

/** A part that makes the whole body unusable, by its path: `$.alerts[2].labels`. */
export type InvalidPart = { path: string; problem: string };

/** What was read of a body; a list of what is wrong has the first hundred, its total counts all. */
export type ParsedAlerts =
  | { alerts: Alert[]; rejected: RejectedAlert[]; rejectedTotal: number }
  | { invalid: InvalidPart[]; invalidTotal: number };

/** The most alerts of one body: each takes memory beside its text, and all of them are kept in one commit. */
const MOST_ALERTS = 20_000;
/** A body may have millions of entries that are no alerts. */
const MOST_LISTED = 100;

/** The parts of an alert that must be objects when they are there. */
const OBJECT_PARTS = ["labels", "annotations"] as const;

const TOO_MANY = "expected at most 20,000 alerts";
const EXPECTED_OBJECT = "expected an object";

/**
 * The alerts of a parsed body: a group's, as Grafana and Alertmanager send it, or the one of the simple shape.
 *
 * Behaviour: the key `alerts` alone decides which of the two shapes it is. Only bad entries are rejected; a group with
 *            nothing but bad entries is invalid, and so is one with more than 20,000 alerts; an empty group is not. No
 *            part is read deeper than needed.
 * Errors:    a body of neither shape is `invalid`, with the path of each problem and nothing that the sender wrote.
 * Source:    monitoring document, Alert input shapes; alert webhook contract, Rules for our parser.
 */
export function parseAlerts(body: unknown): ParsedAlerts {
  if (!isJsonObject(body)) return invalid("$", EXPECTED_OBJECT);
  return Object.hasOwn(body, "alerts") ? parseGroup(body) : parseSimple(body);
}

function parseGroup({ alerts: entries, truncatedAlerts }: JsonObject): ParsedAlerts {
  if (!Array.isArray(entries)) return invalid("$.alerts", "expected a list of alerts");
  const truncated = countOf(truncatedAlerts);
  const alerts: Alert[] = [];
  const bad: BadEntries = { first: [], entries: 0, problems: 0 };
  for (const [index, entry] of entries.entries()) {
    const parts = badParts(entry);
    if (alerts.length === MOST_ALERTS && parts.length === 0) return invalid("$.alerts", TOO_MANY);
    if (parts.length === 0) alerts.push(readAlert(entry, truncated));
    else addBad(bad, { index, parts });
  }
  return alerts.length === 0 && bad.entries > 0 ? allBad(bad) : { alerts, ...someBad(bad) };
}

function parseSimple(body: JsonObject): ParsedAlerts {
  if (!Object.hasOwn(body, "status") && !Object.hasOwn(body, "labels"))
    return invalid("$", "expected alerts, or an alert's status or labels");
  const parts = badParts(body);
  if (parts.length > 0)
    return { invalid: parts.map((part) => invalidPart("$", part)), invalidTotal: parts.length };
  return { alerts: [readAlert(body, 0)], rejected: [], rejectedTotal: 0 };
}

/** The entries of a group that are no alerts: the first ones, and how many entries and problems there are. */
type BadEntries = { first: { index: number; parts: string[] }[]; entries: number; problems: number };

function addBad(bad: BadEntries, entry: BadEntries["first"][number]): void {
  bad.entries += 1;
  bad.problems += entry.parts.length;
  if (bad.first.length < MOST_LISTED) bad.first.push(entry);
}

function someBad({ first, entries }: BadEntries): { rejected: RejectedAlert[]; rejectedTotal: number } {
  return {
    rejected: first.map(({ index, parts }) => ({ index, problems: parts.map(problemOf) })),
    rejectedTotal: entries,
  };
}

function allBad({ first, problems }: BadEntries): ParsedAlerts {
  const parts = first.flatMap(({ index, parts }) =>
    parts.map((part) => invalidPart(`$.alerts[${index}]`, part)),
  );
  return { invalid: parts.slice(0, MOST_LISTED), invalidTotal: problems };
}

function invalid(path: string, problem: string): ParsedAlerts {
  return { invalid: [{ path, problem }], invalidTotal: 1 };
}

/** The names of the parts that are no objects; the empty name is the alert itself. */
function badParts(entry: unknown): string[] {
  if (!isJsonObject(entry)) return [""];
  return OBJECT_PARTS.filter((part) => (entry[part] ?? null) !== null && !isJsonObject(entry[part]));
}

function problemOf(part: string): string {
  return part === "" ? EXPECTED_OBJECT : `${part}: ${EXPECTED_OBJECT}`;
}

function invalidPart(path: string, part: string): InvalidPart {
  return { path: part === "" ? path : `${path}.${part}`, problem: EXPECTED_OBJECT };
}

function countOf(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;
}
