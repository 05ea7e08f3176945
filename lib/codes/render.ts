import { wrapText } from "../text/wrap.ts";
import type { Explanation } from "./explain.ts";

/** What the tables say about a code, for people: a part for each row, in lines of at most `width` characters. */
export function renderExplanations(
  code: string,
  explanations: readonly Explanation[],
  width: number,
): string {
  const parts = explanations.map(({ section, codes, meaning }) => {
    const others = codes.filter((other) => other !== code);
    const together = others.length === 0 ? [] : wrapText(`  The same: ${others.join(", ")}`, width, "  ");
    return [
      ...wrapText(`${code}: ${section}`, width),
      ...wrapText(`  ${sentence(meaning)}`, width, "  "),
      ...together,
    ];
  });
  return `${parts.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

/** A cell of a table, which begins with a small letter where it is no name. */
function sentence(meaning: string): string {
  return `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}${/[.!?)]$/.test(meaning) ? "" : "."}`;
}
