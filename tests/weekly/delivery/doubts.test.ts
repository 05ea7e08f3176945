import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createDoubts } from "../../../lib/weekly/delivery/doubts.ts";

const never = new AbortController().signal;

describe("createDoubts()", () => {
  test("lets in as many as may end in doubt, and the next when one has ended", async () => {
    const doubts = createDoubts(2);
    const releases = [await doubts.enter(never), await doubts.enter(never)];
    expect(doubts.tryEnter()).toBeNull();
    let isIn = false;
    const third = doubts.enter(never).then((release) => {
      isIn = true;
      return release;
    });
    await Promise.resolve();
    expect(isIn).toBe(false);
    releases[0]!();
    releases[0]!();
    await third;
    expect(doubts.tryEnter()).toBeNull();
  });

  test("a doubt takes its place for good, until a clear answer gives all of them back", async () => {
    const doubts = createDoubts(2);
    const first = await doubts.enter(never);
    doubts.add();
    first();
    const second = doubts.tryEnter()!;
    expect(doubts.tryEnter()).toBeNull();
    doubts.clear();
    second();
    expect([doubts.tryEnter(), doubts.tryEnter()]).not.toContain(null);
  });

  test("who waits is told when the channel stops", async () => {
    const doubts = createDoubts(1);
    const stop = new AbortController();
    doubts.tryEnter();
    const waiting = doubts.enter(stop.signal);
    stop.abort(new Error("stopped"));
    await expect(waiting).rejects.toThrow("stopped");
    await expect(doubts.enter(stop.signal)).rejects.toThrow("stopped");
  });

  test("whatever ends how, and in which order: never more doubts in a row than the limit", async () => {
    const outcome = fc.constantFrom("doubt", "doubt", "doubt", "sent", "before_send");
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ outcome, turns: fc.nat(4) }), { maxLength: 60 }),
        async (sends) => {
          const doubts = createDoubts(10);
          const stop = new AbortController();
          let most = 0;
          const send = async ({ outcome, turns }: { outcome: string; turns: number }) => {
            const release = await doubts.enter(stop.signal);
            for (let i = 0; i < turns; i += 1) await Promise.resolve();
            if (outcome === "doubt") doubts.add();
            else if (outcome === "sent") doubts.clear();
            most = Math.max(most, doubts.inARow);
            if (doubts.isSpent()) stop.abort();
            release();
          };
          const ended = await Promise.allSettled(sends.map(send));
          expect(most).toBeLessThanOrEqual(10);
          if (!stop.signal.aborted) expect(ended.every(({ status }) => status === "fulfilled")).toBe(true);
        },
      ),
    );
  });
});
