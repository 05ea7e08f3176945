import { EXTRA_RULES } from "./extra.ts";
import { INFRA_RULES } from "./infra.ts";
import type { AlertRule } from "./rule.ts";
import { EXTRA_SECURITY_RULES, SECURITY_RULES } from "./security.ts";
import { WEBHOOK_RULES } from "./webhook.ts";

/** The rules of the reference, and with `withExtras` those beyond it, in the order in which they are shown. */
export function alertRules({ withExtras }: { withExtras: boolean }): readonly AlertRule[] {
  const extras = [...EXTRA_RULES, ...WEBHOOK_RULES, ...EXTRA_SECURITY_RULES];
  return [...INFRA_RULES, ...SECURITY_RULES, ...(withExtras ? extras : [])];
}
