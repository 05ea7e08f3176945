/** Waiting that counts only the time in which the process could see an answer. */
import { describe, expect, test } from "bun:test";
import { waitWhileFree } from "../../lib/platform/wait-while-free.ts";

/** Waits in a process in which each turn comes late by so much; returns how long that took, and how many turns. */
async function waitedMs(
  ms: number,
  { lateMs = 0, mostMs = 1_000_000, abortAtMs = Number.POSITIVE_INFINITY },
) {
  const ended = new AbortController();
  let nowMs = 5_000;
  let turns = 0;
  await waitWhileFree(ms, {
    mostMs,
    signal: ended.signal,
    monotonicMs: () => nowMs,
    turn: async (turnMs) => {
      turns += 1;
      nowMs += turnMs + lateMs;
      if (nowMs - 5_000 >= abortAtMs) ended.abort();
    },
  });
  return { took: nowMs - 5_000, turns };
}

describe("waitWhileFree()", () => {
  test("waits as long as it says in a process that is free", async () => {
    expect(await waitedMs(4_000, {})).toEqual({ took: 4_000, turns: 40 });
    expect(await waitedMs(250, {})).toEqual({ took: 250, turns: 3 });
  });

  test("does not count what a turn came late", async () => {
    expect(await waitedMs(4_000, { lateMs: 100 })).toEqual({ took: 8_000, turns: 40 });
  });

  test("ends at its longest time, however late the turns come", async () => {
    expect(await waitedMs(4_000, { lateMs: 900, mostMs: 12_000 })).toEqual({ took: 12_000, turns: 12 });
  });

  test("ends as soon as it is not needed, and does not begin when that is before", async () => {
    expect(await waitedMs(4_000, { abortAtMs: 300 })).toEqual({ took: 300, turns: 3 });
    const signal = AbortSignal.abort();
    await waitWhileFree(4_000, { mostMs: 1, signal, turn: () => Promise.reject(new Error("waited")) });
  });

  test("waits with the timers of the process, and throws nothing when it is ended", async () => {
    const ended = new AbortController();
    const waiting = waitWhileFree(3_600_000, { mostMs: 3_600_000, signal: ended.signal });
    ended.abort();
    expect(await waiting).toBeUndefined();
    expect(await waitWhileFree(1, { mostMs: 1_000, signal: new AbortController().signal })).toBeUndefined();
  });
});
