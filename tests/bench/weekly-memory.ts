/** Peak memory of a run over many owners against one over few: it must not grow with their number. */
import type { PostgresServer } from "../support/postgres.ts";
import { startScript } from "./child.ts";
import type { Figure } from "./figure.ts";
import { manyOwners } from "./many-owners.ts";
import { weeklyRun } from "./weekly-run.ts";

const FEW = 2_000;
const MANY = 20_000;
const CONCURRENCY = 8;
const MIB = 1_048_576;

/** Both peaks, their ratio and their difference; the peers answer at once, to be through sooner. */
export async function memoryFigures(server: PostgresServer): Promise<Figure[]> {
  const peers = await startScript("fast-peers.ts", ["0"]);
  const peaks: number[] = [];
  try {
    for (const owners of [FEW, MANY]) {
      const data = await manyOwners(server, owners);
      const { peakBytes } = await weeklyRun(data, peers.answer, CONCURRENCY);
      peaks.push(peakBytes / MIB);
      await data.db.drop();
    }
  } finally {
    await peers.stop();
  }
  const [few, many] = peaks as [number, number];
  return [
    {
      measure: `peak memory, ${MANY} owners against ${FEW}`,
      value: `${many.toFixed(0)} MiB`,
      baseline: `${few.toFixed(0)} MiB`,
      ratio: many / few,
      goal: { atMost: 1.2 },
    },
    {
      measure: "  difference in MiB",
      value: `${(many - few).toFixed(0)} MiB`,
      ratio: many - few,
      goal: { atMost: 30 },
    },
  ];
}
