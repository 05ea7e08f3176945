import { nearest } from "./nearest.ts";

const MOST_MEANT = 3;
/** One word alone, such as URL, is a part of too many. */
const FEWEST_WORDS = 2;

/**
 * The names that `name` probably stands for: the one that a slip of the pen makes it of, else those that have its words, in
 * their order, and more.
 */
export function namesMeant(name: string, known: readonly string[]): string[] {
  const near = nearest(name, known);
  if (near !== undefined) return [near];
  const words = name.toUpperCase().split("_");
  if (words.length < FEWEST_WORDS) return [];
  return known.filter((one) => hasInOrder(one.split("_"), words)).slice(0, MOST_MEANT);
}

function hasInOrder(all: readonly string[], some: readonly string[]): boolean {
  let at = 0;
  for (const word of all) if (word === some[at]) at += 1;
  return at === some.length;
}
