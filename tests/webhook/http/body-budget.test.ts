import { describe, expect, test } from "bun:test";
import { BodyBudget } from "../../../lib/webhook/http/body-budget.ts";

const LONG_MS = 60_000;

/** What has entered so far, by name. */
function address(room: BodyBudget) {
  const inside: string[] = [];
  const leaves = new Map<string, () => void>();
  const enter = async (name: string, bytes: number, waitMs = LONG_MS) => {
    const leave = await room.enter(bytes, waitMs);
    if (leave === null) return false;
    inside.push(name);
    leaves.set(name, leave);
    return true;
  };
  return { inside, enter, leave: (name: string) => leaves.get(name)!() };
}

describe("ByteRoom", () => {
  test("lets in what fits, and the rest in order as others leave", async () => {
    const { inside, enter, leave } = address(new BodyBudget(10));
    await enter("a", 6);
    const b = enter("b", 6);
    const c = enter("c", 4);
    expect(inside).toEqual(["a"]);
    leave("a");
    await Promise.all([b, c]);
    expect(inside).toEqual(["a", "b", "c"]);
  });

  test("lets in what is larger than itself when it is empty, and nothing beside it", async () => {
    const { inside, enter, leave } = address(new BodyBudget(10));
    await enter("huge", 50);
    const next = enter("next", 1);
    expect(inside).toEqual(["huge"]);
    leave("huge");
    await next;
    expect(inside).toEqual(["huge", "next"]);
  });

  test("gives up on whoever waited too long, who then blocks nobody", async () => {
    const { inside, enter, leave } = address(new BodyBudget(10));
    await enter("a", 8);
    const late = enter("late", 8, 1);
    const small = enter("small", 2);
    expect(await late).toBe(false);
    await small;
    expect(inside).toEqual(["a", "small"]);
    leave("a");
    leave("a");
    expect(await enter("b", 8)).toBe(true);
    expect(await enter("c", 1, 1)).toBe(false);
  });
});
