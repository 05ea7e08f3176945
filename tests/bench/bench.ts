/**
 * `make bench`: figures, and their ratios to baselines that were measured in the same run.
 *
 * `make bench ONLY=startup` (or `roundtrips`, `speed`, `rate`, `memory`, `webhook`, `minute`, `state`, `intake`,
 * `burst`, `bodies`, `collector`, `reports`; several with commas) runs parts of it. The exit status says whether it
 * could be measured, not how fast it was.
 */
import { availableParallelism, loadavg } from "node:os";
import process from "node:process";
import { type PostgresServer, startPostgres } from "../support/postgres.ts";
import { collectorFigures } from "./collector.ts";
import { type Figure, renderFigures, renderTotals } from "./figure.ts";
import { largeBodyFigures } from "./large-bodies.ts";
import { pacedFigures, rateFigures } from "./provider-limit.ts";
import { reportsFigures } from "./reports-speed.ts";
import { startupFigures } from "./startup.ts";
import { stateFigures } from "./state-speed.ts";
import { burstFigures } from "./webhook-burst.ts";
import { intakeFigures, webhookFigures, webhookMinuteFigures } from "./webhook-speed.ts";
import { memoryFigures } from "./weekly-memory.ts";
import { countRoundTrips, roundTripFigure, speedFigures } from "./weekly-speed.ts";

type Part = (server: PostgresServer) => Promise<Figure[]>;

const PARTS: Record<string, Part> = {
  startup: () => startupFigures(),
  roundtrips: async (server) => [roundTripFigure(await countRoundTrips(server))],
  async speed(server) {
    const roundTrips = await countRoundTrips(server);
    return [...(await speedFigures(server, roundTrips, 8)), ...(await speedFigures(server, roundTrips, 32))];
  },
  rate: async (server) => [...(await rateFigures(server)), await pacedFigures(server)],
  memory: memoryFigures,
  webhook: webhookFigures,
  minute: webhookMinuteFigures,
  state: stateFigures,
  intake: intakeFigures,
  burst: burstFigures,
  bodies: largeBodyFigures,
  collector: collectorFigures,
  reports: reportsFigures,
};

const chosen = process.argv[2] ? process.argv[2].split(",") : Object.keys(PARTS);
const unknown = chosen.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  console.error(`No such part: ${unknown.join(", ")}; there are ${Object.keys(PARTS).join(", ")}`);
  process.exit(2);
}

console.log(`${availableParallelism()} cores, load ${loadavg()[0]!.toFixed(1)}; everything on this machine.`);
const needsDatabase = chosen.some(
  (name) => !["startup", "webhook", "minute", "intake", "burst", "bodies", "collector"].includes(name),
);
const server = needsDatabase ? await startPostgres() : null;
const stop = async (status: number) => {
  await server?.stop();
  process.exit(status);
};
for (const [signal, status] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  process.on(signal, () => void stop(status));
}
try {
  const all: Figure[] = [];
  for (const name of chosen) {
    const figures = await PARTS[name]!(server as PostgresServer);
    console.log(`\n${name}\n${renderFigures(figures)}`);
    all.push(...figures);
  }
  console.log(NOTES());
  console.log(renderTotals(all));
} catch (error) {
  console.error(error);
  await stop(1);
}
await stop(0);

function NOTES(): string {
  return [
    "PostgreSQL runs without fsync, as in the tests; peers are processes on loopback. Only ratios of one run count:",
    "other work on the machine slows both sides, and differences under about 20 % are noise. Load at the end:",
    `${loadavg()[0]!.toFixed(1)} on ${availableParallelism()} cores.`,
  ].join("\n");
}
