const MOST_EDITS = 2;

/** The name that `typed` probably means: two edits away at most, ignoring case and dashes; undefined for none. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replace(/[-_]/g, "");
  const isClose = (name: string) => Math.abs(plain(name).length - plain(typed).length) <= MOST_EDITS;
  // A word of a whole argument's length would otherwise be compared for minutes.
  const ranked = names
    .filter(isClose)
    .map((name) => ({ name, distance: editDistance(plain(typed), plain(name)) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  // Two edits turn any three letters into any other three.
  const limit = Math.min(MOST_EDITS, Math.floor(plain(typed).length / 2));
  return best !== undefined && best.distance <= limit ? best.name : undefined;
}

/** Levenshtein distance, row by row. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const change = (row[j] as number) + (letter === other ? 0 : 1);
      next.push(Math.min(change, (row[j + 1] as number) + 1, (next[j] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
