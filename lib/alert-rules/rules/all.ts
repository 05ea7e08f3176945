import { BASIC_RULES } from "./basic.ts";
import { EXTRA_RULES } from "./extra.ts";
import { type AlertRule, RULE_DEFAULTS } from "./rule.ts";

/** The rules of the reference, and with `withExtras` those beyond it, in the order in which they are shown. */
export function alertRules({ withExtras }: { withExtras: boolean }): readonly AlertRule[] {
  const rows = [...BASIC_RULES, ...(withExtras ? EXTRA_RULES : [])];
  return rows.map((row) => ({ ...RULE_DEFAULTS, ...row }));
}
