import type { RateLimiter } from "../../platform/rate/rate-limiter.ts";
import { NO_SENDER_INSTANCE } from "../../providers/evolution/advice.ts";
import {
  EVOLUTION_SEND_TIMEOUT_MS,
  EVOLUTION_STATE_TIMEOUT_MS,
  type EvolutionClient,
} from "../../providers/evolution/client.ts";
import { maskPhone } from "../../text/mask.ts";
import { normalizePhone } from "../../text/phone.ts";
import { createChannelStop } from "../context/channel-stop.ts";
import type { Store } from "../database/store.ts";
import { renderWhatsappText } from "../texts/whatsapp-text.ts";
import { createAwaySender } from "./away-sender.ts";
import { type DeliveryChannel, DOUBTS_BEFORE_STOP } from "./channel.ts";
import { createDoubts } from "./doubts.ts";

/** The settings of the WhatsApp channel. */
export type WhatsappSettings = {
  leftOut: boolean;
  senderTenantId: string | null;
  appBaseUrl: string;
  gateway: Pick<EvolutionClient, "checkInstance" | "sendText"> | null;
  rate: RateLimiter;
  /** How long a gateway that may be back in a moment is waited for at most. */
  patienceMinutes: number;
};

/**
 * WhatsApp as a delivery channel: the short text, sent by the newest instance of the configured sender tenant.
 *
 * Errors: recipient_phone_missing, message_too_long, sem_instancia_gateway and the gateway's refusal of key or licence,
 *         each before anything is sent.
 * Source: weekly report document, run flow 7 to 9; the recipient's own instance is never used.
 */
export function whatsappChannel(
  settings: WhatsappSettings,
  store: Pick<Store, "claimWhatsapp" | "persistAndClaimWhatsapp">,
): DeliveryChannel {
  const { appBaseUrl, gateway } = settings;
  return {
    name: "whatsapp",
    leftOut: settings.leftOut,
    senderTenantId: settings.senderTenantId,
    senderMissingCode: "sender_tenant_missing",
    stop: createChannelStop(),
    doubts: createDoubts(DOUBTS_BEFORE_STOP),
    fruitlessInARow: 0,
    awaySender: createAwaySender(settings.patienceMinutes),
    sendTimeoutMs: EVOLUTION_SEND_TIMEOUT_MS + EVOLUTION_STATE_TIMEOUT_MS,
    rate: settings.rate,
    claim: store.claimWhatsapp,
    persistAndClaim: store.persistAndClaimWhatsapp,
    async prepare(claim, payload, signal) {
      const number = normalizePhone(claim.recipient);
      const maskedHint = number && maskPhone(number);
      if (!number || !maskedHint) return { status: "failed", code: "recipient_phone_missing" };
      const text = renderWhatsappText(payload, { appBaseUrl });
      if (text === null) return { status: "failed", code: "message_too_long" };
      const instanceName = instanceNameOf(claim.sender);
      if (!gateway || !instanceName) return { status: "failed", ...NO_SENDER_INSTANCE };
      const instance = await gateway.checkInstance(instanceName, signal);
      if (instance.status !== "open") {
        const { code, cause, stopsChannel, timedOut, isPassing } = instance;
        return { status: "failed", code, cause, stopsChannel, timedOut, isPassing };
      }
      return {
        status: "ready",
        maskedHint,
        send: (sendSignal) => gateway.sendText({ instanceName, number, text }, sendSignal),
      };
    },
  };
}

/** The instance's name, or null when there is none. */
export function instanceNameOf(sender: unknown): string | null {
  return typeof sender === "string" && sender.trim() !== "" ? sender : null;
}
