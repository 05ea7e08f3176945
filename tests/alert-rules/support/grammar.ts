/** What a grammar of the query languages cannot read. */
import type { parser } from "@prometheus-io/lezer-promql";

/** The mistakes that a grammar finds in a query, each with what stands there; nothing of a right one. */
export function mistakesOf(grammar: Pick<typeof parser, "parse">, query: string): string[] {
  const found: string[] = [];
  grammar.parse(query).iterate({
    enter({ type, from, to }) {
      if (type.isError) found.push(`${from}: ${query.slice(from, to)}`);
    },
  });
  return found;
}
