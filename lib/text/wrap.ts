/**
 * `text` in lines of at most `width` characters, broken between words; the lines behind the first are indented, the
 * first one keeps its own blanks.
 *
 * Behaviour: a word that is longer than the width, such as a command with ids, stays whole on a line of its own.
 */
export function wrapText(text: string, width: number, indent = ""): string[] {
  const lines: string[] = [];
  const [first, ...words] = text.trimStart().split(" ");
  let line = text.slice(0, text.length - text.trimStart().length) + first;
  for (const word of words) {
    const joined = `${line} ${word}`;
    if (joined.length > width) {
      lines.push(line);
      line = indent + word;
    } else line = joined;
  }
  return [...lines, line];
}
