import { describe, expect, spyOn, test } from "bun:test";
import { unlessLate, waitAtMost, withTimeLimit } from "../../lib/platform/time-limit.ts";

/** Long enough never to pass while a test runs, and no other timer has it. */
const FOREVER_MS = 3_599_777;
/** Passes at once, and no other timer has it. */
const SHORT_MS = 1.625;

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/**
 * Runs `use` and returns how many timers of `limitMs` it left behind, and how many listeners on `caller`.
 *
 * Other timers are not counted: those of files that ran in this process before may begin meanwhile.
 */
async function leftBehind(
  caller: AbortController,
  limitMs: number,
  use: () => Promise<unknown>,
): Promise<number[]> {
  const [begun, cleared] = [spyOn(globalThis, "setTimeout"), spyOn(globalThis, "clearTimeout")];
  const [added, removed] = [
    spyOn(caller.signal, "addEventListener"),
    spyOn(caller.signal, "removeEventListener"),
  ];
  try {
    await use().catch(() => {});
    const timers = begun.mock.results.filter((_, at) => begun.mock.calls[at]?.[1] === limitMs);
    const left = timers.filter(({ value }) => !cleared.mock.calls.some(([one]) => one === value));
    expect(timers).toHaveLength(1);
    expect(added).toHaveBeenCalled();
    const stays = added.mock.calls.filter(([, on]) => !removed.mock.calls.some(([, off]) => off === on));
    return [left.length, stays.length];
  } finally {
    begun.mockRestore();
    cleared.mockRestore();
  }
}

describe("withTimeLimit()", () => {
  test("returns what the work returns, and the limit has no cause", async () => {
    let cause: () => unknown = () => undefined;
    const work = withTimeLimit({ limitMs: FOREVER_MS }, async (limit) => {
      cause = limit.cause;
      expect(limit.signal.aborted).toBe(false);
      return 42;
    });
    expect(await work).toBe(42);
    expect(cause()).toBeNull();
  });

  test("aborts the signal when the time has passed, not before, and waits for the work's end", async () => {
    const startedMs = performance.now();
    const end = await withTimeLimit({ limitMs: 50 }, async ({ signal, cause }) => {
      await aborted(signal);
      return { cause: cause(), tookMs: performance.now() - startedMs };
    });
    expect(end.cause).toBe("timeout");
    // A timer may fire within the millisecond before its time.
    expect(end.tookMs).toBeGreaterThanOrEqual(49);
  });

  test("aborts the signal with the caller's, and names that cause", async () => {
    const caller = new AbortController();
    const cause = withTimeLimit({ limitMs: FOREVER_MS, signal: caller.signal }, async (limit) => {
      await aborted(limit.signal);
      return limit.cause();
    });
    caller.abort();
    expect(await cause).toBe("aborted");
  });

  test("a caller that has aborted already: the work begins with an aborted signal", async () => {
    const limit = { limitMs: FOREVER_MS, signal: AbortSignal.abort() };
    const found = await withTimeLimit(limit, async ({ signal, cause }) => [signal.aborted, cause()]);
    expect(found).toEqual([true, "aborted"]);
  });

  test("the first cause stays", async () => {
    const caller = new AbortController();
    const causes = await withTimeLimit({ limitMs: 1, signal: caller.signal }, async ({ signal, cause }) => {
      await aborted(signal);
      caller.abort();
      return cause();
    });
    expect(causes).toBe("timeout");
  });

  test("aborts the signal once the work has ended, without a cause", async () => {
    const { signal, cause } = await withTimeLimit({ limitMs: FOREVER_MS }, async (limit) => limit);
    expect([signal.aborted, cause()]).toEqual([true, null]);
  });

  test("does not abort the signal of work that left nothing open", async () => {
    const { signal } = await withTimeLimit({ limitMs: FOREVER_MS }, async (limit) => {
      limit.leaveNothing();
      return limit;
    });
    expect(signal.aborted).toBe(false);
  });

  test.each([
    ["returns", async () => 1],
    ["throws", () => Promise.reject(new Error("no"))],
  ])("leaves neither timer nor listener when the work %s", async (_how, work) => {
    const caller = new AbortController();
    const use = () => withTimeLimit<unknown>({ limitMs: FOREVER_MS, signal: caller.signal }, work);
    expect(await leftBehind(caller, FOREVER_MS, use)).toEqual([0, 0]);
  });
});

describe("unlessLate()", () => {
  const never = () => new Promise<never>(() => {});

  test("returns what the work returns in time, and throws what it throws", async () => {
    const late = () => "late" as const;
    const limit = { limitMs: FOREVER_MS };
    expect(await unlessLate(limit, async () => 42, late)).toBe(42);
    const failing = unlessLate(limit, () => Promise.reject(new Error("broken")), late);
    await expect(failing).rejects.toThrow("broken");
  });

  test("returns what `late` returns for work without an end, and throws what it throws", async () => {
    expect(await unlessLate({ limitMs: 1 }, never, (cause) => cause)).toBe("timeout");
    const failing = unlessLate({ limitMs: 1 }, never, () => {
      throw new Error("too late");
    });
    await expect(failing).rejects.toThrow("too late");
  });

  test("ends with the caller's signal, and begins nothing when that is aborted already", async () => {
    const caller = new AbortController();
    const limit = { limitMs: FOREVER_MS, signal: caller.signal };
    const waiting = unlessLate(limit, never, (cause) => cause);
    caller.abort();
    expect(await waiting).toBe("aborted");
    let begun = 0;
    const work = async () => {
      begun += 1;
    };
    expect(await unlessLate(limit, work, (cause) => cause)).toBe("aborted");
    expect(begun).toBe(0);
  });

  test("`late` is the result though the work ends the moment it hears of it", async () => {
    const work = (signal: AbortSignal) => aborted(signal).then(() => "stopped" as const);
    expect(await unlessLate({ limitMs: 1 }, work, () => "late" as const)).toBe("late");
  });

  test("`late` is not called for work that ended in time", async () => {
    let calls = 0;
    await unlessLate(
      { limitMs: FOREVER_MS },
      async () => 1,
      () => (calls += 1),
    );
    expect(calls).toBe(0);
  });

  test("work that fails after its limit is no unhandled rejection", async () => {
    let fail: (error: Error) => void = () => {};
    const work = () => new Promise<never>((_, reject) => (fail = reject));
    expect(await unlessLate({ limitMs: 1 }, work, () => "late")).toBe("late");
    fail(new Error("afterwards"));
    await new Promise((resolve) => setImmediate(resolve));
  });

  test.each([
    ["in time", async () => 1, FOREVER_MS],
    ["late", never, SHORT_MS],
  ])("leaves neither timer nor listener: %s", async (_when, work, limitMs) => {
    const caller = new AbortController();
    const use = () => unlessLate<unknown, unknown>({ limitMs, signal: caller.signal }, work, () => null);
    expect(await leftBehind(caller, limitMs, use)).toEqual([0, 0]);
  });
});

describe("waitAtMost()", () => {
  const never = () => new Promise<never>(() => {});

  test("returns what the work returns in time, else what `late` returns", async () => {
    expect(
      await waitAtMost(
        { limitMs: FOREVER_MS },
        async () => 42,
        () => "late",
      ),
    ).toBe(42);
    expect(await waitAtMost({ limitMs: 1 }, never, (cause) => cause)).toBe("timeout");
  });

  test("ends with the caller's signal, and leaves neither timer nor listener", async () => {
    const caller = new AbortController();
    const waiting = waitAtMost({ limitMs: FOREVER_MS, signal: caller.signal }, never, (cause) => cause);
    caller.abort();
    expect(await waiting).toBe("aborted");
    const other = new AbortController();
    const use = () =>
      waitAtMost<unknown, unknown>({ limitMs: SHORT_MS, signal: other.signal }, never, () => null);
    expect(await leftBehind(other, SHORT_MS, use)).toEqual([0, 0]);
  });
});
