import { member, type PeerAnswer } from "../../platform/http/answer.ts";

/**
 * Whether the gateway found its connection to WhatsApp closed when it asked whether the number exists, before a send.
 *
 * Behaviour: the instance's state may be `open` all the same. A connection that is missed inside the send has another
 *            form: 400, and a list of text.
 * Source:    github.com/EvolutionAPI/evolution-api, every tag from 2.2.0 to 2.3.7 and 2.4.0-rc2,
 *            `whatsapp.baileys.service.ts`, sendMessageWithTyping, read 2026-11-23: the check of the number comes before
 *            the `try` in which all of the send is, and whose every exception becomes a 400; what the check throws
 *            reaches `main.ts` as it is.
 */
export function isClosedBeforeSend(answer: PeerAnswer | null): boolean {
  if (answer?.status !== 500) return false;
  return member(member(answer.json, "response"), "message") === "Connection Closed";
}
