import { singleLine } from "../../text/single-line.ts";
import { whatsappPlain } from "../../text/whatsapp-plain.ts";
import { NAMELESS } from "../alert/name.ts";

/** The formatting marks that `whatsappPlain` replaces. */
const FORMATTING = /[*~`]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g;

/** The lines of a text, each as `singleLine` returns it; lines that show nothing are left out. */
export function textLines(text: string): string[] {
  return text
    .split(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/u)
    .map(singleLine)
    .filter((line) => line !== "");
}

/**
 * The value of a label without links: `https[://]evil.example/x`. A stranger's request may have chosen it.
 *
 * Behaviour: host names and addresses stay whole, because people copy them. Different texts stay different.
 */
export function breakSchemes(text: string): string {
  return text.replaceAll("://", "[://]");
}

/** A link whose formatting marks are percent-encoded, so that it leads where it did before. */
export function withoutFormatting(link: string): string {
  return link.replace(FORMATTING, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

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

/** The name of an alert, also between our own asterisks: inside bold even one between two letters could end it. */
export function whatsappName(name: string | null): string {
  return whatsappLabel(name ?? "").replaceAll("*", "\u2217") || NAMELESS;
}

/** Whether `whatsappLabel` shows a text so that no other text is shown alike. */
export function isShownWhole(text: string): boolean {
  return whatsappPlain(singleLine(text)) === text;
}
