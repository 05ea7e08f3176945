import { describe, expect, test } from "bun:test";
import { createStop, RUN_INTERRUPTED } from "../../../lib/weekly/context/run-stop.ts";
import type { DeliveryInProgress } from "../../../lib/weekly/delivery/attempt.ts";
import { settle } from "../../../lib/weekly/delivery/settle.ts";
import { silentLog } from "../../support/silent-log.ts";
import { virtualTime } from "../support/virtual-time.ts";

const LEASE_MS = 300_000;
const SENT = { status: "sent", providerMessageId: "3EB0A" } as const;
const LOST = Object.assign(new Error("lost"), { code: "ECONNRESET" });

/** Settles a send; the database is away for the first `failures` calls. */
async function settled(failures: number, stop: ReturnType<typeof createStop>) {
  const time = virtualTime();
  const counted: unknown[] = [];
  let calls = 0;
  const store = {
    ownerExists: () => Promise.resolve(true),
    settleDelivery: () => {
      calls += 1;
      return calls <= failures
        ? Promise.reject(LOST)
        : Promise.resolve({ status: "sent" as const, errorCode: null });
    },
  };
  const delivery = {
    ...{ id: "d", token: "t", channel: { name: "whatsapp" }, scope: {} },
    leaseLeftMs: () => LEASE_MS - time.monotonicMs(),
  } as unknown as DeliveryInProgress;
  const dependencies = { store: store as never, stop, log: silentLog, ...time };
  await settle(dependencies, delivery, SENT, (counter, code) => counted.push([counter, code]));
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

  test("waits for as long as the lease lasts", async () => {
    const { counted, calls } = await settled(Number.POSITIVE_INFINITY, createStop());
    expect(counted).toEqual([["partial", "delivery_not_recorded"]]);
    expect(calls).toBeGreaterThan(LEASE_MS / 5_000);
  });
});
