import { singleLine } from "../../../text/single-line.ts";
import { whatsappPlain } from "../../../text/whatsapp-plain.ts";
import { breakLinks } from "../break-links.ts";

/** A sender's text as one line without formatting, whose links are still to be broken. */
export function whatsappText(text: string): string {
  return whatsappPlain(singleLine(text));
}

/** A sender's text as one line of a WhatsApp message, without formatting and links. */
export function whatsappLine(text: string): string {
  return breakLinks(whatsappText(text));
}

/** The same between our own asterisks: inside bold even one between two letters could end it. */
export function whatsappBold(text: string): string {
  return whatsappLine(text).replaceAll("*", "\u2217");
}

/** Whether `whatsappLine` shows a text so that no other text is shown alike; broken links can be told from others. */
export function isShownWhole(text: string): boolean {
  return whatsappText(text) === text;
}
