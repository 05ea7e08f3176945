import type { Scope } from "../database/recipients.ts";
import type { RememberedAnswers } from "../outage/put-back.ts";
import type { ThrottledCall } from "../outage/throttle.ts";

/** One owner whose turn it is; `answers` are kept from the turn before, `throttled` is the call that ended that one. */
export type Owner = {
  scope: Scope;
  isSecondChance: boolean;
  answers: RememberedAnswers | null;
  throttled: ThrottledCall | null;
};

/** An owner whom the run takes for the first time. */
export function newOwner(scope: Scope): Owner {
  return { scope, isSecondChance: false, answers: null, throttled: null };
}

/** The key of an owner. */
export function ownerKey({ tenantId, userId }: Scope): string {
  return `${tenantId} ${userId}`;
}
