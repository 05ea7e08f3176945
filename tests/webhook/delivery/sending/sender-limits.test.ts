/** What a sender may start, in which order, and how it ends. */
import { describe, expect, test } from "bun:test";
import { TokenBucket } from "../../../../lib/platform/rate/token-bucket.ts";
import type { AttemptResult, LookUp, Retry } from "../../../../lib/webhook/delivery/attempts/attempt.ts";
import { Sender } from "../../../../lib/webhook/delivery/sending/sender.ts";
import { createWebhookMetrics } from "../../../../lib/webhook/metrics/metrics.ts";
import type { DueRow } from "../../../../lib/webhook/state/contract.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { dueRow } from "../../support/due-row.ts";
import { retry } from "../../support/retry.ts";
import { sampleAlert } from "../../support/sample-alert.ts";

const AWAY = retry("gateway_unreachable", { peerDown: true });
const REFUSED: Retry = { ...AWAY, code: "gateway_unauthorized", stopsChannel: true };
const DELIVERED: AttemptResult = { status: "delivered", reference: "id", url: null };

function rowOf(id: number, fingerprint = `f${id}`): DueRow {
  return dueRow({ id, alert: sampleAlert({ fingerprint }) });
}

/** A sender at the pace of one message a minute after a burst; what it starts ends when a test says so. */
function opened(
  due: DueRow[] = [],
  {
    concurrency = 4,
    burst = 4,
    lookUp = null,
    gatherDigest,
  }: {
    concurrency?: number;
    burst?: number | null;
    lookUp?: LookUp | null;
    gatherDigest?: () => Promise<DueRow[]>;
  } = {},
) {
  const started: number[] = [];
  const settled = new Set<number>();
  const held: (string | null)[] = [];
  const ends = new Map<number, (result: AttemptResult) => void>();
  const signals = new Map<number, AbortSignal>();
  let clockMs = 0;
  let reads = 0;
  const sender = new Sender({
    kind: "message",
    state: {
      due: async (_kind, { except, limit }) =>
        due.filter(({ id }) => !settled.has(id) && !except.includes(id)).slice(0, limit),
      begin: async () => true,
      membersOf: async () => [],
      hold: async (_kind, code) => void held.push(code),
      settle: async (row) => void settled.add(row),
    },
    attempt: ({ id }, signal) => {
      started.push(id);
      signals.set(id, signal);
      return new Promise((resolve) => ends.set(id, resolve));
    },
    lookUp,
    textOf: () => "text",
    concurrency,
    ...(gatherDigest === undefined ? {} : { gatherDigest }),
    ...(burst === null ? {} : { rate: new TokenBucket({ perMinute: 1, burst }, 0) }),
    metrics: createWebhookMetrics({ version: "test" }),
    log: silentLog,
    monotonicMs: () => clockMs,
    random: () => 0,
    sleep: () => Promise.resolve(),
    onFree() {},
    onRead: () => (reads += 1),
  });
  const turns = async () => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const end = async (id: number, result: AttemptResult) => {
    ends.get(id)!(result);
    await turns();
  };
  const pump = async (mayStart?: (row: DueRow) => boolean) => {
    await sender.pump({ issueGraceMs: 0 }, mayStart);
    await turns();
  };
  const aside = async (row: DueRow | null) => {
    const sending = sender.send(async () => row, new AbortController().signal);
    await turns();
    return sending;
  };
  const pass = (ms: number) => (clockMs += ms);
  return { sender, started, held, signals, reads: () => reads, turns, end, pump, aside, pass };
}

describe("Sender", () => {
  test("starts no more rows than may be on their way, and none that has to wait", async () => {
    const { started, pump, end, reads } = opened([1, 2, 3, 4, 5, 6].map((id) => rowOf(id)));
    await pump(({ id }) => id !== 2);
    expect(started).toEqual([1, 3, 4]);
    await pump();
    expect(started).toEqual([1, 3, 4, 2]);
    await end(1, DELIVERED);
    await end(3, DELIVERED);
    await pump();
    // The pace allows no more.
    expect(started).toHaveLength(4);
    expect(reads()).toBeGreaterThan(0);
  });

  test("has no more rows on their way at once than it may, and one while the peer is not known to take any", async () => {
    const due = [1, 2, 3, 4, 5, 6, 7].map((id) => rowOf(id));
    const { sender, started, pump, end, pass } = opened(due, { concurrency: 3, burst: 10 });
    await pump();
    await pump();
    expect(started).toEqual([1, 2, 3]);
    await end(1, DELIVERED);
    await pump();
    expect(started).toEqual([1, 2, 3, 4]);
    await end(2, REFUSED);
    pass(90_000);
    // Two are still on their way.
    expect(sender.startable).toBe(0);
    await end(3, AWAY);
    await end(4, AWAY);
    pass(90_000);
    await pump();
    expect(started).toEqual([1, 2, 3, 4, 5]);
  });

  test("lets as many go out beside the rows as rows at once, and at the pace of the rows", async () => {
    const { sender, aside, turns, end, pass } = opened([], { concurrency: 3, burst: 6 });
    for (const ids of [
      [-1, -2, -3],
      [-4, -5, -6],
    ]) {
      for (const id of ids) {
        expect(sender.mayStart).toBe(true);
        void aside(rowOf(id));
      }
      expect(sender.mayStart).toBe(false);
      await turns();
      for (const id of ids) await end(id, DELIVERED);
    }
    expect([sender.mayStart, sender.startable]).toEqual([false, 0]);
    pass(60_000);
    expect(sender.mayStart).toBe(true);
  });

  test("lets them go out at once where the peer's own answers set the pace", () => {
    expect(opened([], { burst: null }).sender.mayStart).toBe(true);
  });

  test("knows what is on its way of a fingerprint that was accepted before a row", async () => {
    const { sender, pump, end } = opened([rowOf(5, "same")]);
    await pump();
    const isSending = () => [4, 5, 6].map((row) => sender.isSending("same", row));
    expect(isSending()).toEqual([false, false, true]);
    expect(sender.isSending("other", 6)).toBe(false);
    await end(5, DELIVERED);
    expect(isSending()).toEqual([false, false, false]);
  });

  test("has the rows that a repeated text tells on their way with it", async () => {
    const { sender, pump, end } = opened([{ ...rowOf(1), text: "told", members: [2, 3] }]);
    const onTheirWay = () => [1, 2, 3, 4].filter((row) => sender.inFlight(row) !== null);
    await pump();
    expect(onTheirWay()).toEqual([1, 2, 3]);
    const settled = sender.inFlight(3);
    await end(1, DELIVERED);
    expect([await settled, onTheirWay()]).toEqual([DELIVERED, []]);
  });

  test("knows of each alert of a message that tells several that it is on its way", async () => {
    const rows = [rowOf(1, "one"), rowOf(2, "other")];
    let left = 1;
    const gatherDigest = async () => (left-- > 0 ? rows : []);
    const { sender, started, pump, end } = opened(rows, { gatherDigest });
    const isSending = () => ["one", "other", "third"].map((fingerprint) => sender.isSending(fingerprint, 3));
    await pump();
    expect([started, isSending()]).toEqual([[1], [true, true, false]]);
    await end(1, DELIVERED);
    expect(isSending()).toEqual([false, false, false]);
  });

  test("lets one at a time find out about a peer that fails, be it a row or not", async () => {
    const { sender, pass, turns } = opened();
    const answers: Promise<AttemptResult | null>[] = [];
    expect(sender.mayStart).toBe(true);
    await sender.hold({ code: "sem_instancia_gateway" });
    expect(sender.mayStart).toBe(false);
    pass(90_000);
    expect(sender.mayStart).toBe(true);
    answers.push(sender.send(() => new Promise(() => {}), new AbortController().signal));
    await turns();
    expect(sender.mayStart).toBe(false);
    expect(answers).toHaveLength(1);
  });

  test("learns from what goes out beside the rows, and gives its turn back where nothing did", async () => {
    const { sender, aside, end, turns } = opened();
    for (let times = 0; times < 9; times += 1) expect(await aside(null)).toBeNull();
    const sending = sender.send(async () => rowOf(-1), new AbortController().signal);
    await turns();
    await end(-1, REFUSED);
    expect(await sending).toEqual(REFUSED);
    expect(sender.stoppedBy).toBe("gateway_unauthorized");
  });

  test("keeps why it waits in the state, and takes it up from there", async () => {
    const { sender, held, pump } = opened();
    sender.recall("gateway_unauthorized");
    await pump();
    expect([sender.stoppedBy, held]).toEqual(["gateway_unauthorized", []]);
    await sender.open();
    expect([sender.stoppedBy, held]).toEqual([null, [null]]);
    await sender.hold({ code: "sem_instancia_gateway" });
    expect(held).toEqual([null, "sem_instancia_gateway"]);
  });

  test("at its end starts nothing, waits for what is on its way, and records what that has shown", async () => {
    const { sender, started, held, signals, pump, end } = opened([rowOf(1), rowOf(2)]);
    await pump(({ id }) => id === 1);
    let hasEnded = false;
    const stopping = sender.stop(60_000).then(() => {
      hasEnded = true;
    });
    expect([sender.startable, sender.mayStart]).toEqual([0, false]);
    await pump();
    await Bun.sleep(20);
    expect([started, hasEnded, signals.get(1)!.aborted]).toEqual([[1], false, false]);
    await end(1, REFUSED);
    await stopping;
    expect(held.at(-1)).toBe("gateway_unauthorized");
  });

  test("gives up what is on its way when its time is over", async () => {
    const { sender, signals, pump, end } = opened([rowOf(1)]);
    await pump();
    const stopping = sender.stop(1);
    await new Promise((resolve) => signals.get(1)!.addEventListener("abort", resolve));
    await end(1, AWAY);
    await stopping;
  });
});
