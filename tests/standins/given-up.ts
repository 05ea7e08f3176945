/** Calls to a peer that gives no answer: they are given up when the peer has them, not when a limit has passed. */
import { spyOn } from "bun:test";
import { until } from "../support/until.ts";
import type { Scripted } from "./standin.ts";

/** No other timer has it. It is also that of a question for which a client takes at most five seconds. */
const LIMIT_MS = 4_999;
const NEVER_MS = 3_600_000;

/** Makes a call: with its usual limit, or as `givenUp` does where the peer leaves it unanswered. */
export async function endOf<Result>(
  peer: { unanswered: number },
  scripted: Scripted,
  call: (limitMs?: number) => Promise<Result>,
): Promise<Result> {
  const fault = typeof scripted === "object" && "accept" in scripted ? scripted.accept : scripted;
  return fault === "hang" || fault === "stall_body" ? await givenUp(peer, call) : await call();
}

let turn: Promise<unknown> = Promise.resolve();

/**
 * Makes a call with a time limit that passes once the peer leaves it unanswered, and no sooner.
 *
 * Behaviour: the newest limit passes, once; those that the call sets afterwards, for other questions, do not. Only one
 *            such call is under way in this process; the next ones wait for its end.
 */
export function givenUp<Result>(
  peer: { unanswered: number },
  call: (limitMs: number) => Promise<Result>,
): Promise<Result> {
  const result = turn.then(() => callAndGiveUp(peer, call));
  turn = result.catch(() => {});
  return result;
}

async function callAndGiveUp<Result>(
  peer: { unanswered: number },
  call: (limitMs: number) => Promise<Result>,
): Promise<Result> {
  const before = peer.unanswered;
  const real = globalThis.setTimeout;
  let pass = () => {};
  const timers = spyOn(globalThis, "setTimeout").mockImplementation(((
    work: (...given: unknown[]) => void,
    ms?: number,
    ...given: unknown[]
  ) => {
    if (ms !== LIMIT_MS) return real(work, ms, ...given);
    pass = () => work(...given);
    return real(work, NEVER_MS, ...given);
  }) as typeof setTimeout);
  try {
    let hasEnded = false;
    const ending = call(LIMIT_MS).finally(() => {
      hasEnded = true;
    });
    await until("the peer has the call", () => hasEnded || peer.unanswered > before);
    if (!hasEnded) pass();
    return await ending;
  } finally {
    timers.mockRestore();
  }
}
