import { describe, expect, test } from "bun:test";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { evolutionClient } from "../../../lib/providers/evolution/client.ts";
import { refusedPort } from "../../standins/raw-peer.ts";
import type { Scripted } from "../../standins/standin.ts";
import { CANARIES } from "../../support/canaries.ts";
import { seedOwner, setClock } from "../../support/seed.ts";
import { deliveriesByOwner, deliveryStates } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { virtualTime } from "../support/virtual-time.ts";
import { recordingLog, type WeeklyFixture } from "../support/weekly-fixture.ts";

const OWNERS = 4;
const patient = { patienceMinutes: 15 };
const shared = sharedWeekly();

async function someOwners(): Promise<WeeklyFixture> {
  const weekly = shared();
  for (let i = 0; i < OWNERS; i += 1) await seedOwner(weekly.db.sql, { networks: [] });
  return weekly;
}

function clientOf(url: string) {
  return evolutionClient({ baseUrl: new URL(url), adminKey: new Secret(CANARIES.GATEWAY_ADMIN_KEY) });
}

/** Puts the gateway out of reach and in again. */
type Outage = { begin(weekly: WeeklyFixture): void; end(weekly: WeeklyFixture): void };

const state = (named: string | null): Outage => ({
  begin: ({ gateway }) => gateway.instances.set("ops", named),
  end: ({ gateway }) => gateway.instances.set("ops", "open"),
});

const answer = (scripted: Scripted): Outage => ({
  begin({ gateway }) {
    gateway.routes.state.script = () => scripted;
  },
  end({ gateway }) {
    gateway.routes.state.script = null;
  },
});

const PASSING: [string, Outage][] = [
  ["close", state("close")],
  ["connecting", state("connecting")],
  ["not loaded", state(null)],
  ["dropped", answer("drop")],
  ...[502, 503, 504].map((status): [string, Outage] => [`${status}`, answer({ status, text: "away" })]),
];

describe("runWeekly() with a gateway that is unavailable for a moment", () => {
  test.each(PASSING)(
    "%s: it is waited for, and each owner gets the message in this run",
    async (_name, outage) => {
      const weekly = await someOwners();
      const time = virtualTime();
      outage.begin(weekly);
      time.onWait = () => {
        if (time.waitsMs.length === 10) outage.end(weekly);
      };
      const log = recordingLog();

      const summary = await weekly.run({ ...patient, concurrency: OWNERS }, { ...time, log });

      expect(summary).toMatchObject({ status: "success", whatsapp: { sent: OWNERS, failed: 0 } });
      expect(new Set(time.waitsMs)).toEqual(new Set([5_000]));
      expect(weekly.gateway.accepted).toHaveLength(OWNERS);
      expect(log.lines.filter(({ level }) => level === "warn")).toMatchObject([
        { fields: { channel: "whatsapp", code: "sem_instancia_gateway", waitsFor: "gateway" } },
      ]);
    },
  );

  test("a gateway at whose address nothing answers is waited for, and each owner gets the message", async () => {
    const weekly = await someOwners();
    const real = clientOf(weekly.gateway.url);
    const nobody = clientOf(`http://127.0.0.1:${await refusedPort()}`);
    const time = virtualTime();
    const gateway = {
      checkInstance: (name: string, signal?: AbortSignal) =>
        (time.waitsMs.length < 3 ? nobody : real).checkInstance(name, signal),
      sendText: real.sendText,
    };
    const { whatsapp } = await weekly.run({ ...patient, concurrency: 1 }, { ...time, gateway });
    expect(whatsapp).toMatchObject({ sent: OWNERS, failed: 0 });
    expect(time.waitsMs).toEqual([5_000, 5_000, 5_000]);
  });

  test("a gateway that is unavailable again for the next owner is waited for again", async () => {
    const weekly = await someOwners();
    const real = clientOf(weekly.gateway.url);
    const time = virtualTime();
    // 80 seconds each time, which are more than the patience together.
    const gateway = {
      async checkInstance(name: string, signal?: AbortSignal) {
        const isBack = time.waitsMs.length === 16 * (weekly.gateway.accepted.length + 1);
        weekly.gateway.instances.set("ops", isBack ? "open" : "close");
        return await real.checkInstance(name, signal);
      },
      sendText: real.sendText,
    };
    const { whatsapp } = await weekly.run({ ...patient, concurrency: 1 }, { ...time, gateway });
    expect(whatsapp).toMatchObject({ sent: OWNERS, failed: 0, unknown: 0 });
    expect(time.waitsMs).toHaveLength(16 * OWNERS);
  });

  test("a gateway that stays unavailable costs the run one wait, and the next run sends", async () => {
    const weekly = await someOwners();
    const { gateway } = weekly;
    gateway.instances.set("ops", "close");
    const time = virtualTime();

    const summary = await weekly.run({ ...patient, concurrency: 1 }, time);

    expect(summary).toMatchObject({ exitCode: 1, heartbeat: "kept", whatsapp: { sent: 0, failed: OWNERS } });
    expect(summary.email.sent).toBe(OWNERS);
    expect(time.waitsMs).toEqual(Array(18).fill(5_000));
    expect(await deliveryStates(weekly)).toContain(`whatsapp failed sem_instancia_gateway x${OWNERS}`);
    expect(gateway.routes.send.calls).toHaveLength(0);

    gateway.instances.set("ops", "open");
    expect((await weekly.run()).whatsapp).toMatchObject({ sent: OWNERS });
    expect(gateway.accepted).toHaveLength(OWNERS);
  });

  test.each<[string, Outage]>([
    ["gone", { begin: ({ gateway }) => gateway.instances.delete("ops"), end() {} }],
    ["refused", state("refused")],
    ["a page", answer("not_json")],
    ["500", answer({ status: 500 })],
  ])("%s: a person has to repair it, and nothing waits", async (_name, outage) => {
    const weekly = await someOwners();
    outage.begin(weekly);
    const time = virtualTime();
    expect((await weekly.run(patient, time)).whatsapp).toMatchObject({ sent: 0, failed: OWNERS });
    expect(time.waitsMs).toEqual([]);
  });

  test("a run without patience does not wait for the gateway", async () => {
    const weekly = await someOwners();
    weekly.gateway.instances.set("ops", "connecting");
    const time = virtualTime();
    expect((await weekly.run({ patienceMinutes: 0 }, time)).whatsapp.failed).toBe(OWNERS);
    expect(time.waitsMs).toEqual([]);
  });

  test("a run that is killed while it waits leaves no unknown result, and a run after the lease sends the message", async () => {
    const weekly = shared();
    const owner = await seedOwner(weekly.db.sql, { networks: [] });
    weekly.gateway.instances.set("ops", "close");
    const waits = Promise.withResolvers<void>();
    const sleep = (ms: number) => {
      if (ms === 5_000) waits.resolve();
      return new Promise<void>(() => {});
    };
    void weekly.run(patient, { sleep });
    await waits.promise;
    expect((await deliveriesByOwner(weekly, "whatsapp")).get(owner.userId)).toMatchObject({
      status: "running",
      dispatched: false,
    });
    weekly.gateway.instances.set("ops", "open");
    expect((await weekly.run()).whatsapp).toMatchObject({ sent: 0, partial: 1 });
    await setClock(weekly.db.sql, "2026-11-23T12:30:00Z");
    expect(await weekly.run()).toMatchObject({ status: "success", whatsapp: { sent: 1, unknown: 0 } });
    expect(weekly.gateway.accepted).toHaveLength(1);
  });

  test("a signal ends the wait at once, and nothing is sent", async () => {
    const weekly = await someOwners();
    weekly.gateway.instances.set("ops", "close");
    const time = virtualTime();
    const interrupt = new AbortController();
    time.onWait = (ms) => {
      if (ms === 5_000) interrupt.abort();
    };
    const summary = await weekly.run(
      { ...patient, concurrency: 1 },
      { ...time, interrupt: interrupt.signal, sleep: untilAborted(time) },
    );
    expect(summary.error?.code).toBe("RUN_INTERRUPTED");
    expect(summary.whatsapp).toMatchObject({ sent: 0, failed: 1, unknown: 0 });
    expect(weekly.gateway.routes.state.calls).toHaveLength(1);
    expect(weekly.email.accepted).toHaveLength(0);
  });
});

/** The waits after a signal, which would end calls in flight, do not move this clock. */
function untilAborted(time: ReturnType<typeof virtualTime>): typeof time.sleep {
  return async (ms, signal) => {
    if (ms < 6_000) return await time.sleep(ms, signal);
    await new Promise<void>((_resolve, reject) =>
      signal?.addEventListener("abort", () => reject(signal.reason)),
    );
  };
}
