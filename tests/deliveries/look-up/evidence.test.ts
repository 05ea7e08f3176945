import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { decideEvidence, type Evidence } from "../../../lib/deliveries/look-up/evidence.ts";

const DISPATCHED = Date.parse("2026-11-23T11:00:00.750Z");
const doubt = { id: "one", dispatchedAtMs: DISPATCHED };
const NOBODY = new Map<string, string>();
const message = (id: string, sentAtMs = DISPATCHED): Evidence => ({ id, sentAtMs, providerStatus: null });

describe("decideEvidence()", () => {
  test("needs something, and knows the same message twice for one", () => {
    expect(decideEvidence([], doubt, NOBODY)).toEqual({ status: "not_found" });
    expect(decideEvidence([message("a"), message("a")], doubt, NOBODY)).toMatchObject({ status: "found" });
    expect(decideEvidence([message("a"), message("b")], doubt, NOBODY)).toEqual({
      status: "not_unique",
      code: "evidence_several",
    });
  });

  test("leaves out what another delivery holds, and not what this one holds by now", () => {
    const found = [message("a"), message("b")];
    expect(decideEvidence(found, doubt, new Map([["a", "two"]]))).toMatchObject({ evidence: { id: "b" } });
    expect(decideEvidence([message("a")], doubt, new Map([["a", "one"]]))).toMatchObject({ status: "found" });
    const allHeld = new Map([
      ["a", "two"],
      ["b", "three"],
    ]);
    expect(decideEvidence(found, doubt, allHeld)).toEqual({
      status: "not_unique",
      code: "evidence_of_another_delivery",
    });
  });

  test("counts whole seconds, and lets the clocks differ by two of them", () => {
    const verdictAt = (sentAtMs: number) => decideEvidence([message("a", sentAtMs)], doubt, NOBODY).status;
    const second = Date.parse("2026-11-23T11:00:00Z");
    expect([verdictAt(second), verdictAt(second - 2_000), verdictAt(second - 2_001)]).toEqual([
      "found",
      "found",
      "not_unique",
    ]);
    expect([verdictAt(DISPATCHED + 600_000), verdictAt(DISPATCHED + 600_001)]).toEqual([
      "found",
      "not_unique",
    ]);
  });

  test("of anything that is found, is sure of one message only when there is no second that it could be", () => {
    const id = fc.constantFrom<string[]>("a", "b", "c", "d");
    const evidence = fc.record({
      id,
      sentAtMs: fc.integer({ min: DISPATCHED - 20 * 60_000, max: DISPATCHED + 70 * 60_000 }),
      providerStatus: fc.constant(null),
    });
    const holders = fc
      .dictionary(id, fc.constantFrom("one", "two"))
      .map((held) => new Map<string, string>(Object.entries(held)));
    fc.assert(
      fc.property(fc.array(evidence), holders, (found, held) => {
        const verdict = decideEvidence(found, doubt, held);
        const own = found.filter(
          ({ id, sentAtMs }) =>
            held.get(id) !== "two" && sentAtMs >= DISPATCHED - 2_750 && sentAtMs <= DISPATCHED + 600_000,
        );
        const isOne = new Set(own.map((one) => one.id)).size === 1;
        expect(verdict.status === "found").toBe(isOne);
        if (verdict.status === "found") expect(own.map((one) => one.id)).toContain(verdict.evidence.id);
        expect(verdict.status === "not_found").toBe(found.length === 0);
      }),
    );
  });
});
