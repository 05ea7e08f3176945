/**
 * `text` in lines of at most `width`, broken between words; the lines behind the first are indented, the first one
 * keeps its own blanks. A longer word, such as an id, stays whole on a line of its own.
 *
 * Units: `width` is in what `measure` counts: characters where it is not given.
 */
export function wrapText(
  text: string,
  width: number,
  indent = "",
  measure: (text: string) => number = ({ length }) => length,
): string[] {
  const lines: string[] = [];
  let line = /^ */.exec(text)![0];
  for (const word of text.trimStart().split(" ")) {
    const longer = line.trim() === "" ? line + word : `${line} ${word}`;
    if (line.trim() !== "" && measure(longer) > width) {
      lines.push(line);
      line = indent + word;
    } else line = longer;
  }
  return [...lines, line];
}
