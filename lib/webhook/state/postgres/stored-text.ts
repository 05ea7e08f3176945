import { createHash } from "node:crypto";

/** An index takes 2,704 bytes a row; three of them a character at most. */
const LONGEST_KEY = 500;

/**
 * A text as PostgreSQL can keep any of it: the inside of its JSON string.
 *
 * Shape: a `text` column takes neither NUL nor half of a surrogate pair, which are escaped here; most texts stay as
 *        they are, and different ones stay different.
 */
export function storedText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The text that `storedText` was given. */
export function restoredText(stored: string): string {
  return JSON.parse(`"${stored}"`) as string;
}

/** A text as the key of an index: like `storedText`, but a digest when it is too long for one. */
export function storedKey(text: string): string {
  const stored = storedText(text);
  // No stored text contains a backslash before an s, so none looks like a digest.
  return stored.length <= LONGEST_KEY
    ? stored
    : `\\sha256:${createHash("sha256").update(stored).digest("hex")}`;
}
