import { localTime } from "../time/local-time.ts";
import type { Delivery } from "./delivery.ts";

/** What an operator can do about a delivery in its present state, a line each; none for a sent one. */
export function nextSteps(delivery: Delivery): string[] {
  const { state, code, retryableUntil, leaseExpiresAt } = delivery;
  switch (state) {
    case "sent":
      return code === "timeline_entry_failed"
        ? [
            "The message is sent; only its entry in the timeline is missing. Nothing has to be sent again.",
            "The next run writes the entry, or on any day: opsctl deliveries repair",
          ]
        : [];
    case "failed":
      if (retryableUntil !== null && code === "lease_expired_before_dispatch")
        return [
          `Nothing was sent: its run has ended. Run opsctl weekly again before ${inSaoPaulo(retryableUntil)}.`,
        ];
      return retryableUntil === null
        ? ["Nothing was sent. The week is closed: this delivery is not tried again."]
        : [
            `Nothing was sent. Correct what ${code} names and run opsctl weekly again before ${inSaoPaulo(retryableUntil)}.`,
          ];
    case "pending":
    case "running":
      return leaseExpiresAt === null
        ? ["A run has made this row and not begun to send."]
        : [
            `A run holds this delivery until ${inSaoPaulo(leaseExpiresAt)}; the next run after that decides about it.`,
          ];
    case "unknown":
      return [
        "The provider may have accepted this message, so opsctl never sends it again by itself.",
        `Ask the provider: opsctl deliveries look-up ${delivery.id}`,
        `What it finds is recorded with: opsctl deliveries look-up ${delivery.id} --settle`,
        ...byHand(delivery),
        `Found: opsctl deliveries reconcile ${delivery.id} --to sent --provider-message-id <id> --reason <text>`,
        `Proved not sent: opsctl deliveries reconcile ${delivery.id} --to failed --reason <text>`,
      ];
  }
}

/** Where a person looks when `look-up` has found nothing. */
function byHand({ id, channel, dispatchedAt, senderTenantId }: Delivery): string[] {
  const at = dispatchedAt === null ? "an unknown time" : inSaoPaulo(dispatchedAt);
  if (channel === "email")
    return [
      `When it finds nothing, look for the message that carries the tag delivery_id=${id}, dispatched at ${at}, in the` +
        ` provider's log of calls (GET /logs), where the header Idempotency-Key is weekly-performance-email/${id}.` +
        " A logged answer with an id is proof that it was sent; a logged refusal is proof that it was not.",
    ];
  return [
    `When it finds nothing, look on the sending phone of the sender tenant ${senderTenantId} for what was sent at about` +
      ` ${at}, or ask the recipient. A message with this text is proof that it was sent; its key.id, which the gateway` +
      " shows and no phone, is the provider message id. Not finding it at the gateway proves nothing: it may not have" +
      " stored what it sent.",
  ];
}

function inSaoPaulo(instant: string): string {
  return `${localTime(instant)} (São Paulo)`;
}
