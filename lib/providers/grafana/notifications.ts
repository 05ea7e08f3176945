import { member } from "../../platform/http/answer.ts";
import type { Secret } from "../../platform/secrets/secret.ts";

/** One integration of a contact point, as Grafana shows it; several may have one `name`. Secrets are `[REDACTED]`. */
export type ContactPoint = {
  uid: string;
  name: string;
  type: string;
  resolvedOff: boolean;
  settings: Readonly<Record<string, unknown>>;
};

/** A webhook integration to write; it authenticates with `bearer`. */
export type WebhookContactPoint = Pick<ContactPoint, "uid" | "name" | "settings"> & { bearer: Secret };

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

/** The list of contact points; undefined for any other JSON. */
export function parseContactPoints(json: unknown): ContactPoint[] | undefined {
  if (!Array.isArray(json)) return undefined;
  return json.map((point) => ({
    uid: textOf(point, "uid"),
    name: textOf(point, "name"),
    type: textOf(point, "type"),
    resolvedOff: member(point, "disableResolveMessage") === true,
    settings: { ...Object(member(point, "settings")) },
  }));
}

/**
 * The body that creates or replaces a webhook integration; it holds the opened secret.
 *
 * Behaviour: a hidden secret in `settings` keeps the stored one.
 * Source:    grafana/alerting receivers/webhook/config.go, read 2026-11-22: the credentials are a secure setting, which
 *            Grafana never shows again, while `headers` are stored in the clear.
 */
export function contactPointBody({ uid, name, settings, bearer }: WebhookContactPoint): object {
  return {
    uid,
    name,
    type: "webhook",
    disableResolveMessage: false,
    settings: { ...settings, authorization_credentials: bearer.open() },
  };
}

/**
 * The tree of notification policies; undefined for any other JSON.
 *
 * Source: grafana/grafana pkg/services/ngalert/api/tooling/definitions/alertmanager.go, Route, read 2026-11-22.
 */
export function parsePolicies(json: unknown): Policy | undefined {
  if (!isObject(json)) return undefined;
  const policies = listOf(member(json, "routes")).map(parsePolicies);
  if (policies.includes(undefined)) return undefined;
  return {
    receiver: textOf(json, "receiver") || null,
    matchers: matchersOf(json),
    goesOn: member(json, "continue") === true,
    policies: policies as Policy[],
  };
}

/** All matchers; one in a form that cannot be read has no operator. */
function matchersOf(route: object): PolicyMatcher[] {
  const triples = listOf(member(route, "object_matchers")).map((triple) => listOf(triple).map(String));
  const written = listOf(member(route, "matchers")).map(
    (text) => WRITTEN_MATCHER.exec(String(text))?.slice(1) ?? [],
  );
  // Alertmanager's forms before 2020, which Grafana's pages do not write.
  const deprecated = ["match", "match_re"].filter((key) => member(route, key)).map(() => []);
  return [...triples, ...written, ...deprecated].map(([label = "", operator = "", value = ""]) => ({
    label,
    operator,
    value,
  }));
}

/** A text of Grafana's JSON; empty for anything else. */
export function textOf(json: unknown, key: string): string {
  const text = member(json, key);
  return typeof text === "string" ? text : "";
}

/** Whether a JSON value is an object, and no list. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
