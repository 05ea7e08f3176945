const MOST_EDITS = 2;

/**
 * The name that `typed` probably means: two edits away at most, ignoring case and dashes; undefined for none. Two
 * letters that changed places are one edit.
 */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replace(/[-_]/g, "");
  const isClose = (name: string) => Math.abs(plain(name).length - plain(typed).length) <= MOST_EDITS;
  // A word of a whole argument's length would otherwise be compared for minutes.
  const ranked = names
    .filter(isClose)
    .map((name) => ({ name, distance: editDistance(plain(typed), plain(name)) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  if (best === undefined || best.distance > MOST_EDITS) return undefined;
  // Two edits turn tcsh into bash.
  const isLike = 3 * best.distance <= Math.max(plain(typed).length, plain(best.name).length);
  return isLike ? best.name : undefined;
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
