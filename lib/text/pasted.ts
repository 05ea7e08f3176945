/**
 * Characters that show nothing and come along when text is copied: zero-width blanks, direction marks, soft hyphens,
 * and the braille pattern without a dot, which Unicode does not count among them.
 */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\u2800]/gu;

const SHOWN = /[^\s\p{Default_Ignorable_Code_Point}\u2800]/u;

/** `text` without blanks, line breaks and invisible characters before and behind it; what is inside stays. */
export function trimPasted(text: string): string {
  const start = text.search(SHOWN);
  if (start < 0) return "";
  // Not by a pattern for the end: tried at every character, it would take time by the square of the length.
  let end = text.length;
  while (!SHOWN.test(text[end - 1]!)) end -= 1;
  return text.slice(start, end);
}

/** `text` without a single invisible character, for content that cannot have one. */
export function withoutInvisible(text: string): string {
  return text.replace(INVISIBLE, "");
}
