import { normalizeEmail } from "./email-address.ts";

const PHONE_DIGITS = /^[0-9]{10,15}$/;
const SHOWN_DIGITS = 4;

/**
 * The last four digits of a normalised number, as the ledger keeps it.
 *
 * Errors: null when it is not a normalised number: the mask of a short one would show all of it.
 */
export function maskPhone(digits: string): string | null {
  return PHONE_DIGITS.test(digits) ? digits.slice(-SHOWN_DIGITS) : null;
}

/**
 * The first character of the local part, `***@` and the domain.
 *
 * Errors: null when it is not one plain address: then the mask could show too much.
 */
export function maskEmail(address: string): string | null {
  const plain = normalizeEmail(address);
  if (plain === null) return null;
  const [first] = plain;
  return `${first}***@${plain.slice(plain.lastIndexOf("@") + 1)}`;
}
