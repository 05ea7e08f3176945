import { describe, expect, test } from "bun:test";
import { createStop, RUN_INTERRUPTED } from "../../../lib/weekly/context/run-stop.ts";
import type { Settled } from "../../../lib/weekly/database/deliveries.ts";
import type { DeliveryInProgress } from "../../../lib/weekly/delivery/attempt.ts";
import type { DeliveryOutcome } from "../../../lib/weekly/delivery/channel.ts";
import { settle } from "../../../lib/weekly/delivery/settle.ts";
import { silentLog } from "../../support/silent-log.ts";
import { virtualTime } from "../support/virtual-time.ts";

const LEASE_MS = 300_000;
const SENT = { status: "sent", providerMessageId: "3EB0A" } as const;
const LOST = Object.assign(new Error("lost"), { code: "ECONNRESET" });

type Changes = {
  leaseMs?: number;
  outcome?: DeliveryOutcome;
  error?: Error;
  ownerExists?: boolean;
  settledAs?: Settled["status"];
};

/** Settles a send; the database is away for the first `failures` calls. */
async function settled(
  failures: number,
  stop: ReturnType<typeof createStop>,
  { leaseMs = LEASE_MS, outcome = SENT, error = LOST, ownerExists = true, settledAs }: Changes = {},
) {
  const time = virtualTime();
  const counted: unknown[] = [];
  let calls = 0;
  const store = {
    ownerExists: () => Promise.resolve(ownerExists),
    settleDelivery: () => {
      calls += 1;
      return calls <= failures
        ? Promise.reject(error)
        : Promise.resolve({ status: settledAs ?? outcome.status, errorCode: null });
    },
  };
  const delivery = {
    ...{ id: "d", token: "t", channel: { name: "whatsapp" }, scope: {} },
    leaseLeftMs: () => leaseMs - time.monotonicMs(),
  } as unknown as DeliveryInProgress;
  const dependencies = { store: store as never, stop, log: silentLog, ...time };
  await settle(dependencies, delivery, outcome, (counter, code) => counted.push([counter, code]));
  return { counted, calls };
}

describe("settle()", () => {
  test("records what was sent also once the run has stopped and its calls were given up", async () => {
    const stop = createStop();
    stop.because(RUN_INTERRUPTED);
    stop.giveUp();
    expect(await settled(3, stop)).toEqual({ counted: [["sent", null]], calls: 4 });
  });

  test("waits for no database any more once the run has to end", async () => {
    const stop = createStop();
    stop.expire();
    expect(await settled(3, stop)).toEqual({ counted: [["partial", "delivery_not_recorded"]], calls: 1 });
  });

  test("waits a moment for a database that is away when the lease is over", async () => {
    const late = { leaseMs: 0 };
    expect(await settled(1, createStop(), late)).toEqual({ counted: [["sent", null]], calls: 2 });
  });

  const refused = Object.assign(new Error("refused"), { code: "OW022" });
  const failed = { status: "failed", code: "gateway_400" } as DeliveryOutcome;
  const doubt = { status: "unknown", code: "gateway_timeout" } as DeliveryOutcome;
  test.each<[string, Changes, number, [string, string | null]]>([
    ["what was sent and another process gave up", { error: refused }, 1, ["unknown", "delivery_claim_lost"]],
    ["a failure that the ledger refused", { error: refused, outcome: failed }, 1, ["failed", "gateway_400"]],
    [
      "a doubt that the ledger refused",
      { error: refused, outcome: doubt },
      1,
      ["unknown", "gateway_timeout"],
    ],
    ["what failed", { outcome: failed }, 0, ["failed", "gateway_400"]],
    [
      "what is in doubt for the ledger",
      { outcome: failed, settledAs: "unknown" },
      0,
      ["unknown", "gateway_400"],
    ],
    ["what was sent and lost its row", { settledAs: "erased" }, 0, ["partial", "delivery_row_lost"]],
    [
      "what failed and lost its row",
      { settledAs: "erased", outcome: failed },
      0,
      ["failed", "delivery_row_lost"],
    ],
    ["what was sent to an owner who is gone", { settledAs: "erased", ownerExists: false }, 0, ["sent", null]],
    [
      "what failed for an owner who is gone",
      { settledAs: "erased", outcome: failed, ownerExists: false },
      0,
      ["skipped", null],
    ],
  ])("counts %s", async (_what, changes, failures, expected) => {
    expect((await settled(failures, createStop(), changes)).counted).toEqual([expected]);
  });

  test("waits for as long as the lease lasts", async () => {
    const { counted, calls } = await settled(Number.POSITIVE_INFINITY, createStop());
    expect(counted).toEqual([["partial", "delivery_not_recorded"]]);
    expect(calls).toBeGreaterThan(LEASE_MS / 5_000);
  });
});
