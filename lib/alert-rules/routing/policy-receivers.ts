import type { Policy, PolicyMatcher } from "../../providers/grafana/policy.ts";

/**
 * The names of the contact points to which the notification policies send an alert with these labels; null when a
 * policy asks for something that cannot be judged here.
 *
 * Behaviour: as Alertmanager does it: the deepest matching policy wins, its siblings are asked only when it goes on,
 *            and a policy without a receiver takes its parent's. A label that is missing counts as empty, and a regular
 *            expression has to match the whole value.
 * Source:    prometheus/alertmanager dispatch/route.go (`Match`), pkg/labels/matcher.go, read 2026-11-22.
 */
export function policyReceivers(root: Policy, labels: Readonly<Record<string, string>>): string[] | null {
  const judged = receiversBelow(root, null, labels);
  return judged === null ? null : [...new Set(judged)];
}

function receiversBelow(
  policy: Policy,
  inherited: string | null,
  labels: Readonly<Record<string, string>>,
): string[] | null {
  const receiver = policy.receiver ?? inherited;
  const found: string[] = [];
  let isMatched = false;
  for (const below of policy.policies) {
    const verdict = allMatch(below.matchers, labels);
    if (verdict === null) return null;
    if (!verdict) continue;
    const deeper = receiversBelow(below, receiver, labels);
    if (deeper === null) return null;
    found.push(...deeper);
    isMatched = true;
    if (!below.goesOn) break;
  }
  if (isMatched) return found;
  return receiver === null ? [] : [receiver];
}

/** Whether all matchers hold; null when one cannot be judged. */
function allMatch(
  matchers: readonly PolicyMatcher[],
  labels: Readonly<Record<string, string>>,
): boolean | null {
  const verdicts = matchers.map((matcher) => matches(matcher, labels));
  return verdicts.includes(null) ? null : verdicts.every((verdict) => verdict === true);
}

function matches(
  { label, operator, value }: PolicyMatcher,
  labels: Readonly<Record<string, string>>,
): boolean | null {
  const present = Object.hasOwn(labels, label) ? (labels[label] as string) : "";
  if (operator === "=") return present === value;
  if (operator === "!=") return present !== value;
  const isAlike = wholeMatch(value, present);
  if (isAlike === null || (operator !== "=~" && operator !== "!~")) return null;
  return operator === "=~" ? isAlike : !isAlike;
}

/** Whether a regular expression matches a whole text; null for one that this runtime does not know. */
function wholeMatch(pattern: string, text: string): boolean | null {
  try {
    return new RegExp(`^(?:${pattern})$`, "s").test(text);
  } catch {
    return null;
  }
}
