/** What stands in a code for a part of it that varies, by the word between the brackets. */
const PLACEHOLDERS: Readonly<Record<string, string>> = { status: "[1-5][0-9]{2}" };
const ANY_PART = "[A-Za-z0-9_]+";

/**
 * Whether `code` is meant by a word of docs/codes.md: the code itself, or one with parts that vary.
 *
 * Shape: of a word, `<status>` is an HTTP status, `<name>` one of the words that `variants` has for it, `…` anything.
 */
export function isMeantBy(word: string, code: string, variants: Readonly<Record<string, string>>): boolean {
  if (isExact(word)) return word === code;
  const parts = word.split(/(<\w+>|…)/).map((part) => {
    if (part === "…") return ANY_PART;
    const name = /^<(\w+)>$/.exec(part)?.[1];
    return name === undefined ? part : `(?:${variants[name] ?? PLACEHOLDERS[name] ?? ANY_PART})`;
  });
  return new RegExp(`^${parts.join("")}$`).test(code);
}

/** Whether a word of docs/codes.md is a whole code, without a part that varies. */
export function isExact(word: string): boolean {
  return /^\w+$/.test(word);
}
