/** The first line in which a text is not the golden one, with what to do when that is meant; null where they are the same. */
export function firstDifference(
  text: string,
  golden: string,
): { line: number; golden: string | undefined; now: string | undefined; meant: string } | null {
  if (text === golden) return null;
  const [now, before] = [text.split("\n"), golden.split("\n")];
  const at = now.findIndex((line, i) => line !== before[i]);
  const line = at === -1 ? now.length : at;
  return {
    line: line + 1,
    golden: before[line],
    now: now[line],
    meant: "UPDATE_GOLDEN=1 make test ONLY=tests/weekly, then read the difference",
  };
}
