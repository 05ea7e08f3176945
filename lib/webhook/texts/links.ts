/** The formatting marks that `whatsappPlain` replaces: a link keeps its meaning only when they are encoded instead. */
const FORMATTING = /[*~`]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g;

/** A link from `webLink` for a WhatsApp message: it still leads to the same place, and formats nothing. */
export function whatsappLink(href: string): string {
  return href.replace(FORMATTING, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}
