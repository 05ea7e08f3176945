import { EXTRA_RULES } from "./extra-rules.ts";
import { INFRA_RULES } from "./infra-rules.ts";
import type { AlertRule } from "./rule.ts";
import { SECURITY_RULES } from "./security-rules.ts";

/** The rules of the reference, and with `withExtras` those beyond it, in the order in which they are shown. */
export function alertRules({ withExtras }: { withExtras: boolean }): readonly AlertRule[] {
  return [...INFRA_RULES, ...SECURITY_RULES, ...(withExtras ? EXTRA_RULES : [])];
}
