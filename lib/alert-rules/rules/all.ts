import { EXTRA_RULES } from "./extra.ts";
import { INFRA_RULES } from "./infra.ts";
import type { AlertRule } from "./rule.ts";
import { SECURITY_RULES } from "./security.ts";

/** The rules of the reference, and with `withExtras` those beyond it, in the order in which they are shown. */
export function alertRules({ withExtras }: { withExtras: boolean }): readonly AlertRule[] {
  return [...INFRA_RULES, ...SECURITY_RULES, ...(withExtras ? EXTRA_RULES : [])];
}
