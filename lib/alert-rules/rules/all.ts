import { BASIC_RULES } from "./basic.ts";
import { EXTRA_RULES, SECURITY_LOG_RULE } from "./extra.ts";
import type { AlertRule } from "./rule.ts";
import { WEBHOOK_RULES } from "./webhook.ts";

/** The rules of the reference, and with `withExtras` those beyond it, in the order in which they are shown. */
export function alertRules({ withExtras }: { withExtras: boolean }): readonly AlertRule[] {
  return [...BASIC_RULES, ...(withExtras ? [...EXTRA_RULES, ...WEBHOOK_RULES, SECURITY_LOG_RULE] : [])];
}
