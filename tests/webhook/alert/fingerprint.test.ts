import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import fc from "fast-check";
import { parseAlerts } from "../../../lib/webhook/alert/parse.ts";

/** The fingerprint of an alert as a sender writes it. */
function fingerprintOf(alert: { fingerprint?: unknown; labels: Record<string, string> }): string {
  const parsed = parseAlerts({ alerts: [alert] });
  if (!("alerts" in parsed)) throw new Error("The alert is refused");
  return parsed.alerts[0]!.fingerprint;
}

const md5 = (text: string) => createHash("md5").update(text, "utf8").digest("hex");
const labelled = (labels: Record<string, string>) => fingerprintOf({ labels });
const FALLBACK = md5("A\n" + '{"alertname":"A"}');

describe("parseAlerts() of a sender's fingerprint", () => {
  test.each(["5c1f0e9a77b3d2e4", "x", " a b ", "ação", "😀", "a".repeat(200)])("%p is it", (fingerprint) => {
    expect(fingerprintOf({ fingerprint, labels: { a: "b" } })).toBe(fingerprint);
  });

  test.each(["", " \n\t", null, undefined, 7, true, {}, [["x"]]])(
    "%p is as if there were none",
    (fingerprint) => {
      expect(fingerprintOf({ fingerprint, labels: { alertname: "A" } })).toBe(FALLBACK);
    },
  );

  test.each(["a".repeat(201), "a\u0000", "a\n", "a\uD83D", "\uDE00a"])(
    "%p, which not every store can keep as a key, is as if there were none",
    (fingerprint) => {
      expect(fingerprintOf({ fingerprint, labels: { alertname: "A" } })).toBe(FALLBACK);
    },
  );
});

describe("parseAlerts() makes a fingerprint that", () => {
  test("is the MD5 of name, newline and canonical labels", () => {
    expect(labelled({ severity: "high", alertname: "Disco", é: "1", B: '"' })).toBe(
      md5('Disco\n{"B":"\\"","alertname":"Disco","severity":"high","é":"1"}'),
    );
    expect(labelled({})).toBe(md5("\n{}"));
  });

  test("is that of the reference implementation, in any order of the keys", () => {
    const label = fc.string({ unit: "grapheme" });
    const key = fc.oneof(label, fc.constantFrom("__proto__", "toString", "constructor", "10", "9", "toJSON"));
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(key, label), { selector: ([name]) => name }), (entries) => {
        const labels = Object.fromEntries(entries);
        const expected = md5(
          `${Object.hasOwn(labels, "alertname") ? labels.alertname : ""}\n${canonicalize(labels)}`,
        );
        expect(labelled(labels)).toBe(expected);
        expect(labelled(Object.fromEntries(entries.toReversed()))).toBe(expected);
      }),
    );
  });

  test("changes with any value", () => {
    const text = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(fc.dictionary(text, text, { minKeys: 1 }), text, fc.nat(), (labels, value, pick) => {
        const keys = Object.keys(labels);
        const key = keys[pick % keys.length]!;
        fc.pre(labels[key] !== value);
        expect(labelled({ ...labels, [key]: value })).not.toBe(labelled(labels));
      }),
    );
  });

  test("does not take one pair for another", () => {
    const prints = [
      { a: "bc" },
      { ab: "c" },
      { "a=bc": "" },
      { a: "b", c: "" },
      { a: 'b","c":"' },
      { a: "\uD800" },
      { a: "\uDBFF" },
      { "\uD800": "a" },
      { "\uDBFF": "a" },
    ];
    expect(new Set(prints.map((labels) => labelled(labels as Record<string, string>))).size).toBe(
      prints.length,
    );
  });
});
