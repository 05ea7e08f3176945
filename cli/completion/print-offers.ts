import { writeOut } from "../framework/streams/output.ts";
import { root } from "../root.ts";
import { complete } from "./complete.ts";
import { lineWords } from "./line-words.ts";
import type { Offers } from "./offer.ts";

/**
 * Prints what can stand at the cursor, for the scripts of `opsctl completion`.
 *
 * Shape:     `words <word>…` are the words behind the program's name; `line <line> <word>` is what bash knows: the line
 *            up to the cursor, and what bash takes for the last word. A line each: the word, a tab, what it is; of a
 *            directory only `:directories`.
 * Behaviour: prints nothing when anything is wrong: it runs while a person types.
 */
export async function printOffers([form, ...rest]: readonly string[], now: Date): Promise<void> {
  try {
    const [line = "", seen = ""] = rest;
    const words = form === "line" ? lineWords(line).slice(1) : rest;
    const offers = await complete(words, root, now);
    const known = form === "line" ? knownBefore(words.at(-1) ?? "", seen) : 0;
    writeOut(renderOffers(offers, known));
  } catch {
    // Nothing is offered.
  }
}

/** How much of the typed word bash has behind it already: it breaks words at `=` and `:`. */
function knownBefore(typed: string, seen: string): number {
  return typed.endsWith(seen) ? typed.length - seen.length : 0;
}

function renderOffers(offers: Offers, known: number): string {
  if (offers === "directories") return ":directories\n";
  return offers.map(({ value, about }) => `${value.slice(known)}\t${about}\n`).join("");
}
