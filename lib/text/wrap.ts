/**
 * `text` in lines of at most `width`, broken between words; the lines behind the first are indented, the first one
 * keeps its own blanks.
 *
 * Units:     `width` is in what `measure` counts: characters where it is not given, which suits the program's own
 *            words.
 * Behaviour: a word that is longer than the width, such as a command with ids, stays whole on a line of its own. One
 *            that only the indentation makes too long has less of it.
 */
export function wrapText(
  text: string,
  width: number,
  indent = "",
  measure: (text: string) => number = lengthOf,
): string[] {
  const lines: string[] = [];
  const start = text.trimStart();
  const [first = "", ...words] = start.split(" ");
  let line = behindBlanks(text.slice(0, text.length - start.length), first, width - measure(first));
  let taken = measure(line);
  for (const word of words) {
    const size = measure(word);
    if (taken + 1 + size <= width) {
      line += ` ${word}`;
      taken += 1 + size;
      continue;
    }
    lines.push(line);
    line = behindBlanks(indent, word, width - size);
    taken = measure(line);
  }
  return [...lines, line];
}

/** A word that is too long in any case keeps its indentation. */
function behindBlanks(blanks: string, word: string, room: number): string {
  return (room < 0 ? blanks : blanks.slice(0, room)) + word;
}

function lengthOf(text: string): number {
  return text.length;
}
