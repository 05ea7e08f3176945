import type { Scope } from "../database/recipients.ts";
import { isRowGone } from "../database/refusals.ts";
import type { Store } from "../database/store.ts";

/**
 * Whether a call failed because the application has deleted the owner meanwhile: then nothing has failed.
 *
 * Behaviour: a row that is gone although the owner is still there was lost by the database, and that is a failure.
 */
export async function isErasure(
  store: Pick<Store, "ownerExists">,
  scope: Scope,
  error: unknown,
): Promise<boolean> {
  return isRowGone(error) && (await isOwnerErased(store, scope));
}

/** Whether the application has deleted the owner; false when the database does not tell. */
export async function isOwnerErased(store: Pick<Store, "ownerExists">, scope: Scope): Promise<boolean> {
  return !(await store.ownerExists(scope).catch(() => true));
}
