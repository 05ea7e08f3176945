/** Refuses a command line that names neither a row nor all of them, or both. */
export function oneOrAll(given: ReadonlyMap<string, string>): string | undefined {
  return given.has("row") === given.has("all") ? "either --row or --all is needed" : undefined;
}

/** The rows that a command line means; null means all. */
export function rowsOf(row: string | undefined): number[] | null {
  return row === undefined ? null : [Number(row)];
}

/** So many rows, in words. */
export function rowCount(count: number): string {
  return count === 1 ? "1 row" : `${count} rows`;
}
