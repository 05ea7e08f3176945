/** Reports a second with both deliveries, against bare round trips; and how many round trips a report takes. */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { SCORE_WEEKS } from "../../lib/weekly/payload.ts";
import type { PostgresServer } from "../support/postgres.ts";
import { type BareSpeed, bareReports, CALLS_OF_A_REPORT, ledgerReports } from "./bare.ts";
import { processorMsOf, startScript } from "./child.ts";
import { startCountingProxy } from "./counting-proxy.ts";
import { type Figure, median } from "./figure.ts";
import { manyOwners } from "./many-owners.ts";
import { weeklyRun } from "./weekly-run.ts";

const LATENCY_MS = 5;
const REPORTS = 2_000;
/** As many weeks before as a report tells of. */
const PAST_WEEKS = SCORE_WEEKS - 1;
const ROUNDS = 3;
const AIM_PER_SECOND = 250;
const DEFAULT_CONCURRENCY = 8;

/** Database round trips of one report, counted on the wire: the difference between a long and a short run. */
export async function countRoundTrips(server: PostgresServer): Promise<number> {
  const peers = await startScript("fast-peers.ts", ["0"]);
  const counts: number[] = [];
  try {
    for (const owners of [100, 500]) {
      const proxy = await startCountingProxy(server.port);
      const data = await manyOwners(server, owners);
      const databaseUrl = data.db.url.replace(`:${server.port}/`, `:${proxy.port}/`);
      await weeklyRun(data, peers.answer, 8, { databaseUrl });
      counts.push(proxy.roundTrips);
      await data.db.drop();
      await proxy.stop();
    }
  } finally {
    await peers.stop();
  }
  return (counts[1]! - counts[0]!) / 400;
}

/** The round trips as a figure. */
export function roundTripFigure(roundTrips: number): Figure {
  return {
    measure: "database round trips per report",
    value: roundTrips.toFixed(2),
    ratio: roundTrips,
    // The pages of owners and the clock, which belong to the run, come on top.
    goal: { atMost: 10.1 },
  };
}

/** Reports a second, and processor time per report of opsctl, of PostgreSQL and of the peers. */
type Speed = {
  weekly: number;
  database: BareSpeed;
  both: BareSpeed;
  ledger: BareSpeed;
  cpuMs: number;
  serverMs: number;
  peersMs: number;
};

/** Reports a second at one concurrency, and its baselines; they take turns, and the medians count. */
export async function speedFigures(
  server: PostgresServer,
  roundTrips: number,
  concurrency: number,
): Promise<Figure[]> {
  const trips = Math.round(roundTrips);
  const peers = await startScript("fast-peers.ts", [String(LATENCY_MS)]);
  const rounds: Speed[] = [];
  try {
    for (let i = 0; i < ROUNDS; i += 1) {
      const size = { count: REPORTS, concurrency };
      const ledgerOnly = await manyOwners(server, REPORTS, { pastWeeks: PAST_WEEKS });
      const ledger = await ledgerReports(ledgerOnly, peers.answer, size);
      await ledgerOnly.db.drop();
      const data = await manyOwners(server, REPORTS, { pastWeeks: PAST_WEEKS });
      const bare = (calls: { posts: number; reads: number }) =>
        bareReports(data.db.url, peers.answer, { roundTrips: trips, ...calls }, size);
      const both = await bare(CALLS_OF_A_REPORT);
      const serverMs = stopwatch(postmasterOf(server));
      const peersMs = stopwatch(peers.pid);
      const { summary, cpuMs } = await weeklyRun(data, peers.answer, concurrency);
      const costs = {
        cpuMs: cpuMs / REPORTS,
        serverMs: serverMs() / REPORTS,
        peersMs: peersMs() / REPORTS,
      };
      const weekly = REPORTS / (summary.durationMs / 1000);
      const database = await bare({ posts: 0, reads: 0 });
      rounds.push({ weekly, both, database, ledger, ...costs });
      await data.db.drop();
    }
  } finally {
    await peers.stop();
  }
  return figuresOf(rounds, trips, concurrency);
}

function postmasterOf({ dataDir }: PostgresServer): number {
  return Number(readFileSync(join(dataDir, "postmaster.pid"), "utf8").split("\n")[0]);
}

/** Processor time of a process and its children from now on. */
function stopwatch(pid: number): () => number {
  const beforeMs = processorMsOf(pid);
  return () => processorMsOf(pid) - beforeMs;
}

function figuresOf(rounds: Speed[], trips: number, concurrency: number): Figure[] {
  const perSecond = median(rounds.map(({ weekly }) => weekly));
  const against = (what: string, of: (speed: Speed) => BareSpeed, goal?: Figure["goal"]): Figure => ({
    measure: `  against ${what}`,
    value: `${perSecond.toFixed(0)}/s`,
    baseline: `${median(rounds.map((speed) => of(speed).perSecond)).toFixed(0)}/s`,
    ratio: median(rounds.map((speed) => speed.weekly / of(speed).perSecond)),
    ...(goal === undefined ? {} : { goal }),
  });
  const calls = CALLS_OF_A_REPORT.posts + CALLS_OF_A_REPORT.reads;
  const isDefault = concurrency === DEFAULT_CONCURRENCY;
  return [
    {
      measure: `weekly reports, --concurrency ${concurrency}`,
      value: `${perSecond.toFixed(0)}/s`,
      baseline: `aim ${AIM_PER_SECOND}/s`,
      ratio: perSecond / AIM_PER_SECOND,
    },
    against(`${trips} bare round trips + ${calls} calls of ${LATENCY_MS} ms`, ({ both }) => both),
    // How fast a run could be whose own work cost nothing: the rest of the way to the bare baseline is the ledger's.
    against(
      "its own statements, with the bare calls",
      ({ ledger }) => ledger,
      isDefault ? { atLeast: 0.85 } : undefined,
    ),
    {
      measure: "  those against the bare round trips and calls",
      value: `${median(rounds.map(({ ledger }) => ledger.perSecond)).toFixed(0)}/s`,
      ratio: median(rounds.map(({ ledger, both }) => ledger.perSecond / both.perSecond)),
    },
    against(`${trips} bare round trips alone`, ({ database }) => database),
    {
      measure: "  processor time of opsctl per report, against the bare round trips and calls",
      value: `${median(rounds.map(({ cpuMs }) => cpuMs)).toFixed(1)} ms`,
      baseline: `${median(rounds.map(({ both }) => both.cpuMs)).toFixed(1)} ms`,
      ratio: median(rounds.map(({ cpuMs, both }) => cpuMs / both.cpuMs)),
      ...(isDefault ? { goal: { atMost: 3 } } : {}),
    },
    ...boundFigures(rounds, perSecond),
  ];
}

/** What the rest costs, and how many reports a second all the processors would allow if nothing else ran on them. */
function boundFigures(rounds: Speed[], perSecond: number): Figure[] {
  const cores = availableParallelism();
  const serverMs = median(rounds.map((speed) => speed.serverMs));
  const allMs = median(rounds.map((speed) => speed.cpuMs + speed.serverMs + speed.peersMs));
  const bound = (cores * 1000) / allMs;
  return [
    { measure: "  processor time of PostgreSQL per report", value: `${serverMs.toFixed(1)} ms` },
    {
      measure: "  of opsctl, PostgreSQL and the peers together",
      value: `${allMs.toFixed(1)} ms`,
      baseline: `${cores} cores: ${bound.toFixed(0)}/s`,
      ratio: perSecond / bound,
    },
  ];
}
