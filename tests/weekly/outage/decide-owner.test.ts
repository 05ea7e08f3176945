import { expect, test } from "bun:test";
import { decideOwner, type OwnerFacts } from "../../../lib/weekly/outage/decide-owner.ts";

const FIRST: OwnerFacts = {
  verdicts: [],
  isSecondChance: false,
  hasGood: true,
  isFlowing: true,
  mayDecide: true,
  mayRemember: true,
};
const AWAY = { isFlowing: false };
const AGAIN = { isSecondChance: true };

test.each<[string, Partial<OwnerFacts>, string]>([
  ["no connection at all", {}, "final"],
  ["a good call", { verdicts: ["good"] }, "final"],
  ["good calls, while the application is away", { verdicts: ["good", "good"], ...AWAY }, "final"],
  ["a call that may heal", { verdicts: ["good", "may_heal"] }, "put_back"],
  ["the same, for the second time", { verdicts: ["may_heal"], ...AGAIN }, "final"],
  [
    "the same, while nothing shows that the application works",
    { verdicts: ["may_heal"], ...AGAIN, mayDecide: false },
    "put_back",
  ],
  ["the same, while the application is away", { verdicts: ["may_heal"], ...AGAIN, ...AWAY }, "put_back"],
  ["a lasting failure", { verdicts: ["lasting", "good"] }, "final"],
  ["a lasting failure, while the application is away", { verdicts: ["lasting"], ...AWAY }, "put_back"],
  ["a lasting failure before any good call", { verdicts: ["lasting"], hasGood: false }, "put_back remember"],
  ["the same, for the second time", { verdicts: ["lasting"], hasGood: false, ...AGAIN }, "final"],
  [
    "the same, when enough are remembered",
    { verdicts: ["lasting"], hasGood: false, mayRemember: false },
    "final",
  ],
  [
    "a call that may heal before any good call",
    { verdicts: ["lasting", "may_heal"], hasGood: false },
    "put_back",
  ],
  ["no analysis", { verdicts: ["no_analysis"] }, "final"],
])("decideOwner() of %s", (_name, given, expected) => {
  const decision = decideOwner({ ...FIRST, ...given });
  const remember = decision.status === "put_back" && decision.remember ? " remember" : "";
  expect(decision.status + remember).toBe(expected);
});
