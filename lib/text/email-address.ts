const MAX_ADDRESS_UNITS = 254;
const MAX_LOCAL_UNITS = 64;

/** Dot-separated atoms of letters, digits and the marks that need no quotes. */
const LOCAL_PART =
  /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-][\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]*(\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;

/** Two labels or more; the last one is a name, never a number. */
const DOMAIN =
  /^([\p{L}\p{N}]([\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?\.)+(\p{L}[\p{L}\p{M}]{1,62}|xn--[a-z0-9-]{1,58}[a-z0-9])$/iu;

/** Longer than any address with what is pasted around it: the pattern for that takes the square of the length. */
const MAX_PASTED_UNITS = 1_000;
/** Blanks, and characters that show nothing and come along when text is copied. */
const AROUND = /^[\s\p{Default_Ignorable_Code_Point}\u2800]+|[\s\p{Default_Ignorable_Code_Point}\u2800]+$/gu;

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
  if (raw === null || raw.length > MAX_PASTED_UNITS) return null;
  const address = raw.replace(AROUND, "");
  if (address.length > MAX_ADDRESS_UNITS) return null;
  const at = address.lastIndexOf("@");
  const local = address.slice(0, Math.max(0, at));
  if (local.length > MAX_LOCAL_UNITS || !LOCAL_PART.test(local) || !DOMAIN.test(address.slice(at + 1)))
    return null;
  return address;
}
