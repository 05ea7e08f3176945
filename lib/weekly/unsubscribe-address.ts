import * as v from "valibot";
import type { Rule } from "../platform/config/config.ts";
import { normalizeEmail } from "../text/email-address.ts";

/** Well inside the longest line of a header. */
const MAX_LENGTH = 400;

/** What an address in angle brackets may have: printable ASCII but a comma and the marks that RFC 3986 leaves out. */
const PLAIN = /^[!#-+\-./0-;=?-[\]_a-z~]+$/;

/**
 * Where a recipient goes to stop the e-mails: `mailto:` and one address, or an https address.
 *
 * Shape:  the address as the header `List-Unsubscribe` and a link take it; a `mailto:` may carry `?subject=`.
 * Source: RFC 2369, 2 and 3.2; RFC 6068, 2.
 */
export const unsubscribeAddress: Rule<string> = {
  schema: () =>
    v.pipe(
      v.string(),
      v.check((text) => text.length <= MAX_LENGTH, `is longer than ${MAX_LENGTH} characters`),
      v.check((text) => PLAIN.test(text), "holds a character that has to be percent-encoded"),
      v.check((text) => isWebAddress(text) || isMailto(text), "is neither mailto: nor https"),
      v.transform((text) => new URL(text)),
      v.check((url) => url.username === "" && url.password === "", "carries a user name or a password"),
      v.check(
        (url) => url.protocol !== "mailto:" || hasOneRecipient(url),
        "is not one address, with nothing but a subject",
      ),
      v.transform((url) => url.href),
    ),
  expected: "mailto: with one address, or an https address",
  example: "mailto:sair@mail.example.com?subject=Sair",
};

function isWebAddress(text: string): boolean {
  return /^https:\/\//i.test(text) && URL.canParse(text);
}

function isMailto(text: string): boolean {
  return /^mailto:/i.test(text) && URL.canParse(text);
}

/** A second recipient or a `bcc` would send each owner's wish to another address, too. */
function hasOneRecipient({ pathname, search, hash }: URL): boolean {
  const address = decoded(pathname);
  const subject = decoded(search);
  if (address === null || subject === null || hash !== "") return false;
  const isPlainAddress = /^[!-~]+$/.test(address) && normalizeEmail(address) === address;
  return isPlainAddress && (search === "" || /^\?subject=[^&\p{Cc}]*$/iu.test(subject));
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
