import { singleLine } from "../../../text/single-line.ts";
import { whatsappPlain } from "../../../text/whatsapp-plain.ts";
import { breakSchemes, withoutFormatting } from "../links.ts";

/** A sender's text as one line of a WhatsApp message, without formatting; its links lead where they did. */
export function whatsappLine(text: string): string {
  return singleLine(text)
    .split(/(https?:\/\/\S+)/i)
    .map((part, at) => (at % 2 === 0 ? whatsappPlain(part) : withoutFormatting(part)))
    .join("");
}

/** A label's name or value as one line of a WhatsApp message, without formatting and links. */
export function whatsappLabel(text: string): string {
  return breakSchemes(whatsappPlain(singleLine(text)));
}

/** The same between our own asterisks: inside bold even one between two letters could end it. */
export function whatsappBold(text: string): string {
  return whatsappLabel(text).replaceAll("*", "\u2217");
}

/** Whether `whatsappLabel` shows a text so that no other text is shown alike. */
export function isShownWhole(text: string): boolean {
  return whatsappPlain(singleLine(text)) === text;
}
