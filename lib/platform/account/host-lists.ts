/** One line of /etc/group. */
export type GroupLine = { name: string; number: number; members: readonly string[] };

/** One line of /etc/passwd; `number` is that of the account. */
export type AccountLine = { name: string; number: number; gid: number; home: string };

/** The largest number that an account or a group can have: the next one tells the kernel to change nothing. */
export const MAX_NUMBER = 4_294_967_294;

/** A comment, and what the C library takes for an order about accounts of a directory service (`+name`, `-name`). */
const OTHER_LINE = /^[#+-]/;
const BLANKS = /^[ \t\v\f\r]+/;
const MAX_WORD = (1n << 64n) - 1n;

/**
 * The lines of /etc/group that the C library takes.
 *
 * Behaviour: a line without a number of 32 bits is left out, as the C library leaves it out, and so is a comment. One
 *            number can be larger than `MAX_NUMBER`: the next.
 * Source:    passwd(5), group(5); glibc 2.36, nss_files and fgetgrent_r.c, strtoul(3); a test compares it with
 *            getent(1).
 */
export function groupList(text: string): GroupLine[] {
  return fieldsOf(text).flatMap(([name = "", , number = "", members = ""]) => {
    const known = numberIn(withoutBlanks(number));
    return known === null ? [] : [{ name, number: known, members: members.split(",").map(withoutBlanks) }];
  });
}

/**
 * The lines of /etc/passwd that the C library takes; see `groupList`.
 *
 * Source: passwd(5); glibc 2.36, fgetpwent_r.c; a test compares it with getent(1).
 */
export function accountList(text: string): AccountLine[] {
  return fieldsOf(text).flatMap(([name = "", , uid = "", gid = "", , home = ""]) => {
    const [number, group] = [numberIn(withoutBlanks(uid)), numberIn(withoutBlanks(gid))];
    return number === null || group === null ? [] : [{ name, number, gid: group, home }];
  });
}

function fieldsOf(text: string): string[][] {
  const lines = text.split("\n").map(withoutBlanks);
  return lines.filter((line) => !OTHER_LINE.test(line)).map((line) => line.split(":"));
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
