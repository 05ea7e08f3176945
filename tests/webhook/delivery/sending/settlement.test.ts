import { expect, test } from "bun:test";
import type { AttemptResult, Retry } from "../../../../lib/webhook/delivery/attempts/attempt.ts";
import { decideSettlement } from "../../../../lib/webhook/delivery/sending/settlement.ts";
import { retry } from "../../support/retry.ts";
import { DAY_MS } from "../../support/state-fixture.ts";

const CLEAR = retry("meta_131026");

const statusOf = (unclear: number, result: Retry, isRepeatable = false) =>
  decideSettlement({ attempts: 10, unclear }, result, {
    tried: { triedMs: DAY_MS, mayEnd: true },
    isRepeatable,
    random: () => 0,
  }).status;

test("decideSettlement() ends a row as unknown when one of its sends was unclear, the last one or any before", () => {
  const unclear = { ...CLEAR, unclear: { knownAfterMs: 0 } };
  expect(statusOf(0, CLEAR)).toBe("dead");
  expect(statusOf(1, CLEAR)).toBe("in_doubt");
  expect(statusOf(0, unclear)).toBe("in_doubt");
  expect([statusOf(1, CLEAR, true), statusOf(0, unclear, true)]).toEqual(["dead", "dead"]);
});

/** What is recorded for a row that was tried for `triedMs`, twice before; waits are the shortest that chance allows. */
function settled(
  result: AttemptResult,
  {
    unclear = 0,
    attempts = 2,
    triedMs = 7_000,
    mayEnd = true,
    isRepeatable = false,
  }: Partial<{
    unclear: number;
    attempts: number;
    triedMs: number;
    mayEnd: boolean;
    isRepeatable: boolean;
  }> = {},
) {
  return decideSettlement({ attempts, unclear }, result, {
    tried: { triedMs, mayEnd },
    isRepeatable,
    random: () => 0,
  });
}
const again = { status: "retry", delayMs: 2_000, code: "meta_131026", triedMs: 7_000, isUnclear: false };
const UNCLEAR: Retry = { ...CLEAR, unclear: { knownAfterMs: 5_000 } };
const LOST: Retry = { ...CLEAR, unclear: { knownAfterMs: 5_000, isLost: true } };
const UNANSWERED: Retry = { ...CLEAR, unanswered: { knownAfterMs: 35_000 } };
const REFUSES_US: Retry = { ...CLEAR, stopsChannel: true };

test("decideSettlement() ends a row that was delivered, or refused for good, however short it was tried", () => {
  const delivered = { status: "delivered", reference: "id", url: null } as const;
  expect(settled(delivered, { mayEnd: false })).toEqual(delivered);
  expect(settled({ status: "refused", code: "tracker_input_refused" }, { mayEnd: false })).toEqual({
    status: "dead",
    code: "tracker_input_refused",
  });
});

test.each<[string, Retry, Parameters<typeof settled>[1], object]>([
  ["later after each failure", CLEAR, {}, {}],
  ["after a second at first", CLEAR, { attempts: 0 }, { delayMs: 1_000 }],
  ["once the peer allows it", { ...CLEAR, retryAfterMs: 60_000 }, {}, { delayMs: 60_000 }],
  ["once what the peer took can be known", UNCLEAR, {}, { isUnclear: true, delayMs: 5_000 }],
  ["late rather than soon", UNCLEAR, { attempts: 9 }, { isUnclear: true, delayMs: 150_000 }],
  ["after a lost send, the second one", LOST, { unclear: 1 }, { isUnclear: true, delayMs: 5_000 }],
  ["after the third, when none is on its way", LOST, { unclear: 2 }, { isUnclear: true, delayMs: 65_000 }],
  ["after an unclear answer, the third", UNCLEAR, { unclear: 2 }, { isUnclear: true, delayMs: 5_000 }],
  ["after an outage", UNANSWERED, {}, { isUnanswered: true, delayMs: 35_000 }],
  ["what is repeated by its id, and is never unknown", UNCLEAR, { isRepeatable: true }, { delayMs: 5_000 }],
  ["the same after an outage", UNANSWERED, { isRepeatable: true }, { delayMs: 35_000 }],
  ["as soon as the channel is open", REFUSES_US, {}, { delayMs: 0 }],
  [
    "then, when a refusal left it unclear",
    { ...REFUSES_US, unclear: { knownAfterMs: 5_000 } },
    {},
    { isUnclear: true, delayMs: 5_000 },
  ],
  [
    "then, when it was unclear before",
    { ...REFUSES_US, unclear: { knownAfterMs: 5_000 } },
    { unclear: 1 },
    { delayMs: 5_000 },
  ],
  [
    "a day after, when this process has hardly tried",
    CLEAR,
    { triedMs: DAY_MS, mayEnd: false },
    { triedMs: DAY_MS },
  ],
  ["a moment before its day is over", CLEAR, { triedMs: DAY_MS - 1 }, { triedMs: DAY_MS - 1 }],
  [
    "a day after, when the peer refuses all",
    REFUSES_US,
    { triedMs: DAY_MS },
    { triedMs: DAY_MS, delayMs: 0 },
  ],
])("decideSettlement() tries again %s", (_when, result, row, expected) => {
  expect<object>(settled(result, row)).toEqual({ ...again, ...expected });
});

test("decideSettlement() ends a row as dead after a day, and keeps that an outage left it unanswered", () => {
  const code = "meta_131026";
  expect(settled(CLEAR, { triedMs: DAY_MS })).toEqual({ status: "dead", code });
  expect(settled(UNANSWERED, { triedMs: DAY_MS })).toEqual({ status: "dead", code, isUnanswered: true });
  expect(settled(UNANSWERED, { triedMs: DAY_MS, isRepeatable: true })).toEqual({ status: "dead", code });
  expect(settled(UNANSWERED, { triedMs: DAY_MS, unclear: 1 })).toEqual({ status: "in_doubt", code });
});
