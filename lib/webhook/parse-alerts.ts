import type { Alert } from "./alert.ts";
import { isJsonObject, type JsonObject, readAlert } from "./read-alert.ts";

/** An entry of a group that is no alert, and why; without anything of its content. */
export type RejectedAlert = { index: number; problems: string[] };

/** A part of a body that makes all of it unusable: `$.alerts[2].labels`. */
export type InvalidPart = { path: string; problem: string };

/** What a body holds. */
export type ParsedAlerts = { alerts: Alert[]; rejected: RejectedAlert[] } | { invalid: InvalidPart[] };

/** The parts of an alert that must be of one kind when they are there. */
const OBJECT_PARTS = ["labels", "annotations"] as const;

const EXPECTED_OBJECT = "expected an object";

/**
 * The alerts of a parsed body: a group's, as Grafana and Alertmanager send it, or the one of the simple shape.
 *
 * Shape:  the key `alerts` alone decides which of the two it is. A bad entry costs itself only; a group of nothing but
 *         bad ones is invalid, an empty one is not. Nothing is looked at deeper than it is needed.
 * Errors: what is neither shape is `invalid`, with the path of each problem and no value.
 * Source: monitoring document, Alert input shapes; alert webhook contract, Rules for our parser.
 */
export function parseAlerts(body: unknown): ParsedAlerts {
  if (!isJsonObject(body)) return { invalid: [{ path: "$", problem: EXPECTED_OBJECT }] };
  return Object.hasOwn(body, "alerts") ? parseGroup(body) : parseSimple(body);
}

function parseGroup({ alerts: entries, truncatedAlerts }: JsonObject): ParsedAlerts {
  if (!Array.isArray(entries))
    return { invalid: [{ path: "$.alerts", problem: "expected a list of alerts" }] };
  const truncated = countOf(truncatedAlerts);
  const alerts: Alert[] = [];
  const bad: { index: number; parts: string[] }[] = [];
  for (const [index, entry] of entries.entries()) {
    const parts = badParts(entry);
    if (parts.length === 0) alerts.push(readAlert(entry, truncated));
    else bad.push({ index, parts });
  }
  if (alerts.length === 0 && bad.length > 0)
    return {
      invalid: bad.flatMap(({ index, parts }) =>
        parts.map((part) => invalidPart(`$.alerts[${index}]`, part)),
      ),
    };
  return { alerts, rejected: bad.map(({ index, parts }) => ({ index, problems: parts.map(problemOf) })) };
}

function parseSimple(body: JsonObject): ParsedAlerts {
  if (!Object.hasOwn(body, "status") && !Object.hasOwn(body, "labels"))
    return { invalid: [{ path: "$", problem: "expected alerts, or an alert's status or labels" }] };
  const parts = badParts(body);
  if (parts.length > 0) return { invalid: parts.map((part) => invalidPart("$", part)) };
  return { alerts: [readAlert(body, 0)], rejected: [] };
}

/** The names of what is of the wrong kind in an alert; the empty name is the alert itself. */
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
