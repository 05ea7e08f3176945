import { describe, expect, test } from "bun:test";
import { BodyBudget } from "../../../lib/webhook/http/body-budget.ts";

const LONG_MS = 60_000;

/** A budget whose requests have names; `admitted` has those admitted so far. */
function named(budget: BodyBudget) {
  const admitted: string[] = [];
  const reserve = async (name: string, bytes: number, waitMs = LONG_MS) => {
    const isAdmitted = await budget.reserve(bytes, waitMs);
    if (isAdmitted) admitted.push(name);
    return isAdmitted;
  };
  return { admitted, reserve, release: (bytes: number) => budget.release(bytes) };
}

describe("BodyBudget", () => {
  test("admits what fits, and the rest in order as bytes are released", async () => {
    const { admitted, reserve, release } = named(new BodyBudget(10));
    await reserve("a", 6);
    const b = reserve("b", 6);
    const c = reserve("c", 4);
    expect(admitted).toEqual(["a"]);
    release(6);
    await Promise.all([b, c]);
    expect(admitted).toEqual(["a", "b", "c"]);
  });

  test("gives up a request that waited too long, which then blocks no other", async () => {
    const { admitted, reserve, release } = named(new BodyBudget(10));
    await reserve("a", 8);
    const late = reserve("late", 8, 1);
    const small = reserve("small", 2);
    expect(await late).toBe(false);
    await small;
    expect(admitted).toEqual(["a", "small"]);
    release(8);
    expect(await reserve("b", 8)).toBe(true);
    expect(await reserve("c", 1, 1)).toBe(false);
  });
});
