import { normalizeEmail } from "../../text/email-address.ts";
import { maskEmail, maskPhone } from "../../text/mask.ts";
import { normalizePhone } from "../../text/phone.ts";
import { pagesOf } from "../context/scopes.ts";
import type { Store } from "../database/store.ts";

/** How many owners a run would write to, and how many of them have no usable phone or e-mail. */
export type RecipientCounts = { owners: number; withoutPhone: number; withoutEmail: number };

/** Counts the recipients by the rules of a real run; no number or address leaves this function. */
export async function countRecipients(store: Pick<Store, "listRecipients">): Promise<RecipientCounts> {
  const counts: RecipientCounts = { owners: 0, withoutPhone: 0, withoutEmail: 0 };
  for await (const owner of pagesOf((after, limit) => store.listRecipients(null, after, limit))) {
    const [number, address] = [normalizePhone(owner.phone), normalizeEmail(owner.email)];
    counts.owners += 1;
    if (!number || !maskPhone(number)) counts.withoutPhone += 1;
    if (!address || !maskEmail(address)) counts.withoutEmail += 1;
  }
  return counts;
}
