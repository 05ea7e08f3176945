/** What WhatsApp reads as formatting, and the letter that looks the same and means nothing. */
const LOOK_ALIKES: Record<string, string> = { "*": "\u2217", _: "\u02CD", "~": "\u223C", "`": "\u02CB" };

/** A mark at the edge of a word formats; inside a word, as in "maria_silva", only the backtick does. */
const FORMATTING = /`|(?<![\p{L}\p{N}])[*_~]|[*_~](?![\p{L}\p{N}])/gu;

/** `text` for a WhatsApp message, unable to make itself bold, italic, struck or code. Its length stays the same. */
export function whatsappPlain(text: string): string {
  return text.replace(FORMATTING, (mark) => LOOK_ALIKES[mark]!);
}
