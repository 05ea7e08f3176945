import { nearest } from "./nearest.ts";

/** That many words at the end of a name say which one it is; one alone, such as URL, is a part of too many. */
const TELLING_WORDS = 2;

/**
 * The name that `name` probably stands for: the one that a slip of the pen makes it of, else the only one that has its
 * words, in their order, and more; undefined when there is none.
 *
 * Shape: `withParts` is false where a part of a name may well be the whole name of something else.
 */
export function nameMeant(
  name: string,
  known: readonly string[],
  { withParts }: { withParts: boolean },
): string | undefined {
  const near = nearest(name, known);
  if (near !== undefined || !withParts) return near;
  const words = name.toUpperCase().split("_");
  if (words.length < TELLING_WORDS) return undefined;
  const [only, ...others] = known.filter((one) => isPartOf(one.split("_"), words));
  return others.length === 0 ? only : undefined;
}

/** Whether all the words of a part come in their order, the last ones at the end. */
function isPartOf(all: readonly string[], part: readonly string[]): boolean {
  const end = (words: readonly string[]) => words.slice(-TELLING_WORDS).join("_");
  return end(all) === end(part) && hasInOrder(all, part);
}

function hasInOrder(all: readonly string[], some: readonly string[]): boolean {
  let at = 0;
  for (const word of all) if (word === some[at]) at += 1;
  return at === some.length;
}
