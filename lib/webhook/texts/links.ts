import { withoutFormatting } from "./sender-text.ts";

const MAX_UNITS = 1000;

/**
 * A link that a person may follow, as plain ASCII without blanks and angle brackets; null for anything else.
 *
 * Behaviour: http and https only, at most 1,000 units. A link with a name or a password in it is not shown: it leads
 *            elsewhere than it seems to, or contains a secret.
 */
export function webLink(text: string | null): string | null {
  const url = text === null ? null : URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return null;
  return url.href.length <= MAX_UNITS && /^https?:[!-;=?-~]+$/.test(url.href) ? url.href : null;
}

/** A `webLink` for a WhatsApp message, in which it formats nothing. */
export function whatsappLink(text: string | null): string | null {
  const link = webLink(text);
  return link === null ? null : withoutFormatting(link);
}

/** A `webLink` for markdown: in angle brackets, where neither entities nor backslashes mean anything. */
export function markdownLink(text: string | null): string | null {
  const href = webLink(text);
  return href === null ? null : `<${href}>`;
}
