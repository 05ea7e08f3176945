/** An application that goes away at random calls, for random times, while processes work together and are killed. */
import { expect } from "bun:test";
import { until } from "../support/until.ts";
import { lackingNetworks } from "../weekly/support/outage.ts";
import { type Arena, openArena } from "./arena.ts";
import { HURRY } from "./hurried.ts";
import { expectEndAnnounced, expectHeard, expectLastRun } from "./last-run.ts";
import { expectConsistent, expectNothingDoubled, expectNothingLost } from "./ledger.ts";
import { OUTAGES, type OutageKind, orderOutage } from "./outage.ts";
import { type Random, randomFrom } from "./random.ts";
import type { Ended, Worker } from "./worker.ts";

const CONCURRENCY = 4;
const PATIENCE_MINUTES = 15;
/** So many steps of 21 minutes fit into one Monday. */
const MOST_ROUNDS = 30;
/** Real times that are surely shorter than a run's short wait of two minutes, and than its patience. */
const SHORT_MS = (0.75 * 120_000) / HURRY;
const PATIENT_MS = (0.75 * PATIENCE_MINUTES * 60_000) / HURRY;
/** What a run says that has waited in vain. */
const SECOND_PASS = "the second pass decides";

/** What the seeds have met, for the log. */
export type Met = {
  rounds: number;
  outages: number;
  waits: number;
  breakOffs: number;
  kills: number;
  unknown: number;
  lacking: number;
};

/**
 * Rounds of one to three processes and one outage; every fourth round is without a kill. Then the application stays.
 *
 * Behaviour: no report lacks a network after an outage that was shorter than the shortest wait. A longer one leaves
 *            such reports only where a run has said that its second pass decides.
 */
export async function waitAtRandom(seed: number, owners: number): Promise<Met> {
  const random = randomFrom(seed);
  await using arena = await openArena({ owners, latencyMs: 2, editorials: true, withDoor: true });
  const all: Ended[] = [];
  let outages = 0;
  let rounds = 0;
  for (let round = 1; round <= MOST_ROUNDS; round += 1) {
    rounds += 1;
    const before = await lackingNetworks(arena);
    const plan = planOutage(random, owners - before.completed);
    const outage = orderOutage(arena, plan);
    const ended = await runTogether(arena, random, { mayDie: round % 4 !== 0 });
    if (outage.hasBegun()) outages += 1;
    outage.end();
    all.push(...ended);
    expectPatience(ended, plan);
    expectNothingNewLacking(ended, before, await lackingNetworks(arena));
    await expectRound(arena, ended, all);
    await arena.passLeases();
    if (ended.some(hasFoundAllDone)) break;
  }

  const { kills, unknown } = await expectEnd(arena, all);
  expect(unknown).toBeLessThanOrEqual(kills * CONCURRENCY);
  const breakOffs = all.filter(brokeOff).length;
  const waits = all.filter(({ stderr }) => stderr.includes("the run waits")).length;
  const { lacking } = await lackingNetworks(arena);
  return { rounds, outages, waits, breakOffs, kills, unknown, lacking: lacking.length };
}

type Plan = { kind: OutageKind; fromCall: number; lastsMs: number | null };

/** Shorter than the shortest wait, or than the patience, or longer: then until the processes have ended. */
function planOutage(random: Random, ownersLeft: number): Plan {
  const kind = OUTAGES[random.below(OUTAGES.length)]!;
  const fromCall = 1 + random.below(2 * Math.max(1, ownersLeft));
  const length = random.below(8);
  // A silent application takes real time for each probe.
  if (length < 4 || kind === "silent") return { kind, fromCall, lastsMs: random.below(SHORT_MS) };
  return { kind, fromCall, lastsMs: length < 6 ? random.below(PATIENT_MS) : null };
}

/** Starts the processes of one round, and kills some of them. */
async function runTogether(arena: Arena, random: Random, { mayDie }: { mayDie: boolean }): Promise<Ended[]> {
  const flags = { concurrency: CONCURRENCY, patienceMinutes: PATIENCE_MINUTES };
  const workers = Array.from({ length: 1 + random.below(3) }, () => arena.startHurried(flags));
  return await Promise.all(
    workers.map((worker) => {
      const dies = random.below(3) > 0;
      const [calls, afterMs] = [random.below(60), 500 + random.below(5_000)];
      return mayDie && dies ? killAfter(worker, afterMs, callsFromNow(arena, calls)) : worker.ended;
    }),
  );
}

/** Whether the peers have had so many calls more. */
function callsFromNow({ application, gateway, email }: Arena, calls: number): () => boolean {
  const made = () => [application, gateway, email].reduce((sum, { ledger }) => sum + ledger.length, 0);
  const target = made() + calls;
  return () => made() >= target;
}

/** Kills a process after so much of its life, which is what is random here, or at `earlier`. */
export async function killAfter(worker: Worker, ms: number, earlier = () => false): Promise<Ended> {
  const deadlineMs = performance.now() + ms;
  let hasEnded = false;
  void worker.ended.then(() => {
    hasEnded = true;
  });
  const isTime = () => hasEnded || earlier() || performance.now() >= deadlineMs;
  await until("the time of the kill", isTime);
  worker.kill("SIGKILL");
  return await worker.ended;
}

/** Nothing of the week was left to a next run when this one ended. */
export function hasFoundAllDone({ summary }: Ended): boolean {
  if (summary?.week == null) return false;
  const { reports, whatsapp, email } = summary.week;
  return [reports, whatsapp, email].every(({ running, failed, missing }) => running + failed + missing === 0);
}

/** What holds after every round. */
async function expectRound(arena: Arena, ended: Ended[], all: Ended[]): Promise<void> {
  for (const one of ended) {
    if (one.signal === null) expect(one.summary, one.stderr).not.toBeNull();
    if (one.summary !== null) expectConsistent(one);
  }
  await expectNothingDoubled(arena);
  expectLastRun(arena, ended);
  expectHeard(arena, all);
}

/** No run ends before its patience has ended. */
function expectPatience(ended: Ended[], { lastsMs }: Plan): void {
  const logs = ended.map(({ stderr }) => stderr).join("");
  if (lastsMs !== null) expect(ended.filter(brokeOff)).toEqual([]);
  if (lastsMs !== null && lastsMs < SHORT_MS) expect(logs).not.toContain(SECOND_PASS);
}

type Lacking = Awaited<ReturnType<typeof lackingNetworks>>;

/** A report lacks a network only where a run has waited in vain, and has said that its second pass decides. */
function expectNothingNewLacking(ended: Ended[], before: Lacking, after: Lacking): void {
  if (ended.some(({ stderr }) => stderr.includes(SECOND_PASS))) return;
  expect(after.lacking, "networks that a report lacks").toEqual(before.lacking);
}

function brokeOff({ summary }: Ended): boolean {
  return summary?.error?.code === "APP_NOT_ANSWERING";
}

/** A run of the real binary once everything answers does the rest, and a rerun says the same. */
export async function expectEnd(arena: Arena, all: Ended[]): Promise<{ kills: number; unknown: number }> {
  const last = await arena.run();
  const again = await arena.runHere();
  for (const one of [last, again]) expectConsistent(one);
  expect(verdictOf(again)).toEqual(verdictOf(last));
  const states = await expectNothingLost(arena);
  const { reports, whatsapp, email } = again.summary!;
  expect([reports.reused, whatsapp.sent, email.sent]).toEqual([arena.owners.length, 0, 0]);
  expectHeard(arena, [...all, last, again]);
  expectEndAnnounced(arena, again);
  const unknown = (states["whatsapp unknown"] ?? 0) + (states["email unknown"] ?? 0);
  const unexpected = [arena.application, arena.gateway, arena.email].flatMap((peer) => peer.unexpected);
  expect(unexpected).toEqual([]);
  return { kills: all.filter(({ signal }) => signal === "SIGKILL").length, unknown };
}

/** What a rerun has to repeat while nothing happens. */
function verdictOf({ summary, exitCode }: Ended) {
  const { status, week, heartbeat, failures } = summary!;
  const codes = failures.map(({ step, code }) => `${step} ${code}`).sort();
  return { exitCode, status, week, heartbeat, codes };
}
