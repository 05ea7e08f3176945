import { describe, expect, test } from "bun:test";
import { type AttemptResult, retry } from "../../../lib/webhook/delivery/attempt.ts";
import { CircuitBreaker } from "../../../lib/webhook/delivery/circuit-breaker.ts";

const TAKEN: AttemptResult = { status: "delivered", reference: null, url: null };
const OF_ROW = retry("x", "row");
const FAILED = retry("x", "service");
const REFUSED = retry("gateway_unauthorized", "account");
const LIMITED = retry("x", "service", { retryAfterMs: 60_000 });
const pause = (breaker: CircuitBreaker) => breaker.pause({ code: "sem_instancia_gateway" });

/** What a breaker meets, for how many seconds it is open then, and what it is afterwards. */
const CASES: {
  name: string;
  met: (AttemptResult | typeof pause)[];
  openS: number;
  isHalfOpen?: true;
  kept?: (string | null)[];
}[] = [
  { name: "two failures of the service", met: [FAILED, FAILED], openS: 0 },
  { name: "three in a row", met: [FAILED, FAILED, FAILED], openS: 1, isHalfOpen: true },
  { name: "ten in a row", met: Array(10).fill(FAILED), openS: 10, isHalfOpen: true },
  { name: "three with a success between", met: [FAILED, FAILED, TAKEN, FAILED], openS: 0 },
  { name: "three with a failure of one row between", met: [FAILED, FAILED, OF_ROW, FAILED], openS: 0 },
  { name: "a time that the service asks for", met: [LIMITED, FAILED], openS: 60 },
  { name: "a refusal", met: [REFUSED], openS: 1, isHalfOpen: true, kept: ["gateway_unauthorized"] },
  {
    name: "a refusal, then a success",
    met: [REFUSED, TAKEN],
    openS: 0,
    kept: ["gateway_unauthorized", null],
  },
  {
    name: "a pause from outside",
    met: [pause],
    openS: 90,
    isHalfOpen: true,
    kept: ["sem_instancia_gateway"],
  },
  { name: "a pause, then a success", met: [pause, TAKEN], openS: 0, kept: ["sem_instancia_gateway", null] },
];

describe("CircuitBreaker", () => {
  test.each(CASES)("$name", ({ met, openS, isHalfOpen = false, kept = [] }) => {
    let nowMs = 0;
    const recorded: (string | null)[] = [];
    const breaker = new CircuitBreaker({
      kind: "message",
      keepPause: (_kind, code) => recorded.push(code),
      log: { debug() {}, info() {}, warn() {}, error() {} },
      monotonicMs: () => nowMs,
      random: () => 1,
    });
    for (const one of met) typeof one === "function" ? one(breaker) : breaker.observe(one);
    nowMs = Math.max(0, openS * 1_000 - 1);
    expect(breaker.isOpen).toBe(openS > 0);
    nowMs = openS * 1_000;
    expect([breaker.isOpen, breaker.isHalfOpen, breaker.pausedBy]).toEqual([
      false,
      isHalfOpen,
      kept.at(-1) ?? null,
    ]);
    expect(recorded).toEqual(kept);
  });
});
