import { expect, test } from "bun:test";
import type { AttemptResult } from "../../../../lib/webhook/delivery/attempts/attempt.ts";
import { Sender } from "../../../../lib/webhook/delivery/sending/sender.ts";
import { createWebhookMetrics } from "../../../../lib/webhook/metrics/metrics.ts";
import type { DueRow, Settlement } from "../../../../lib/webhook/state/contract.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { dueRow } from "../../support/due-row.ts";
import { retry } from "../../support/retry.ts";

test("a look asked for in the instant in which another ends is not lost", async () => {
  let looks = 0;
  const sender: Sender = new Sender({
    kind: "message",
    state: {
      due() {
        looks += 1;
        const rows = Promise.resolve<DueRow[]>([]);
        // Runs after the sender's last look and before it has ended.
        if (looks === 1) void rows.then(() => queueMicrotask(() => void sender.pump({ issueGraceMs: 0 })));
        return rows;
      },
      begin: async () => true,
      membersOf: async () => [],
      hold: async () => {},
      settle: () => Promise.reject(new Error("Nothing is delivered here")),
    },
    attempt: () => Promise.reject(new Error("Nothing is delivered here")),
    lookUp: null,
    textOf: () => "text",
    concurrency: 1,
    metrics: createWebhookMetrics({ version: "test" }),
    log: silentLog,
    monotonicMs: () => 0,
    random: () => 0,
    sleep: () => Promise.resolve(),
    onFree() {},
  });
  await sender.pump({ issueGraceMs: 0 });
  expect(looks).toBe(2);
});

test("a stopped channel is logged with its cause, once a reason, and opens after a failure of one message's own", async () => {
  const told: unknown[] = [];
  const down = { peerDown: true, stopsChannel: true };
  const closed = retry("sem_instancia_gateway", { ...down, cause: "instance_close" });
  const results: AttemptResult[] = [
    retry("gateway_license_required", down),
    closed,
    closed,
    retry("meta_131026"),
  ];
  const stops: (string | null)[] = [];
  let nowMs = 0;
  const sender: Sender = new Sender({
    kind: "message",
    state: {
      due: async () => [dueRow()],
      begin: async () => true,
      membersOf: async () => [],
      hold: async () => {},
      settle: async () => void stops.push(sender.stoppedBy),
    },
    attempt: async () => results.shift()!,
    lookUp: null,
    textOf: () => "text",
    concurrency: 1,
    metrics: createWebhookMetrics({ version: "test" }),
    log: {
      ...silentLog,
      error: (msg, { code, cause } = {}) => void told.push([msg, code, cause]),
    },
    monotonicMs: () => nowMs,
    random: () => 0,
    sleep: () => Promise.resolve(),
    onFree() {},
  });
  while (results.length > 0) {
    nowMs += 60_000;
    await sender.pump({ issueGraceMs: 0 });
    await sender.inFlight(dueRow().id);
  }
  expect(stops).toEqual(["gateway_license_required", closed.code, closed.code, null]);
  expect(told).toEqual([
    ["The peer refuses us: its alerts wait", "gateway_license_required", undefined],
    ["The peer refuses us: its alerts wait", closed.code, closed.cause],
  ]);
});

test("three failures of the peer in a row make everything wait, those of single messages never do", async () => {
  const silence: AttemptResult = { ...ownFailure, code: "gateway_timeout", peerDown: true };
  const peer = play([silence, silence, silence]);
  const startable = [await peer.next(), await peer.next(), await peer.next()].map(({ free }) => free);
  expect(startable).toEqual([1, 1, 0]);
  expect([peer.freeAt(999), peer.freeAt(1_000)]).toEqual([0, 1]);

  const single = play([ownFailure, ownFailure, ownFailure, ownFailure]);
  for (let times = 0; times < 4; times += 1) expect((await single.next()).free).toBe(1);
});

test("a peer that asks for patience gets it, for the message itself and for all behind it", async () => {
  const throttled: AttemptResult = {
    ...ownFailure,
    code: "meta_80007",
    peerDown: true,
    retryAfterMs: 60_000,
  };
  const peer = play([throttled]);
  expect(await peer.next()).toMatchObject({ free: 0, settled: { status: "retry", delayMs: 60_000 } });
  expect([peer.freeAt(59_999), peer.freeAt(60_000)]).toEqual([0, 1]);
});

test("a stopped channel stays stopped while the peer says nothing", async () => {
  const silence: AttemptResult = { ...ownFailure, code: "gateway_timeout", peerDown: true };
  const stopped = play([
    { ...silence, code: "gateway_unauthorized", stopsChannel: true },
    silence,
    ownFailure,
  ]);
  const stops: (string | null)[] = [];
  for (const nowMs of [0, 60_000, 120_000]) {
    stopped.freeAt(nowMs);
    stops.push((await stopped.next()).stoppedBy);
  }
  expect(stops).toEqual(["gateway_unauthorized", "gateway_unauthorized", null]);
});

const ownFailure = retry("recipient_not_on_whatsapp");

/** A sender whose attempts end like this, one after the other, with a clock that stands still until it is set. */
function play(results: AttemptResult[]) {
  let nowMs = 0;
  let settled: Settlement | null = null;
  const sender: Sender = new Sender({
    kind: "message",
    state: {
      due: async () => [dueRow()],
      begin: async () => true,
      membersOf: async () => [],
      hold: async () => {},
      async settle(_row, settlement) {
        settled = settlement;
      },
    },
    attempt: async () => results.shift()!,
    lookUp: null,
    textOf: () => "text",
    concurrency: 1,
    metrics: createWebhookMetrics({ version: "test" }),
    log: silentLog,
    monotonicMs: () => nowMs,
    random: () => 0,
    sleep: () => Promise.resolve(),
    onFree() {},
  });
  return {
    /** Makes one attempt; returns how many could start then, what stops the channel, and how the row was settled. */
    async next() {
      await sender.pump({ issueGraceMs: 0 });
      await sender.inFlight(dueRow().id);
      return { free: sender.startable, stoppedBy: sender.stoppedBy, settled };
    },
    freeAt(ms: number) {
      nowMs = ms;
      return sender.startable;
    },
  };
}
