import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type MetricFamily, renderMetrics } from "../../lib/text/prometheus-text.ts";
import { parsePrometheus } from "./support/prometheus-parser.ts";

const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom("\\", "\n", '"', "{", "}", ",", "=", " ", "é", "🙂", "\ud800"),
    fc.string({ minLength: 1, maxLength: 1 }),
  ),
});
const name = fc.stringMatching(/^[a-z_][a-z0-9_]{0,8}$/).filter((label) => label !== "__proto__");
const family: fc.Arbitrary<MetricFamily> = fc.record({
  name,
  help: text,
  type: fc.constantFrom("counter" as const, "gauge" as const),
  samples: fc.array(
    fc.record({
      value: fc.oneof(fc.double(), fc.integer()),
      labels: fc.dictionary(name, text, { noNullPrototype: true }),
    }),
    { maxLength: 5 },
  ),
});

describe("renderMetrics()", () => {
  test("writes what a strict reader reads back as it was", () => {
    const families = fc.uniqueArray(family, { selector: ({ name }) => name, maxLength: 5 });
    fc.assert(
      fc.property(families, (written) => {
        const expected = written.map(({ name, help, type, samples }) => ({
          name,
          help: help.toWellFormed(),
          type,
          samples: samples.map(({ value, labels = {} }) => ({
            name,
            labels: Object.fromEntries(
              Object.entries(labels).map(([key, label]) => [key, label.toWellFormed()]),
            ),
            value: value + 0,
          })),
        }));
        expect(parsePrometheus(renderMetrics(written))).toEqual(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  test("writes HELP and TYPE once, escapes, and words its numbers as the format does", () => {
    const samples = [NaN, Infinity, -Infinity, -0, 42, 0.1, 1e21].map((value, at) => ({
      value,
      labels: { at: `${at}` },
    }));
    expect(renderMetrics([{ name: "a", help: 'x\\y\n"z"', type: "gauge", samples }])).toBe(
      '# HELP a x\\\\y\\n"z"\n# TYPE a gauge\na{at="0"} NaN\na{at="1"} +Inf\na{at="2"} -Inf\na{at="3"} 0\n' +
        'a{at="4"} 42\na{at="5"} 0.1\na{at="6"} 1e+21\n',
    );
    expect(
      renderMetrics([
        { name: "a", help: "b", type: "counter", samples: [{ value: 1, labels: { c: 'd\\\n"' } }] },
      ]),
    ).toEndWith('a{c="d\\\\\\n\\""} 1\n');
    expect(renderMetrics([])).toBe("");
  });
});
