import { RECEIVER_FIELD, ruleFields } from "./normalise.ts";

/** One part of a rule that differs; null on the side where it is absent. */
export type FieldChange = { path: string; from: unknown; to: unknown };

/**
 * The differences between `present` and `wanted`, by path; empty when both behave alike.
 *
 * Behaviour: where `wanted` names no receiver, a person decides who receives the rule, and it is not compared.
 */
export function fieldChanges(present: unknown, wanted: unknown): FieldChange[] {
  const before = new Map(ruleFields(present));
  const after = ruleFields(wanted);
  if (!after.has(RECEIVER_FIELD)) before.delete(RECEIVER_FIELD);
  const paths = [...new Set([...after.keys(), ...before.keys()])];
  return paths
    .map((path) => ({ path, from: before.get(path) ?? null, to: after.get(path) ?? null }))
    .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to));
}
