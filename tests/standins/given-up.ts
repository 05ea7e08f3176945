/** Calls to a peer that gives no answer: they are given up once the peer has them. */
import type { Scripted } from "./standin.ts";

/** The first limit is long enough on a machine that is not busy; a call that has not arrived by then is made again. */
const LIMITS_MS = [100, 1_000, 10_000];

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
 * Makes a call with a short time limit, and again with a longer one when the peer had not got it by then.
 *
 * Behaviour: only one such call is under way in this process; the next ones wait for its end.
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
  for (const limitMs of LIMITS_MS) {
    const before = peer.unanswered;
    const [ended] = await Promise.allSettled([call(limitMs)]);
    if (peer.unanswered === before) continue;
    if (ended.status === "rejected") throw ended.reason;
    return ended.value;
  }
  throw new Error("The peer has never got the call");
}
