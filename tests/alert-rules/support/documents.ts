/** The rules as documents, with uids that the tests use. */
import { type GrafanaUids, ruleDocument } from "../../../lib/alert-rules/rule-document.ts";
import { alertRules } from "../../../lib/alert-rules/rules/all.ts";
import type { RuleDocument } from "../../../lib/providers/grafana/document.ts";

/** The uids of the tests' platform. */
export const UIDS: GrafanaUids = { folder: "vps", metrics: "prom-1", logs: "loki-1" };

/** The rules as Grafana takes them. */
export function documents(withExtras = false): RuleDocument[] {
  return alertRules({ withExtras }).map((rule) => ruleDocument(rule, UIDS));
}

/** A rule as JSON: anything may be at any depth. */
// biome-ignore lint/suspicious/noExplicitAny: tests put wrong values into places that the types forbid
export type LooseRule = Record<string, any>;

/** A copy to change at will. */
export function loose(document: RuleDocument | undefined): LooseRule {
  return structuredClone(document) as LooseRule;
}
