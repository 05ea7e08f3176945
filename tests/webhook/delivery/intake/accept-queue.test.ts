import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { AcceptQueue, type BatchLimits } from "../../../../lib/webhook/delivery/intake/accept-queue.ts";
import type { State } from "../../../../lib/webhook/state/contract.ts";
import { resolvedAlert } from "../../support/sample-alert.ts";

const request = (alerts: number) => Array.from({ length: alerts }, () => resolvedAlert());

/** A queue, and how many alerts each request of each commit had. */
function queueThatTells(limits: Partial<BatchLimits> = {}) {
  const commits: number[][] = [];
  const accept: State["accept"] = async (requests) => {
    commits.push(requests.map(({ length }) => length));
    return requests.map(() => ({ accepted: [] }));
  };
  return { commits, queue: new AcceptQueue(accept, { requests: 3, alerts: 10, turnsBefore: 0, ...limits }) };
}

describe("AcceptQueue", () => {
  test.each([
    ["as many requests as it may", [1, 1, 1, 1], [[1, 1, 1], [1]]],
    ["as many alerts as it may", [4, 6, 1], [[4, 6], [1]]],
    ["a request above the limit by itself", [4, 11, 1], [[4], [11], [1]]],
    ["one above the limit that comes first", [11, 1], [[11], [1]]],
  ])("commits together %s", async (_what, sizes, commits) => {
    const tells = queueThatTells();
    await Promise.all(sizes.map((size) => tells.queue.add(request(size))));
    expect(tells.commits).toEqual(commits);
  });

  test("keeps the order, and commits each request once, whatever their sizes", async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 14 }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(sizes, async (given) => {
        const { queue, commits } = queueThatTells();
        await Promise.all(given.map((size) => queue.add(request(size))));
        expect(commits.flat()).toEqual(given);
        for (const commit of commits) {
          const alerts = commit.reduce((sum, size) => sum + size, 0);
          expect(commit.length <= 3 && (alerts <= 10 || commit.length === 1)).toBe(true);
        }
        expect(queue.waiting).toBe(0);
      }),
    );
  });

  test("gives others so many turns before each commit", async () => {
    const { queue, commits } = queueThatTells({ requests: 1, turnsBefore: 5 });
    const turns: number[] = [];
    let turn = 0;
    let isOver = false;
    const counting = (async () => {
      for (; !isOver; turn += 1) {
        if (commits.length > turns.length) turns.push(turn);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    await Promise.all([queue.add(request(1)), queue.add(request(2))]);
    isOver = true;
    await counting;
    expect(commits).toEqual([[1], [2]]);
    expect(turn).toBeGreaterThanOrEqual(10);
  });

  test("is idle when everything is committed", async () => {
    const { queue, commits } = queueThatTells();
    await queue.idle();
    void queue.add(request(1));
    await queue.idle();
    expect(commits).toEqual([[1]]);
  });
});
