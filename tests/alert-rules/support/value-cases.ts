/** What the newest value of a rule may be when its annotations are expanded, and what people must read then. */

/** One such value: `sample` as the rule tester writes it; `shown` with and without decimals. */
export type ValueCase = { name: string; sample: string; shown: { 0: string; 2: string } };

const NO_VALUE = { 0: "(sem valor)", 2: "(sem valor)" };

/** In the case `none` there is no value at all: Grafana's map of values is empty. */
export const VALUE_CASES: readonly ValueCase[] = [
  { name: "none", sample: "1", shown: NO_VALUE },
  // Grafana makes NaN of a step that ran and yielded no number.
  { name: "nan", sample: "NaN", shown: NO_VALUE },
  { name: "usual", sample: "612368384", shown: { 0: "612368384", 2: "612368384.00" } },
  { name: "fraction", sample: "1.256", shown: { 0: "1", 2: "1.26" } },
  { name: "zero", sample: "0", shown: { 0: "0", 2: "0.00" } },
  { name: "negative", sample: "-1.75", shown: { 0: "-2", 2: "-1.75" } },
  { name: "huge", sample: "1e21", shown: { 0: "1000000000000000000000", 2: "1000000000000000000000.00" } },
  { name: "endless", sample: "Inf", shown: { 0: "+Inf", 2: "+Inf" } },
  { name: "below", sample: "-Inf", shown: { 0: "-Inf", 2: "-Inf" } },
];

const GUARD =
  /\{\{ with \$values\.B \}\}\{\{ if eq \.Value \.Value \}\}\{\{ printf "%\.([02])f" \.Value \}\}\{\{ else \}\}\(sem valor\)\{\{ end \}\}\{\{ else \}\}\(sem valor\)\{\{ end \}\}/g;

/** The text that people must read: each guarded value is replaced, anything else stays. */
export function withValue(text: string, { shown }: ValueCase): string {
  return text.replace(GUARD, (_guard, decimals: "0" | "2") => shown[decimals]);
}
