/** Reports a second with both deliveries, against bare round trips; and how many round trips a report takes. */
import type { PostgresServer } from "../postgres.ts";
import { bareReportsPerSecond, CALLS_PER_REPORT } from "./bare.ts";
import { startScript } from "./child.ts";
import { startCountingProxy } from "./counting-proxy.ts";
import type { Figure } from "./figure.ts";
import { manyOwners } from "./many-owners.ts";
import { weeklyRun } from "./weekly-run.ts";

const LATENCY_MS = 5;
const REPORTS = 2_000;
const AIM_PER_SECOND = 250;

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
    goal: { atMost: 12 },
  };
}

/** Reports a second at one concurrency, and both baselines. */
export async function speedFigures(
  server: PostgresServer,
  roundTrips: number,
  concurrency: number,
): Promise<Figure[]> {
  const peers = await startScript("fast-peers.ts", [String(LATENCY_MS)]);
  const data = await manyOwners(server, REPORTS);
  try {
    const { summary } = await weeklyRun(data, peers.answer, concurrency);
    const perSecond = REPORTS / (summary.durationMs / 1000);
    const trips = Math.round(roundTrips);
    const bare = (httpCalls: number) =>
      bareReportsPerSecond(data.db.url, peers.answer, { roundTrips: trips, httpCalls }, REPORTS, concurrency);
    const [database, both] = [await bare(0), await bare(CALLS_PER_REPORT)];
    const value = `${perSecond.toFixed(0)}/s`;
    const measure = `weekly reports, --concurrency ${concurrency}`;
    return [
      { measure, value, baseline: `aim ${AIM_PER_SECOND}/s`, ratio: perSecond / AIM_PER_SECOND },
      {
        measure: `  against ${trips} bare round trips + ${CALLS_PER_REPORT} calls of ${LATENCY_MS} ms`,
        value,
        baseline: `${both.toFixed(0)}/s`,
        ratio: perSecond / both,
        goal: { atLeast: 0.6 },
      },
      {
        measure: `  against ${trips} bare round trips alone`,
        value,
        baseline: `${database.toFixed(0)}/s`,
        ratio: perSecond / database,
        goal: { atLeast: 0.6 },
      },
    ];
  } finally {
    await peers.stop();
    await data.db.drop();
  }
}
