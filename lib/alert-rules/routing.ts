import type { ListedRule } from "../providers/grafana/client.ts";
import type { ContactPoint, Policy, PolicyMatcher } from "../providers/grafana/notifications.ts";

/**
 * Who receives a rule's alerts.
 *
 * Shape: `reached` has the names of contact points that have an integration; `default_email`: only Grafana's sample
 *        address; `no_one`: no contact point with an integration; `unknown`: a policy cannot be evaluated here.
 */
export type RuleReach =
  | { status: "reached"; receivers: string[] }
  | { status: "default_email" | "no_one" | "unknown" };

/** The contact points and policies that decide who receives a rule. */
export type Routing = { points: readonly ContactPoint[]; policies: Policy; folderPath: string };

type Labels = Readonly<Record<string, string>>;

/** The contact point that every Grafana has from the start, and the address in it until a person changes it. */
const DEFAULT_POINT = "grafana-default-email";
const DEFAULT_ADDRESS = /<?example@email\.com>?/i;

/**
 * Who receives a rule: its own receiver, else those of the notification policies.
 *
 * Behaviour: the default contact point counts when a rule names it itself and its address was changed; reached by
 *            the policies alone it was never chosen.
 * Source:    grafana/grafana pkg/services/ngalert/models/notifications.go, conf/defaults.ini, read 2026-11-22.
 */
export function ruleReach(rule: ListedRule, { points, policies, folderPath }: Routing): RuleReach {
  const labels = { ...rule.labels, alertname: rule.title, grafana_folder: folderPath };
  const names = rule.receiver === null ? policyReceivers(policies, labels) : [rule.receiver];
  if (names === null) return { status: "unknown" };
  const isChosen = rule.receiver !== null;
  const integrationsOf = (name: string) => points.filter((point) => point.name === name && point.type !== "");
  const filled = names.filter((name) => integrationsOf(name).length > 0);
  const receivers = filled.filter(
    (name) =>
      (name !== DEFAULT_POINT || isChosen) &&
      !integrationsOf(name).every(({ settings }) => DEFAULT_ADDRESS.test(String(settings.addresses))),
  );
  if (receivers.length > 0) return { status: "reached", receivers };
  return { status: filled.length > 0 ? "default_email" : "no_one" };
}

/**
 * The names of the contact points to which the notification policies send an alert with these labels; null when a
 * policy cannot be evaluated here.
 *
 * Behaviour: like Alertmanager: the deepest matching policy wins, its siblings follow only when it continues, and a
 *            policy without a receiver inherits its parent's. A missing label counts as empty, and a regular expression
 *            has to match the whole value.
 * Source:    prometheus/alertmanager dispatch/route.go (`Match`), pkg/labels/matcher.go, read 2026-11-22.
 */
function policyReceivers(policy: Policy, labels: Labels, inherited: string[] = []): string[] | null {
  const own = policy.receiver === null ? inherited : [policy.receiver];
  const found: string[][] = [];
  for (const below of policy.policies) {
    const verdicts = below.matchers.map((matcher) => matches(matcher, labels));
    if (verdicts.includes(null)) return null;
    if (verdicts.includes(false)) continue;
    const deeper = policyReceivers(below, labels, own);
    if (deeper === null) return null;
    found.push(deeper);
    if (!below.goesOn) break;
  }
  return found.length === 0 ? own : [...new Set(found.flat())];
}

/** Whether a matcher holds; null for a regular expression of another dialect or an unknown operator. */
function matches({ label, operator, value }: PolicyMatcher, labels: Labels): boolean | null {
  const present = Object.hasOwn(labels, label) ? (labels[label] as string) : "";
  if (operator === "=" || operator === "!=") return (present === value) === (operator === "=");
  if (operator !== "=~" && operator !== "!~") return null;
  try {
    return new RegExp(`^(?:${value})$`, "s").test(present) === (operator === "=~");
  } catch {
    return null;
  }
}
