const MAX_ADDRESS_UNITS = 254;
const MAX_LOCAL_UNITS = 64;

/** Dot-separated atoms of letters, digits and the marks that need no quotes. */
const LOCAL_PART =
  /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-][\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]*(\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;

/** Two labels or more; the last one is a name, never a number. */
const DOMAIN =
  /^([\p{L}\p{N}]([\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?\.)+(\p{L}[\p{L}\p{M}]{1,62}|xn--[a-z0-9-]{1,58}[a-z0-9])$/iu;

/** Neither a blank nor a character that shows nothing and comes along when text is copied. */
const SHOWN = /[^\s\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * One plain address as a person typed or pasted it, without what stands around it; null when it is not clearly one.
 *
 * Shape:  `local@domain` and nothing else; upper and lower case are kept. Blanks and invisible characters at both ends
 *         go, as in a phone; inside the address nothing is repaired.
 * Errors: null for a display name, quotes, blanks or line breaks inside, a list, an address literal, a name without a
 *         dot.
 * Source: weekly report document, E-mail; a doubtful recipient counts as missing rather than being guessed.
 */
export function normalizeEmail(raw: string | null): string | null {
  if (raw === null) return null;
  const address = trimPasted(raw);
  if (address.length > MAX_ADDRESS_UNITS) return null;
  const at = address.lastIndexOf("@");
  const local = address.slice(0, Math.max(0, at));
  if (local.length > MAX_LOCAL_UNITS || !LOCAL_PART.test(local) || !DOMAIN.test(address.slice(at + 1)))
    return null;
  return address;
}

/** `text` without blanks and invisible characters before and behind it. */
function trimPasted(text: string): string {
  const start = text.search(SHOWN);
  if (start < 0) return "";
  // Not by a pattern for the end: tried at every character, it would take time by the square of the length.
  let end = text.length;
  while (!SHOWN.test(text[end - 1]!)) end -= 1;
  return text.slice(start, end);
}
