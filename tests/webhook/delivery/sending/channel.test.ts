import { describe, expect, test } from "bun:test";
import type { AttemptResult, Retry } from "../../../../lib/webhook/delivery/attempts/attempt.ts";
import { Channel } from "../../../../lib/webhook/delivery/sending/channel.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { retry } from "../../support/retry.ts";

const AWAY = retry("gateway_unreachable", { peerDown: true });
const OF_ONE: Retry = { ...AWAY, code: "recipient_not_on_whatsapp", peerDown: false };
const REFUSED: Retry = { ...AWAY, code: "gateway_unauthorized", stopsChannel: true };
const DELIVERED: AttemptResult = { status: "delivered", reference: "id", url: null };

/** A channel whose pauses are the longest that chance allows. */
function opened(nowMs = 1_000) {
  let clockMs = nowMs;
  const channel = new Channel({
    kind: "message",
    log: silentLog,
    monotonicMs: () => clockMs,
    random: () => 1,
  });
  /** How long it pauses from now on; afterwards the pause is over. */
  const pause = () => {
    const sinceMs = clockMs;
    while (channel.isPaused) clockMs += 500;
    return clockMs - sinceMs;
  };
  const observe = (...results: AttemptResult[]) => {
    for (const result of results) channel.observe(result);
  };
  return { channel, observe, pause, pass: (ms: number) => (clockMs += ms) };
}

describe("Channel", () => {
  test("is open since it began", () => {
    expect(opened(7_000).channel.openSinceMs).toBe(7_000);
  });

  test("pauses from the third failure in a row on, each time for longer, up to half a minute", () => {
    const { channel, observe, pause } = opened();
    const seen = Array.from({ length: 9 }, () => {
      observe(AWAY);
      return [channel.isProbing, pause()];
    });
    expect(seen.slice(0, 2)).toEqual([
      [false, 0],
      [false, 0],
    ]);
    expect(seen.slice(2).map(([, ms]) => ms)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(seen.slice(2).every(([isProbing]) => isProbing)).toBe(true);
    observe(DELIVERED, AWAY, AWAY);
    expect([channel.isProbing, pause()]).toEqual([false, 0]);
  });

  test("a refusal of one message says nothing of the others, and that the peer is there", () => {
    const { channel, observe, pause } = opened();
    observe(...Array.from({ length: 9 }, () => OF_ONE));
    expect([channel.isProbing, pause()]).toEqual([false, 0]);
    observe(AWAY, AWAY, OF_ONE, AWAY, AWAY);
    expect([channel.isProbing, pause()]).toEqual([false, 0]);
  });

  test("pauses for as long as the peer asks, and no later answer makes that shorter", () => {
    const { observe, pause, pass } = opened();
    observe({ ...OF_ONE, retryAfterMs: 60_000 });
    pass(10_000);
    observe({ ...OF_ONE, retryAfterMs: 1_000 });
    expect(pause()).toBe(50_000);
  });

  test("a refusal of us stops it, and is tried each minute with one row until the peer takes one", () => {
    const { channel, observe, pause, pass } = opened();
    const pauses = Array.from({ length: 9 }, () => {
      observe(REFUSED);
      return pause();
    });
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect([channel.stoppedBy, channel.isProbing]).toEqual(["gateway_unauthorized", true]);
    pass(5_000);
    const { openSinceMs } = channel;
    observe(DELIVERED);
    expect([channel.stoppedBy, channel.isProbing]).toEqual([null, false]);
    expect(channel.openSinceMs - openSinceMs).toBe(65_000);
  });

  test("one that is held stays so for a minute and a half, unless that is said again", () => {
    const { channel, pause, pass } = opened();
    channel.hold({ code: "sem_instancia_gateway" });
    pass(60_000);
    channel.hold({ code: "sem_instancia_gateway" });
    expect(pause()).toBe(90_000);
    expect(channel.stoppedBy).toBe("sem_instancia_gateway");
    channel.hold({ code: "sem_instancia_gateway" });
    channel.open();
    expect([channel.isPaused, channel.stoppedBy]).toEqual([false, null]);
  });
});
