/** An address, wherever it stands. */
const ADDRESS = /[^\s@<>()]+@[^\s@<>()]+/gu;

/** As many digits as a telephone with its area code, or the number of a person's or company's papers, have at least. */
const LONG_NUMBER = /\+?\(?\d(?:[\s()./\p{Pd}]*\d){9,}/gu;

/** What an address or a number leaves behind. */
const EMPTY_BRACKETS = /\(\s*\)|\[\s*\]|<\s*>/gu;

/**
 * A tenant's name as a report keeps it; null where nothing of it is a name.
 *
 * Behaviour: addresses and telephone numbers go, as from everything that opsctl stores, and so do the long numbers that
 *            registered names end with. The renderer decides how a name is shown.
 */
export function keptTenantName(name: string | null): string | null {
  const kept = (name ?? "")
    .replaceAll(ADDRESS, " ")
    .replaceAll(LONG_NUMBER, " ")
    .replaceAll(EMPTY_BRACKETS, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return kept === "" ? null : kept;
}
