const MAX_UNITS = 1000;

/** The formatting marks that `whatsappPlain` replaces. */
const FORMATTING = /[*~`]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g;

/**
 * A link that a person may follow, as plain ASCII without blanks and angle brackets; null for anything else.
 *
 * Behaviour: http and https only, at most 1,000 units. A link with a name or a password in it is not shown: it leads
 *            elsewhere than it seems to, or contains a secret.
 */
export function webLink(text: string | null): string | null {
  if (text === null || text.length > MAX_UNITS) return null;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    return null;
  const { href } = url;
  return href.length <= MAX_UNITS && /^[!-;=?-~]+$/.test(href) ? href : null;
}

/** A `webLink` for a WhatsApp message, in which it formats nothing; null also when encoding makes it too long. */
export function whatsappLink(text: string | null): string | null {
  const link = webLink(text);
  const encoded = link === null ? null : withoutFormatting(link);
  return encoded === null || encoded.length > MAX_UNITS ? null : encoded;
}

/** A `webLink` for markdown: in angle brackets, where neither entities nor backslashes mean anything. */
export function markdownLink(text: string | null): string | null {
  const href = webLink(text);
  return href === null ? null : `<${href}>`;
}

/** A link whose formatting marks are percent-encoded, so that it leads where it did before. */
export function withoutFormatting(link: string): string {
  return link.replace(FORMATTING, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * The value of a label without links: `https[://]evil.example/x`. A stranger's request may have chosen it.
 *
 * Behaviour: host names and addresses stay whole, because people copy them. Different texts stay different.
 */
export function breakSchemes(text: string): string {
  return text.replaceAll("://", "[://]");
}
