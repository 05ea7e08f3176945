import { localTime } from "../time/local-time.ts";
import type { Delivery } from "./delivery.ts";

/** A step in words; `command` is what to type for it. */
export type Step = { text: string; command?: string };

/** A step as one line. */
export function stepText({ text, command }: Step): string {
  return command === undefined ? text : `${text}: ${command}`;
}

/** The steps that an operator can take about a delivery in its present state; none for a sent one. */
export function nextSteps(delivery: Delivery): Step[] {
  const { id } = delivery;
  const { state, code, retryableUntil, leaseExpiresAt } = delivery;
  switch (state) {
    case "sent":
      return code === "timeline_entry_failed"
        ? [
            {
              text: "The message is sent; only its entry in the timeline is missing. Nothing has to be sent again.",
            },
            { text: "The next run writes the entry, or on any day", command: "opsctl deliveries repair" },
          ]
        : [];
    case "failed":
      if (retryableUntil !== null && code === "lease_expired_before_dispatch")
        return [
          {
            text: `Nothing was sent: its run has ended. Run opsctl weekly again before ${inSaoPaulo(retryableUntil)}.`,
          },
        ];
      return retryableUntil === null
        ? [{ text: "Nothing was sent. The week is closed: this delivery is not tried again." }]
        : [
            {
              text: `Nothing was sent. Correct what ${code} names and run opsctl weekly again before ${inSaoPaulo(retryableUntil)}.`,
            },
          ];
    case "pending":
    case "running":
      return leaseExpiresAt === null
        ? [{ text: "A run has made this row and not begun to send." }]
        : [
            {
              text: `A run holds this delivery until ${inSaoPaulo(leaseExpiresAt)}; the next run after that decides about it.`,
            },
          ];
    case "unknown":
      return [
        {
          text: "The provider may have accepted this message, so opsctl never sends it again automatically.",
        },
        { text: "Ask the provider", command: `opsctl deliveries look-up ${id}` },
        { text: "What it finds is recorded with", command: `opsctl deliveries look-up ${id} --settle` },
        { text: byHand(delivery) },
        {
          text: "Found",
          command: `opsctl deliveries reconcile ${id} --to sent --provider-message-id <id> --reason <text>`,
        },
        {
          text: "Proved not sent",
          command: `opsctl deliveries reconcile ${id} --to failed --reason <text>`,
        },
      ];
  }
}

/** Where a person looks when `look-up` has found nothing. */
function byHand({ id, channel, dispatchedAt, senderTenantId }: Delivery): string {
  const at = dispatchedAt === null ? "an unknown time" : inSaoPaulo(dispatchedAt);
  if (channel === "email")
    return (
      `When it finds nothing, look for the message that carries the tag delivery_id=${id}, dispatched at ${at}, in the` +
      ` provider's log of calls (GET /logs), where the header Idempotency-Key is weekly-performance-email/${id}.` +
      " A logged answer with an id is proof that it was sent; a logged refusal is proof that it was not."
    );
  return (
    `When it finds nothing, look on the sending phone of the sender tenant ${senderTenantId} for what was sent at about` +
    ` ${at}, or ask the recipient. A message with this text is proof that it was sent; its key.id, which the gateway` +
    " shows and no phone, is the provider message id. Not finding it at the gateway proves nothing: it may not have" +
    " stored what it sent."
  );
}

function inSaoPaulo(instant: string): string {
  return `${localTime(instant)} (São Paulo)`;
}
