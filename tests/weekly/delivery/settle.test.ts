import { describe, expect, test } from "bun:test";
import { createStop, RUN_INTERRUPTED } from "../../../lib/weekly/context/run-stop.ts";
import type { Lack, Settled } from "../../../lib/weekly/database/deliveries.ts";
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
  lack?: Lack;
};

/** Settles a send; the database is away for the first `failures` calls. */
async function settled(
  failures: number,
  stop: ReturnType<typeof createStop>,
  {
    leaseMs = LEASE_MS,
    outcome = SENT,
    error = LOST,
    ownerExists = true,
    settledAs,
    lack = { errorCode: null },
  }: Changes = {},
) {
  const time = virtualTime();
  const counted: unknown[] = [];
  const facts: unknown[] = [];
  let calls = 0;
  const store = {
    ownerExists: () => Promise.resolve(ownerExists),
    settleDelivery: () => {
      calls += 1;
      return calls <= failures
        ? Promise.reject(error)
        : Promise.resolve({ status: settledAs ?? outcome.status, ...lack });
    },
  };
  const delivery = {
    ...{ id: "d", token: "t", channel: { name: "whatsapp" }, scope: {} },
    leaseLeftMs: () => leaseMs - time.monotonicMs(),
  } as unknown as DeliveryInProgress;
  const dependencies = { store: store as never, stop, log: silentLog, ...time };
  await settle(dependencies, delivery, outcome, (counter, code, about) => {
    counted.push([counter, code]);
    facts.push(about);
  });
  return { counted, calls, facts };
}

describe("settle()", () => {
  test("records what was sent also once the run has stopped and its calls were given up", async () => {
    const stop = createStop();
    stop.because(RUN_INTERRUPTED);
    stop.giveUp();
    expect(await settled(3, stop)).toMatchObject({ counted: [["sent", null]], calls: 4 });
  });

  test("waits for no database any more once the run has to end", async () => {
    const stop = createStop();
    stop.expire();
    expect(await settled(3, stop)).toMatchObject({
      counted: [["partial", "delivery_not_recorded"]],
      calls: 1,
    });
  });

  test("waits a moment for a database that is away when the lease is over", async () => {
    const late = { leaseMs: 0 };
    expect(await settled(1, createStop(), late)).toMatchObject({ counted: [["sent", null]], calls: 2 });
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

  test("names what is behind a failure and a missing entry, and no provider's id in full that may be a number", async () => {
    const behind = { ...failed, cause: "instance_closed" } as DeliveryOutcome;
    expect((await settled(0, createStop(), { outcome: behind })).facts).toMatchObject([
      { deliveryId: "d", cause: "instance_closed" },
    ]);
    const lack = { errorCode: "timeline_entry_failed", cause: "23514 broken" };
    const byMeta = { status: "sent", providerMessageId: "wamid.NTUxMTk4NzY1NDMyMQ0123456789AB" } as const;
    expect((await settled(0, createStop(), { lack, outcome: byMeta })).facts).toMatchObject([
      { deliveryId: "d", providerMessageId: "wamid.…0123456789AB", cause: "23514 broken" },
    ]);
  });

  test("waits for as long as the lease lasts", async () => {
    const { counted, calls } = await settled(Number.POSITIVE_INFINITY, createStop());
    expect(counted).toEqual([["partial", "delivery_not_recorded"]]);
    expect(calls).toBeGreaterThan(LEASE_MS / 5_000);
  });
});
