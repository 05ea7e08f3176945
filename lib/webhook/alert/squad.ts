/** The team that an alert concerns; `geral` is everybody. */
export type Squad = "infra" | "security" | "geral";

/**
 * The team that a rule group belongs to.
 *
 * Behaviour: takes exact names only; anything else, and nothing, is `geral`.
 * Source:    monitoring document, Alert input shapes.
 */
export function squadOf(ruleGroup: unknown): Squad {
  if (ruleGroup === "vps-infra") return "infra";
  if (ruleGroup === "vps-security") return "security";
  return "geral";
}
