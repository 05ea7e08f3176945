import type { Delivery } from "./delivery.ts";

/** What an operator can do about a delivery in its present state, a line each; none for a sent one. */
export function nextSteps(delivery: Delivery): string[] {
  const { state, code, retryableUntil, leaseExpiresAt } = delivery;
  switch (state) {
    case "sent":
      return code === "timeline_entry_failed"
        ? ["The message is sent; only its entry in the timeline is missing. Nothing has to be sent again."]
        : [];
    case "failed":
      return retryableUntil === null
        ? ["Nothing was sent. The week is closed: this delivery is not tried again."]
        : [
            `Nothing was sent. Correct what ${code} names and run opsctl weekly again before ${retryableUntil}.`,
          ];
    case "pending":
    case "running":
      return leaseExpiresAt === null
        ? ["A run has made this row and not begun to send."]
        : [`A run holds this delivery until ${leaseExpiresAt}; the next run after that decides about it.`];
    case "unknown":
      return [
        "The provider may have accepted this message, so opsctl never sends it again by itself.",
        ...lookUp(delivery),
        `Found: opsctl deliveries reconcile ${delivery.id} --to sent --provider-message-id <id> --reason <text>`,
        `Proved not sent: opsctl deliveries reconcile ${delivery.id} --to failed --reason <text>`,
      ];
  }
}

function lookUp({ id, channel, dispatchedAt, senderTenantId }: Delivery): string[] {
  if (channel === "email")
    return [
      `Look for the message that carries the tag delivery_id=${id}, dispatched at ${dispatchedAt}:`,
      "in the provider's list of e-mails (GET /emails, then each candidate by its id, which shows the tags),",
      `or in its log of calls (GET /logs), where the header Idempotency-Key is weekly-performance-email/${id}.`,
      "A logged answer with an id is proof that it was sent; a logged refusal is proof that it was not.",
    ];
  return [
    `Ask the gateway of the sender tenant ${senderTenantId} for messages sent at about ${dispatchedAt}:`,
    "POST /chat/findMessages/{instance} with the recipient's remoteJid, fromMe true, and messageTimestamp with",
    "both gte and lte (with one bound alone the filter is ignored). A message with this text is proof that it was",
    "sent; its key.id is the provider message id.",
    "Not finding it proves nothing: the gateway may not have stored what it sent. Look at the sending phone, or",
    "ask the recipient, before you call it failed.",
  ];
}
