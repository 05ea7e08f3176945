/** SIGTERM and SIGINT in the middle of a run: a clean end in time, from which the next run goes on at once. */
import { expect } from "bun:test";
import { until } from "../support/until.ts";
import { openArena } from "./arena.ts";
import { expectNothingDoubled, expectNothingLost, expectQuiet, hasHeartbeat } from "./ledger.ts";

const OWNERS = 40;

/** A signal while all peers answer: what is in flight is finished, no result is unknown. */
export async function interruptBusyRun(signal: "SIGTERM" | "SIGINT"): Promise<void> {
  await using arena = await openArena({ owners: OWNERS, latencyMs: 20 });
  const worker = arena.start(["--concurrency", "4"]);
  await until("some messages are sent", () => arena.gateway.accepted.length >= 5);
  worker.kill(signal);
  const signalledMs = performance.now();
  const ended = await worker.ended;

  expect(performance.now() - signalledMs).toBeLessThan(30_000);
  expect(ended).toMatchObject({ exitCode: 1, signal: null });
  expect(ended.summary).toMatchObject({
    status: "failed",
    error: { code: "RUN_INTERRUPTED" },
    heartbeat: "kept",
    whatsapp: { unknown: 0 },
    email: { unknown: 0 },
  });
  expect(ended.summary!.whatsapp.sent).toBeLessThan(OWNERS);
  expect(hasHeartbeat(arena)).toBe(false);
  await expectNothingDoubled(arena);
  const [open] = await arena.db.sql`
    select (select count(*)::int from weekly_performance_reports where status = 'running') as reports,
           (select count(*)::int from weekly_performance_deliveries where status = 'running') as deliveries`;
  expect({ ...open }).toEqual({ reports: 0, deliveries: 0 });

  // No lease to wait for: everything was finished or handed back.
  const next = await arena.run();
  expect(next.summary).toMatchObject({ status: "success", exitCode: 0 });
  const states = await expectNothingLost(arena);
  expectQuiet(arena, await arena.run(), states);
}

/** A signal while a peer has taken a message and says nothing: the run still ends in time, and reports the result as unknown. */
export async function interruptHangingSend(): Promise<void> {
  await using arena = await openArena({ owners: 3 });
  arena.email.routes.send.next({ accept: "hang" });
  const worker = arena.start(["--concurrency", "1"]);
  await until("the provider takes the e-mail", () => arena.email.accepted.length === 1);
  worker.kill("SIGTERM");
  const signalledMs = performance.now();
  const ended = await worker.ended;

  expect(performance.now() - signalledMs).toBeLessThan(30_000);
  expect(ended).toMatchObject({ exitCode: 1, signal: null });
  expect(ended.summary).toMatchObject({ error: { code: "RUN_INTERRUPTED" }, email: { sent: 0, unknown: 1 } });
  expect((await arena.run()).exitCode).toBe(1);
  const states = await expectNothingLost(arena);
  expect(states).toMatchObject({ "email unknown": 1, "email sent": 2, "whatsapp sent": 3 });
  expectQuiet(arena, await arena.run(), states);
}
