import { LOOK_UP_LIMIT_MS } from "../../lib/platform/account/service-account.ts";

/** How often setpriv may ask a directory service: for user and group by name, the account by number, and its groups. */
const LOOK_UPS = 6;

/**
 * How long becoming an account may take whose look-up took `lookUpMs`.
 *
 * Behaviour: `limitMs` where the account was found at once; longer after a look-up that was slow and succeeded: such a
 *            service answers the others, too.
 * Units:     milliseconds; at most LOOK_UP_LIMIT_MS.
 */
export function trialLimitMs(lookUpMs: number, limitMs: number = LOOK_UP_LIMIT_MS): number {
  return Math.min(LOOK_UP_LIMIT_MS, Math.max(limitMs, LOOK_UPS * lookUpMs));
}
