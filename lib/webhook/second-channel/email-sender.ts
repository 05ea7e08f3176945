import type { CallRecord } from "../../platform/http/call-peer.ts";
import { resendClient } from "../../providers/resend/client.ts";
import type { SecondChannelConfig } from "../config.ts";
import type { SendAlertEmail } from "./second-channel.ts";

/** Sends the e-mails of the second channel through its provider. */
export function alertEmailSender(
  { apiUrl, apiKey, from, to }: SecondChannelConfig,
  onCall: (record: CallRecord) => void,
): SendAlertEmail {
  const client = resendClient({
    baseUrl: new URL(apiUrl),
    apiKey,
    purpose: "opsctl-alert-email",
    onCall,
  });
  return ({ id, subject, html, text }, signal) =>
    client.sendEmail(
      { from, fromName: null, replyTo: null, to, subject, html, text, unsubscribe: null, deliveryId: id },
      signal,
    );
}
