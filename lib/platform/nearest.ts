const MOST_EDITS = 2;
const LONGEST_NAME = 64;

/**
 * The name that `typed` probably means: two edits away at most, ignoring case and dashes; undefined for none. Two
 * letters that changed places are one edit.
 */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replace(/[-_]/g, "");
  // A word of a whole argument's length would otherwise be compared for minutes.
  const word = plain(typed).slice(0, LONGEST_NAME);
  const distances = names.map((name) => editDistance(word, plain(name)));
  const least = Math.min(...distances, MOST_EDITS);
  const name = names[distances.indexOf(least)];
  // Two edits turn tcsh into bash.
  return name !== undefined && 3 * least <= Math.max(word.length, plain(name).length) ? name : undefined;
}

/** Optimal string alignment distance, row by row. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1, isSwapped ? before[j - 2]! + 1 : change));
    }
    [before, row] = [row, next];
  }
  return row[b.length]!;
}
