/** The dispatcher on a real state, with a clock that the test moves and peers that are functions. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Log } from "../../../lib/platform/log/log.ts";
import type { Alert } from "../../../lib/webhook/alert/alert.ts";
import type { Attempt, LookUp } from "../../../lib/webhook/delivery/attempts/attempt.ts";
import type { Dispatcher } from "../../../lib/webhook/delivery/dispatcher.ts";
import { makeDispatcher, type Pace } from "../../../lib/webhook/delivery/make-dispatcher.ts";
import { createWebhookMetrics } from "../../../lib/webhook/metrics/metrics.ts";
import type { AcceptedAlert, State } from "../../../lib/webhook/state/contract.ts";
import { openSqliteState } from "../../../lib/webhook/state/sqlite/state.ts";
import { silentLog } from "../../support/silent-log.ts";
import { acceptAll, START_MS } from "./state-fixture.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** What a peer got, and when. */
export type Sent = { atMs: number; text: string; row: number };

/** One dispatcher; `advance` moves all clocks, `setWallClock` that of the state alone. */
export type DispatcherFixture = {
  readonly state: State;
  readonly dispatcher: Dispatcher;
  readonly metrics: ReturnType<typeof createWebhookMetrics>;
  /** What the phone got, and what the tracker did. */
  phone: Sent[];
  issues: Sent[];
  comments: Sent[];
  accept(...alerts: Alert[]): Promise<AcceptedAlert[]>;
  advance(ms: number): Promise<void>;
  /** The clock that only runs. */
  readonly nowMs: number;
  /** How far the clock of the state is from the one that only runs. */
  skewMs: number;
  /** Ends this process and starts another on the same state; the time between is that of the state's clock alone. */
  restart(stoppedMs?: number, changed?: Partial<Pace>): Promise<void>;
  /** As `restart`, but what is on its way is never recorded. */
  kill(): Promise<void>;
  close(): Promise<void>;
};

/** How the peers answer, and how fast things go out. */
export type DispatcherOptions = Partial<Pace> & {
  message?: Attempt;
  issue?: Attempt;
  comment?: Attempt;
  lookUp?: LookUp;
  log?: Log;
  /** How often it looks for rows by itself; less often than the installed service, because these tests are long. */
  lookMs?: number;
};

/** Starts a dispatcher; peers that are not given take everything at once. */
export async function startDispatcher(options: DispatcherOptions = {}): Promise<DispatcherFixture> {
  const directory = mkdtempSync(join(tmpdir(), "opsctl-dispatcher-"));
  const clock = new VirtualClock(0);
  const taking =
    (sent: Sent[], answer: Attempt = takes): Attempt =>
    async (row, signal) => {
      const result = await answer(row, signal);
      if (result.status === "delivered") sent.push({ atMs: clock.nowMs, text: row.text ?? "", row: row.id });
      return result;
    };
  const open = async (changed: Partial<Pace> = {}) => {
    const nowMs = () => START_MS + clock.nowMs + fixture.skewMs;
    const state = await openSqliteState({ directory, nowMs, comments: true, log: silentLog });
    const metrics = createWebhookMetrics({ version: "test" });
    const dispatcher = makeDispatcher(
      {
        state,
        attempts: {
          message: taking(fixture.phone, options.message),
          issue: taking(fixture.issues, options.issue),
          comment: taking(fixture.comments, options.comment),
        },
        lookUp: options.lookUp ?? (async () => ({ status: "not_found" })),
        metrics,
        log: options.log ?? silentLog,
        nowMs,
        monotonicMs: () => clock.nowMs,
        random: () => 0,
        sleep: (ms, signal) => clock.sleep(Math.max(ms, options.lookMs ?? 2_000), signal),
      },
      { messagesPerMinute: 30, issuesPerHour: 300, digestAfterSeconds: 0, ...options, ...changed },
    );
    return { state, metrics, dispatcher };
  };
  const peers = { phone: [] as Sent[], issues: [] as Sent[], comments: [] as Sent[] };
  const fixture = { ...peers, skewMs: 0 } as unknown as DispatcherFixture;
  let running = await open();
  await running.dispatcher.start();
  const ended = async () => {
    await running.dispatcher.stop(0);
    await running.state.close();
  };
  const killed = async () => {
    // Waits for nothing: what is on its way fails at a closed state.
    void running.dispatcher.stop(0);
    await running.state.close();
  };
  return Object.defineProperties(fixture, {
    state: { get: () => running.state },
    dispatcher: { get: () => running.dispatcher },
    metrics: { get: () => running.metrics },
    accept: {
      async value(...alerts: Alert[]) {
        const accepted = await acceptAll(running.state, ...alerts);
        await running.dispatcher.look();
        return accepted;
      },
    },
    nowMs: { get: () => clock.nowMs },
    advance: { value: (ms: number) => clock.advance(ms) },
    restart: {
      async value(stoppedMs = 0, changed: Partial<Pace> = {}) {
        await ended();
        fixture.skewMs += stoppedMs;
        running = await open(changed);
        await running.dispatcher.start();
      },
    },
    kill: {
      async value() {
        await killed();
        running = await open();
        await running.dispatcher.start();
      },
    },
    close: {
      async value() {
        await ended();
        rmSync(directory, { recursive: true, force: true });
      },
    },
  });
}

const takes: Attempt = async ({ id }) => ({ status: "delivered", reference: `id-${id}`, url: null });
