import type { AlertRule } from "./rules/rule.ts";

/**
 * The contact points that the rules are sent to, by name; null where the platform's notification policies decide.
 *
 * Shape: `fallback` is for the rules on the webhook itself, which the webhook cannot be trusted to tell.
 */
export type Receivers = { main: string | null; fallback: string | null };

/** No receiver is named: who receives a rule is neither compared nor changed. */
export const NO_RECEIVERS: Receivers = { main: null, fallback: null };

/** The contact point that a rule is sent to. */
export function receiverOf({ watchesWebhook }: AlertRule, { main, fallback }: Receivers): string | null {
  return watchesWebhook === true ? fallback : main;
}

/** What is wrong with the receivers for these rules, a sentence each. */
export function receiverWarnings(rules: readonly AlertRule[], { main, fallback }: Receivers): string[] {
  const watching = rules.filter(({ watchesWebhook }) => watchesWebhook === true).length;
  if (watching === 0 || main === null) return [];
  if (fallback === null)
    return [
      `The ${watching} rules on the webhook itself have no receiver of their own and follow the notification policies; ` +
        "name one with --fallback-receiver",
    ];
  return fallback === main
    ? [`The ${watching} rules on the webhook itself go to ${JSON.stringify(main)}, as all others do`]
    : [];
}
