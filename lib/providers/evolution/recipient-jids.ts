const BRAZIL_MOBILE = /^55(\d{2})9?(\d{8})$/;
const MEXICO_OR_ARGENTINA = /^(52|54)([19]?)(\d{10})$/;

/**
 * The names under which the gateway may keep messages to a number, the likeliest first.
 *
 * Shape:     `number` is digits with country code; two to four names.
 * Behaviour: WhatsApp or the gateway adds or drops the extra mobile digit of Brazil, Mexico and Argentina. The last
 *            name is the bare number, which the gateway's own integration (EVOLUTION) keeps. A name that ends in `@lid`
 *            cannot be made of a number.
 * Source:    github.com/EvolutionAPI/evolution-api at 3454bec (2.3.6), src/utils/createJid.ts, and at fa09d37 (2.3.7)
 *            the channel services, read 2026-11-22.
 */
export function recipientJids(number: string): string[] {
  return [...new Set([number, ...otherForms(number)])].map((form) => `${form}@s.whatsapp.net`).concat(number);
}

function otherForms(number: string): string[] {
  const [, area, line] = BRAZIL_MOBILE.exec(number) ?? [];
  // Lines that begin below 6 are not mobile and never had the digit.
  if (area !== undefined && line !== undefined)
    return /^[6-9]/.test(line) ? [`55${area}${line}`, `55${area}9${line}`] : [];
  const [, country, , rest] = MEXICO_OR_ARGENTINA.exec(number) ?? [];
  if (country === undefined || rest === undefined) return [];
  return [`${country}${rest}`, `${country}${country === "52" ? "1" : "9"}${rest}`];
}
