const MAX_UNITS = 1000;

/**
 * A link that a person may follow, as plain ASCII without blanks and angle brackets; null for anything else.
 *
 * Shape:  http and https only, at most 1,000 units. One that carries a name or a password is not shown at all, since it
 *         leads elsewhere than it seems to, or tells a secret.
 */
export function webLink(text: string | null): string | null {
  if (text === null || text.length > MAX_UNITS) return null;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    return null;
  const { href } = url;
  return href.length <= MAX_UNITS && /^[!-;=?-~]+$/.test(href) ? href : null;
}
