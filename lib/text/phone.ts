const BRAZIL = "55";

/** What shows nothing and comes along when text is copied. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** What people type between digits: blanks, hyphens of any kind, dots, parentheses. */
const SEPARATORS = /[ \t\u00A0\u2000-\u200A\u202F.()\-\u2010-\u2015\u2212]/gu;

/**
 * A phone number as a person typed it, as digits with country code; null when it is not clearly one number.
 *
 * Shape:  "+55 (11) 98765-4321", "011 98765-4321" and "11 98765 4321" are all 5511987654321. Ten or eleven digits
 *         without a country code are taken as Brazilian. Ten to fifteen digits come out.
 * Errors: null for letters, extensions, two numbers, too few or too many digits.
 * Source: weekly report document, Texts. E.164 for the longest number and for + and 00.
 */
export function normalizePhone(raw: string | null): string | null {
  if (raw === null) return null;
  const compact = raw.replace(INVISIBLE, "").trim().replace("(0)", "").replace(SEPARATORS, "");
  const [, prefix, digits] = /^(\+|00)?([0-9]+)$/.exec(compact) ?? [];
  if (digits === undefined) return null;
  return prefix === undefined ? fromNational(digits) : fromInternational(digits);
}

/** Digits without `+` or `00`: Brazil's code is added where they have the length of a Brazilian number. */
function fromNational(digits: string): string | null {
  if (digits.startsWith("0")) {
    const withoutTrunk = digits.slice(1);
    return isNationalLength(withoutTrunk) ? BRAZIL + withoutTrunk : null;
  }
  return isNationalLength(digits) ? BRAZIL + digits : fromInternational(digits);
}

function fromInternational(digits: string): string | null {
  if (digits.startsWith("0") || digits.length < 10 || digits.length > 15) return null;
  // "+55 98765-4321": the area code is missing, and guessing it would write to a stranger.
  if (digits.startsWith(BRAZIL) && digits.length < 12) return null;
  // "+55 011 98765-4321": the 0 is dialled inside Brazil only, and no Brazilian number has twelve digits.
  const hasTrunk = digits.startsWith(`${BRAZIL}0`) && digits.length === 14;
  return hasTrunk ? BRAZIL + digits.slice(3) : digits;
}

function isNationalLength(digits: string): boolean {
  return digits.length === 10 || digits.length === 11;
}
