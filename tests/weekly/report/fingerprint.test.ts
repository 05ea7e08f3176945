import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import type { AnalysisEvidence, Evidence } from "../../../lib/weekly/report/evidence.ts";
import { fingerprint } from "../../../lib/weekly/report/fingerprint.ts";

const EMPTY: Evidence = { score: { value: null, previous: null }, analyses: [], email: null };

function withAnalysis(parts: Partial<AnalysisEvidence>): Evidence {
  const analysis: AnalysisEvidence = {
    connectionId: "00000000-0000-4000-8000-000000000001",
    channel: "instagram",
    coverageStatus: "complete",
    reason: null,
    metrics: {},
    insights: [],
    evidence: [],
    triggers: [],
    ...parts,
  };
  return { ...EMPTY, analyses: [analysis] };
}

const metricsText = (metrics: AnalysisEvidence["metrics"]) =>
  /"metrics":(\{.*?\})/s.exec(fingerprint(withAnalysis({ metrics })).text)![1];

describe("fingerprint()", () => {
  test("the fingerprint of an empty week is known", () => {
    const text = '{"analyses":[],"email":null,"score":{"previous":null,"value":null}}';
    const sha256 = "5c284ca69e2e4749b2147d6308fdeda1cf462dfedbc868dc8b7cc59fca576774";
    expect(fingerprint(EMPTY).text).toBe(text);
    expect(fingerprint(EMPTY).sha256).toBe(createHash("sha256").update(text).digest("hex"));
    expect(fingerprint(EMPTY).sha256).toBe(sha256);
  });

  // RFC 8785, appendix B, and section 3.2.2.3.
  test.each([
    [0, "0"],
    [-0, "0"],
    [5e-324, "5e-324"],
    [-5e-324, "-5e-324"],
    [Number.MAX_VALUE, "1.7976931348623157e+308"],
    [9007199254740992, "9007199254740992"],
    [295147905179352830000, "295147905179352830000"],
    [9.999999999999997e22, "9.999999999999997e+22"],
    [1e23, "1e+23"],
    [1.0000000000000001e23, "1.0000000000000001e+23"],
    [999999999999999700000, "999999999999999700000"],
    [1e21, "1e+21"],
    [1e-7, "1e-7"],
    [9.999999999999997e-7, "9.999999999999997e-7"],
    [0.000001, "0.000001"],
    [333333333.3333332, "333333333.3333332"],
    [333333333.33333325, "333333333.33333325"],
    [-0.0000033333333333333333, "-0.0000033333333333333333"],
    [1424953923781206.2, "1424953923781206.2"],
    [4.5, "4.5"],
    [2e-3, "0.002"],
  ])("writes the number %p as %s", (value, written) => {
    expect(metricsText({ n: value })).toBe(`{"n":${written}}`);
  });

  test("orders keys by UTF-16 units, as section 3.2.3 shows", () => {
    const keys = ["\u20ac", "\r", "\ufb33", "1", "\ud83d\ude00", "\u0080", "\u00f6"];
    const expected = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\ud83d\ude00", "\ufb33"];
    const written = metricsText(Object.fromEntries(keys.map((key, i) => [key, i])))!;
    expect([...written.matchAll(/"((?:[^"\\]|\\.)*)":/g)].map(([, key]) => JSON.parse(`"${key}"`))).toEqual(
      expected,
    );
  });

  test("escapes what has to be escaped and nothing else", () => {
    const reason = "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"/\u007f\u2028<é";
    const { text } = fingerprint(withAnalysis({ reason }));
    expect(text).toContain(`"reason":"\u20ac$\\u000f\\nA'B\\"\\\\\\\\\\"/\u007f\u2028<é"`);
  });

  test("hashes the UTF-8 bytes of its text", () => {
    const { text, sha256 } = fingerprint(withAnalysis({ reason: "ação 😀" }));
    expect(createHash("sha256").update(new TextEncoder().encode(text)).digest("hex")).toBe(sha256);
  });

  test.each([
    ["a lone surrogate", { reason: "\uD83D" }],
    ["infinity", { metrics: { n: Infinity } }],
    ["no number", { metrics: { n: Number.NaN } }],
  ])("refuses %s instead of writing something else", (_what, parts) => {
    expect(() => fingerprint(withAnalysis(parts))).toThrow(/surrogate|Infinity|NaN/i);
  });
});

const json = fc.jsonValue({ maxDepth: 4 });
const metrics = fc.dictionary(
  fc.string({ unit: "grapheme" }),
  fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
  {
    noNullPrototype: true,
  },
);
const evidence = fc.record({ metrics, evidence: fc.array(json), triggers: fc.array(json) }).map(withAnalysis);

/** The same value with every object's keys in the opposite order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).toReversed();
  const result = Object.create(null) as Record<string, unknown>;
  for (const [key, item] of entries) result[key] = turned(item);
  return result;
}

test("any evidence gives the same fingerprint whatever the order of its keys, and can be read back from its text", () => {
  fc.assert(
    fc.property(evidence, (value) => {
      const { text, sha256 } = fingerprint(value);
      expect(fingerprint(turned(value) as Evidence)).toEqual({ text, sha256 });
      expect(fingerprint(JSON.parse(text)).text).toBe(text);
      expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    }),
    { numRuns: 500 },
  );
});
