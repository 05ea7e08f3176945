/**
 * The container engine on a Unix socket (first argument) and the hosting provider on a loopback port, which answer
 * after so many milliseconds (second argument). Prints the provider's URL and ends with its standard input.
 */
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";

const [unix, latency] = [process.argv[2]!, Number(process.argv[3] ?? 0)];
const PROJECTS = 16;

// As most engines in use: the sample does not name its container.
const inspection = { Id: "9f3c0d".padEnd(64, "0"), Name: "/traefik", State: { Running: true } };
const sample = {
  read: "2026-03-02T08:15:30.1Z",
  memory_stats: { usage: 187_654_144, stats: { inactive_file: 45_678_592 } },
};
const projects = Array.from({ length: PROJECTS }, (_, i) => ({
  id: `prj_${i}`,
  name: `project-${i}`,
  latestDeployments: [
    { id: `dpl_${i}`, readyState: i === 3 ? "ERROR" : "READY", createdAt: 1_772_438_300_000 },
  ],
}));

Bun.serve({
  unix,
  async fetch({ url }) {
    if (latency > 0) await delay(latency);
    return Response.json(new URL(url).pathname.endsWith("/json") ? inspection : sample);
  },
});
const hosting = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    if (latency > 0) await delay(latency);
    const one = /^\/v9\/projects\/(prj_\d+)$/.exec(new URL(request.url).pathname)?.[1];
    if (one !== undefined) return Response.json(projects.find(({ id }) => id === one));
    return Response.json({ projects, pagination: { count: PROJECTS, next: null, prev: null } });
  },
});
console.log(hosting.url.origin);
process.stdin.on("end", () => process.exit(0)).resume();
