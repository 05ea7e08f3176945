import { member } from "../../platform/http/answer.ts";

/** One condition of a notification policy: a label, `=`, `!=`, `=~` or `!~`, and a value. */
export type PolicyMatcher = { label: string; operator: string; value: string };

/**
 * A notification policy with its children; `receiver` is null where it inherits its parent's.
 *
 * Shape: `matchers` all have to hold; `goesOn`: the policies after this one are evaluated even when it matches.
 */
export type Policy = {
  receiver: string | null;
  matchers: readonly PolicyMatcher[];
  goesOn: boolean;
  policies: readonly Policy[];
};

/** A matcher in one text: `severity="critical"`. */
const WRITTEN_MATCHER = /^\s*"?([^"=!~]+?)"?\s*(=~|!~|!=|=)\s*"?([\s\S]*?)"?\s*$/;

/**
 * The tree of notification policies; undefined for any other JSON.
 *
 * Source: grafana/grafana pkg/services/ngalert/api/tooling/definitions/alertmanager.go, Route, read 2026-11-22.
 */
export function parsePolicies(json: unknown): Policy | undefined {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return undefined;
  const receiver = member(json, "receiver");
  const below = member(json, "routes");
  const policies = (Array.isArray(below) ? below : []).map(parsePolicies);
  if (policies.includes(undefined)) return undefined;
  return {
    receiver: typeof receiver === "string" && receiver !== "" ? receiver : null,
    matchers: matchersOf(json),
    goesOn: member(json, "continue") === true,
    policies: policies as Policy[],
  };
}

/** All matchers, in each of the forms that Grafana has had. */
function matchersOf(route: object): PolicyMatcher[] {
  const triples = listOf(member(route, "object_matchers")).map((triple) => listOf(triple).map(String));
  const written = listOf(member(route, "matchers")).map(
    (text) => WRITTEN_MATCHER.exec(String(text))?.slice(1) ?? [],
  );
  const equal = entriesOf(member(route, "match")).map(([label, value]) => [label, "=", value]);
  const alike = entriesOf(member(route, "match_re")).map(([label, value]) => [label, "=~", value]);
  return [...triples, ...written, ...equal, ...alike].map(([label = "", operator = "", value = ""]) => ({
    label,
    operator,
    value,
  }));
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function entriesOf(value: unknown): [string, string][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).map(([key, text]) => [key, String(text)]);
}
