import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { CallVerdict } from "../../../lib/weekly/outage/breaker.ts";
import { decideOwner, type OwnerFacts } from "../../../lib/weekly/outage/decide-owner.ts";

const FIRST: OwnerFacts = {
  verdicts: [],
  isSecondChance: false,
  hasGood: true,
  isFlowing: true,
  mayDecide: true,
  mayRemember: true,
};
const verdicts = fc.array(
  fc.constantFrom<CallVerdict>("good", "may_heal", "refused", "lasting", "no_analysis"),
  { maxLength: 5 },
);
const facts = fc.record({
  verdicts,
  isSecondChance: fc.boolean(),
  hasGood: fc.boolean(),
  isFlowing: fc.boolean(),
  mayDecide: fc.boolean(),
  mayRemember: fc.boolean(),
});

describe("decideOwner()", () => {
  test.each<[string, Partial<OwnerFacts>, string]>([
    ["no connection at all", {}, "final"],
    ["a good call", { verdicts: ["good"] }, "final"],
    ["a call that may heal", { verdicts: ["good", "may_heal"] }, "put_back"],
    ["the same, for the second time", { verdicts: ["may_heal"], isSecondChance: true }, "final"],
    [
      "the same, while nothing shows that the application works",
      { verdicts: ["may_heal"], isSecondChance: true, mayDecide: false },
      "put_back",
    ],
    ["a lasting failure", { verdicts: ["lasting", "good"] }, "final"],
    ["no analysis", { verdicts: ["no_analysis"] }, "final"],
    [
      "a lasting failure before any good call",
      { verdicts: ["lasting"], hasGood: false },
      "put_back remember",
    ],
    [
      "the same, when enough are remembered",
      { verdicts: ["lasting"], hasGood: false, mayRemember: false },
      "final",
    ],
    [
      "a call that may heal before any good call: all of them are asked again",
      { verdicts: ["lasting", "may_heal"], hasGood: false },
      "put_back",
    ],
    [
      "a lasting failure while the application is away",
      { verdicts: ["lasting"], isFlowing: false },
      "put_back",
    ],
    [
      "a second failure while the application is away",
      { verdicts: ["may_heal"], isSecondChance: true, isFlowing: false },
      "put_back",
    ],
  ])("%s", (_name, given, expected) => {
    const decision = decideOwner({ ...FIRST, ...given });
    const remember = decision.status === "put_back" && decision.remember ? " remember" : "";
    expect(decision.status + remember).toBe(expected);
  });

  test("never holds back what is wholly good, nor makes a report while the application is away", () => {
    fc.assert(
      fc.property(facts, (given) => {
        const isGood = given.verdicts.every((verdict) => verdict === "good");
        const { status } = decideOwner(given);
        if (isGood) expect(status).toBe("final");
        else if (!given.isFlowing) expect(status).toBe("put_back");
        else if (given.isSecondChance)
          expect(status).toBe(given.verdicts.includes("may_heal") && !given.mayDecide ? "put_back" : "final");
      }),
    );
  });
});
