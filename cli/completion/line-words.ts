/**
 * The words of a command line up to the cursor, as a shell reads them: quotes and backslashes are gone.
 *
 * Shape: the last word is the one at the cursor; it may be empty, and its quote may have no end yet.
 */
export function lineWords(line: string): string[] {
  const words: string[] = [];
  const part = /'([^']*)(?:'|$)|"((?:[^"\\]|\\.)*)(?:"|\\?$)|\\(.)|([^\s'"\\]+)|(\s+)|\\$/gsy;
  let word: string | null = null;
  for (const [, single, double, escaped, plain, blanks] of line.matchAll(part)) {
    if (blanks !== undefined) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? "") + (single ?? double?.replace(/\\(["$`\\])/g, "$1") ?? escaped ?? plain ?? "");
  }
  return [...words, word ?? ""];
}
