import { ruleFields } from "./normalise.ts";

/** One part of a rule that differs; null on the side where it is absent. */
export type FieldChange = { path: string; from: unknown; to: unknown };

/** The differences between `present` and `wanted`, by path; empty when both behave alike. */
export function fieldChanges(present: unknown, wanted: unknown): FieldChange[] {
  const before = ruleFields(present);
  const after = ruleFields(wanted);
  const paths = [...new Set([...after.keys(), ...before.keys()])];
  return paths
    .map((path) => ({ path, from: before.get(path) ?? null, to: after.get(path) ?? null }))
    .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to));
}
