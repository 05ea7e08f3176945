/** WhatsApp's formatting characters, each with one that looks the same and formats nothing. */
const LOOK_ALIKES: Record<string, string> = { "*": "\u2217", _: "\u02CD", "~": "\u223C", "`": "\u02CB" };

/** A mark at the edge of a word formats; inside a word, as in "maria_silva", only the backtick does. */
const FORMATTING = /`|(?<![\p{L}\p{N}])[*_~]|[*_~](?![\p{L}\p{N}])/gu;

/** `text` for a WhatsApp message, without bold, italic, strike or code. Its length stays the same. */
export function whatsappPlain(text: string): string {
  return text.replace(FORMATTING, (mark) => LOOK_ALIKES[mark]!);
}
