import { describe, expect, test } from "bun:test";
import type { LookUp } from "../../../../lib/webhook/delivery/attempts/attempt.ts";
import { FreshDoubts } from "../../../../lib/webhook/delivery/sending/fresh-doubts.ts";

const LOOK_UP: LookUp = () => Promise.resolve({ status: "not_found" });
const BEGUN = { id: 1, isUnsettled: true };

function opened(lookUp: LookUp | null) {
  let clockMs = 0;
  const doubts = new FreshDoubts({ lookUp, monotonicMs: () => clockMs });
  return { doubts, pass: (ms: number) => (clockMs += ms) };
}

describe("FreshDoubts", () => {
  test("an attempt of an earlier process waits for five seconds, counted from when this one delivers", () => {
    const { doubts, pass } = opened(LOOK_UP);
    pass(60_000);
    doubts.begin();
    pass(4_999);
    expect([doubts.keepsWaiting(BEGUN), doubts.waiting]).toEqual([true, [1]]);
    pass(1);
    expect([doubts.keepsWaiting(BEGUN), doubts.waiting]).toEqual([false, []]);
  });

  test("a row whose attempts have all ended does not wait", () => {
    const { doubts } = opened(LOOK_UP);
    expect([doubts.keepsWaiting({ ...BEGUN, isUnsettled: false }), doubts.waiting]).toEqual([false, []]);
  });

  test("nor does one of a peer that knows a repetition by its id", () => {
    const { doubts } = opened(null);
    expect([doubts.keepsWaiting(BEGUN), doubts.waiting]).toEqual([false, []]);
  });
});
