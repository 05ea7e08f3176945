import { normalizeEmail } from "../../text/email-address.ts";
import { maskEmail, maskPhone } from "../../text/mask.ts";
import { normalizePhone } from "../../text/phone.ts";
import { pagesOf } from "../context/scopes.ts";
import type { DeliveryChannelName } from "../database/deliveries.ts";
import type { Recipient } from "../database/recipients.ts";
import type { Store } from "../database/store.ts";

/** How many owners a run would write to, and how many of them have no usable phone or e-mail. */
export type RecipientCounts = { owners: number; withoutPhone: number; withoutEmail: number };

/** The code of what an owner lacks, by channel, by the rules of a real run; null where nothing is missing. */
export function recipientCodes({ phone, email }: Recipient): Record<DeliveryChannelName, string | null> {
  const number = normalizePhone(phone);
  const address = normalizeEmail(email);
  return {
    whatsapp: number && maskPhone(number) ? null : "recipient_phone_missing",
    email: address && maskEmail(address) ? null : "recipient_email_missing",
  };
}

/** Counts the recipients; no number or address leaves this function. */
export async function countRecipients(store: Pick<Store, "listRecipients">): Promise<RecipientCounts> {
  const counts: RecipientCounts = { owners: 0, withoutPhone: 0, withoutEmail: 0 };
  for await (const owner of pagesOf((after, limit) => store.listRecipients(null, after, limit))) {
    const codes = recipientCodes(owner);
    counts.owners += 1;
    if (codes.whatsapp !== null) counts.withoutPhone += 1;
    if (codes.email !== null) counts.withoutEmail += 1;
  }
  return counts;
}
