/** One line of /etc/passwd or /etc/group; `members` are those of a group. */
export type NameLine = { name: string; number: number; members: readonly string[] };

/** The largest number that an account or a group can have: the next one tells the kernel to change nothing. */
export const MAX_NUMBER = 4_294_967_294;

const BLANKS = /^[ \t\v\f\r]+/;
const MAX_WORD = (1n << 64n) - 1n;

/**
 * The lines of /etc/passwd or /etc/group that the C library takes.
 *
 * Behaviour: a line without a number of 32 bits is left out, as the C library leaves it out, and so is a comment. One
 *            number can be larger than `MAX_NUMBER`: the next.
 * Source:    passwd(5), group(5); glibc 2.36, nss_files and fgetgrent_r.c, strtoul(3); a test compares it with getent(1).
 */
export function nameList(text: string): NameLine[] {
  return text.split("\n").flatMap((line) => {
    const [name = "", , number = "", members = ""] = withoutBlanks(line).split(":");
    const known = numberIn(withoutBlanks(number));
    if (known === null || name.startsWith("#")) return [];
    return [{ name, number: known, members: members.split(",").map(withoutBlanks) }];
  });
}

function numberIn(text: string): number | null {
  const [, sign, digits] = /^([+-]?)(\d+)$/.exec(text) ?? [];
  if (digits === undefined) return null;
  const size = BigInt(digits);
  if (size > MAX_WORD) return null;
  const word = BigInt.asUintN(64, sign === "-" ? -size : size);
  return word > MAX_NUMBER + 1 ? null : Number(word);
}

function withoutBlanks(text: string): string {
  return text.replace(BLANKS, "");
}
