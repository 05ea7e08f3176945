/** Every query of every rule, read by the grammars that the platform's own query editors use. */
import { describe, expect, test } from "bun:test";
import { parser as logs } from "@grafana/lezer-logql";
import { parser as metrics } from "@prometheus-io/lezer-promql";
import { alertRules } from "../../lib/alert-rules/rules/all.ts";
import { mistakesOf } from "./support/grammar.ts";

const GRAMMAR = { metrics, logs };

/** What the grammar of the language could not read. */
function mistakes(source: "metrics" | "logs", query: string): string[] {
  return mistakesOf(GRAMMAR[source], query);
}

describe("the query of", () => {
  test.each(alertRules({ withExtras: true }))("$uid is of its language's grammar", ({ source, query }) => {
    expect(mistakes(source, query)).toEqual([]);
  });
});

describe("the grammars find", () => {
  const [load] = alertRules({ withExtras: false });

  test("that a parenthesis or a quotation mark of any rule is missing", () => {
    for (const { uid, source, query } of alertRules({ withExtras: true }))
      for (const [at, mark] of [...query].entries())
        if ("()[]{}\"'".includes(mark))
          expect([uid, at, mistakes(source, query.slice(0, at) + query.slice(at + 1))]).not.toEqual([
            uid,
            at,
            [],
          ]);
  });

  test.each([
    ["metrics", "sum(rate(a[5m])"],
    ["metrics", 'a{b="c"'],
    ["metrics", "a[5q]"],
    ["metrics", "max by instance (a)"],
    ["metrics", `${load!.query} >`],
    ["logs", 'sum(count_over_time({job="auth"} |= "Failed password" [5m])'],
    ["logs", 'sum(count_over_time({job="auth"} | = "Failed password" [5m]))'],
    ["logs", 'sum(count_over_time({job=auth} |= "Failed password" [5m]))'],
    ["logs", 'count_over_time(job="auth" [5m])'],
  ] as const)("a mistake in the %s query %s", (source, query) => {
    expect(mistakes(source, query)).not.toEqual([]);
  });
});
