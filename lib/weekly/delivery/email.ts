import type { RateLimiter } from "../../platform/rate/rate-limiter.ts";
import { RESEND_SEND_TIMEOUT_MS, type ResendClient } from "../../providers/resend/client.ts";
import { normalizeEmail } from "../../text/email-address.ts";
import { maskEmail } from "../../text/mask.ts";
import { createChannelStop } from "../context/channel-stop.ts";
import type { Store } from "../database/store.ts";
import { renderEmail } from "../email/render.ts";
import { createAwaySender } from "./away-sender.ts";
import { type DeliveryChannel, DOUBTS_BEFORE_STOP } from "./channel.ts";
import { createDoubts } from "./doubts.ts";
import { emailSenderOf } from "./email-sender.ts";

/** The settings of the e-mail channel. */
export type EmailSettings = {
  leftOut: boolean;
  senderTenantId: string | null;
  appBaseUrl: string;
  unsubscribe: string | null;
  provider: ResendClient | null;
  rate: RateLimiter;
};

/**
 * E-mail as a delivery channel: the full report, sent by the central tenant's verified address.
 *
 * Errors: email_sender_address_missing, email_sender_domain_unverified, recipient_email_missing, each before anything
 *         is sent.
 * Source: weekly report document, Email contract.
 */
export function emailDeliveryChannel(
  settings: EmailSettings,
  store: Pick<Store, "claimEmail" | "settleAndClaimEmail">,
): DeliveryChannel {
  const { appBaseUrl, unsubscribe, provider } = settings;
  return {
    name: "email",
    leftOut: settings.leftOut,
    senderTenantId: settings.senderTenantId,
    senderMissingCode: "email_sender_tenant_missing",
    stop: createChannelStop(),
    doubts: createDoubts(DOUBTS_BEFORE_STOP),
    fruitlessInARow: 0,
    // Nothing of an e-mail's sender is away for a moment.
    awaySender: createAwaySender(0),
    sendTimeoutMs: RESEND_SEND_TIMEOUT_MS,
    rate: settings.rate,
    claim: store.claimEmail,
    settleAndClaim: store.settleAndClaimEmail,
    async prepare(claim, payload) {
      const sender = emailSenderOf(claim.sender);
      if (sender.status !== "ready") return { status: "failed", code: sender.code };
      const to = normalizeEmail(claim.recipient);
      const maskedHint = to && maskEmail(to);
      if (!to || !maskedHint) return { status: "failed", code: "recipient_email_missing" };
      const { subject, html, text } = renderEmail(payload, { appBaseUrl, unsubscribe });
      const { deliveryId } = claim;
      const { address: from, fromName, replyTo } = sender;
      return {
        status: "ready",
        maskedHint,
        send: (signal) =>
          provider!.sendEmail(
            { from, fromName, replyTo, to, subject, html, text, unsubscribe, deliveryId },
            signal,
          ),
      };
    },
  };
}
