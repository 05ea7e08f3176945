import type { Squad } from "./alert.ts";

/**
 * The team that a rule group belongs to.
 *
 * Shape:  exact names only; whatever else, also nothing and what is not text, is everybody's: `geral`.
 * Source: monitoring document, Alert input shapes.
 */
export function squadOf(ruleGroup: unknown): Squad {
  if (ruleGroup === "vps-infra") return "infra";
  if (ruleGroup === "vps-security") return "security";
  return "geral";
}
