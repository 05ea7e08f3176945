import { createHash } from "node:crypto";

/** An index takes 2,704 bytes a row, and a character is at most three bytes. */
const LONGEST_KEY = 500;

/**
 * A text in a form that PostgreSQL can keep: the inside of its JSON string.
 *
 * Behaviour: escapes NUL and halves of surrogate pairs, which a `text` column does not take; most texts are unchanged,
 *            and different texts stay different.
 */
export function storedText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The text of which `storedText` made `stored`. */
export function restoredText(stored: string): string {
  return JSON.parse(`"${stored}"`) as string;
}

/** A text as the key of an index: as `storedText`, or its digest when it is too long for an index. */
export function storedKey(text: string): string {
  const stored = storedText(text);
  // No stored text has a backslash before an s, so none looks like a digest.
  return stored.length <= LONGEST_KEY
    ? stored
    : `\\sha256:${createHash("sha256").update(stored).digest("hex")}`;
}

/** As `restoredText`, of a column that may be empty. */
export function restoredOrNull(stored: string | null): string | null {
  return stored === null ? null : restoredText(stored);
}

/** As `storedText`, for a column that may be empty. */
export function storedOrNull(text: string | null): string | null {
  return text === null ? null : storedText(text);
}
