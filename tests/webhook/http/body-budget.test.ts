import { describe, expect, test } from "bun:test";
import { BodyBudget } from "../../../lib/webhook/http/body-budget.ts";

const LONG_MS = 60_000;

/** A budget whose requests have names; `admitted` has those admitted so far. */
function named(budget: BodyBudget) {
  const admitted: string[] = [];
  const releases = new Map<string, () => void>();
  const reserve = async (name: string, bytes: number, waitMs = LONG_MS) => {
    const release = await budget.reserve(bytes, waitMs);
    if (release === null) return false;
    admitted.push(name);
    releases.set(name, release);
    return true;
  };
  return { admitted, reserve, release: (name: string) => releases.get(name)!() };
}

describe("BodyBudget", () => {
  test("admits what fits, and the rest in order as bytes are released", async () => {
    const { admitted, reserve, release } = named(new BodyBudget(10));
    await reserve("a", 6);
    const b = reserve("b", 6);
    const c = reserve("c", 4);
    expect(admitted).toEqual(["a"]);
    release("a");
    await Promise.all([b, c]);
    expect(admitted).toEqual(["a", "b", "c"]);
  });

  test("admits what is larger than itself when nothing is held, and nothing beside it", async () => {
    const { admitted, reserve, release } = named(new BodyBudget(10));
    await reserve("huge", 50);
    const next = reserve("next", 1);
    expect(admitted).toEqual(["huge"]);
    release("huge");
    await next;
    expect(admitted).toEqual(["huge", "next"]);
  });

  test("gives up a request that waited too long, which then blocks no other", async () => {
    const { admitted, reserve, release } = named(new BodyBudget(10));
    await reserve("a", 8);
    const late = reserve("late", 8, 1);
    const small = reserve("small", 2);
    expect(await late).toBe(false);
    await small;
    expect(admitted).toEqual(["a", "small"]);
    release("a");
    release("a");
    expect(await reserve("b", 8)).toBe(true);
    expect(await reserve("c", 1, 1)).toBe(false);
  });
});
