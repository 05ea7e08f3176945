/**
 * `text` in lines of at most `width` characters, broken between words; the lines behind the first are indented.
 *
 * Behaviour: a word that is longer than the width, such as a command with ids, stays whole on a line of its own.
 */
export function wrapText(text: string, width: number, indent = ""): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const joined = line === "" ? word : `${line} ${word}`;
    if (line !== "" && joined.length > width) {
      lines.push(line);
      line = indent + word;
    } else line = joined;
  }
  return [...lines, line];
}
