const LONGEST_NAME = 64;

/**
 * The sender in the provider's form: `Name <a@b>`, or the bare address without a usable name.
 *
 * Behaviour: the text is exactly one address, whatever the name holds: control characters, line breaks and the
 *            characters that begin or separate addresses become blanks; other special characters are quoted.
 * Units:     at most 64 characters of the name are kept, counted as code points.
 * Source:    RFC 5322, 3.2.3 and 3.4.
 */
export function senderText(address: string, name: string | null): string {
  const cleaned = (name ?? "").replaceAll(/[\p{C}\p{Z}<>@,;:"\\]+/gu, " ").trim();
  const bounded = [...cleaned].slice(0, LONGEST_NAME).join("").trim();
  if (bounded === "") return address;
  return /[()[\].]/.test(bounded) ? `"${bounded}" <${address}>` : `${bounded} <${address}>`;
}
