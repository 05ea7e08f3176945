import { expect, test } from "bun:test";
import type { Retry } from "../../../../lib/webhook/delivery/attempts/attempt.ts";
import { decideSettlement } from "../../../../lib/webhook/delivery/sending/settlement.ts";
import type { DueRow } from "../../../../lib/webhook/state/contract.ts";
import { DAY_MS } from "../../support/state-fixture.ts";

const CLEAR: Retry = {
  status: "retry",
  code: "meta_131026",
  stopsChannel: false,
  peerDown: false,
  retryAfterMs: null,
  unclear: null,
};

const statusOf = (unclear: number, result: Retry, isRepeatable = false) =>
  decideSettlement({ attempts: 10, unclear } as Partial<DueRow> as DueRow, result, {
    tried: { triedMs: DAY_MS, mayEnd: true },
    isRepeatable,
    random: () => 0,
  }).status;

test("decideSettlement() gives a row up as in doubt when one of its sends was unclear, the last one or any before", () => {
  const unclear = { ...CLEAR, unclear: { knownAfterMs: 0 } };
  expect(statusOf(0, CLEAR)).toBe("dead");
  expect(statusOf(1, CLEAR)).toBe("in_doubt");
  expect(statusOf(0, unclear)).toBe("in_doubt");
  expect([statusOf(1, CLEAR, true), statusOf(0, unclear, true)]).toEqual(["dead", "dead"]);
});
