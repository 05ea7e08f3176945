/**
 * The bare round trips and calls of many reports, as a process of its own: what runtime, driver and machine can do at
 * best. Prints how many reports a second as its only line. Arguments: the database's URL, the peers' URL, `BareReport`
 * as JSON, how many reports, how many of them at once.
 *
 * Every round trip is `select 1`. Every call is an empty POST on a connection of its own, but for the gateway's state,
 * which is read over a kept one; nothing is built, nothing is written.
 */
import process from "node:process";
import postgres from "postgres";
import type { BareReport } from "./bare.ts";

const [databaseUrl, peerUrl, report, count, concurrency] = process.argv.slice(2) as [string, ...string[]];
const { roundTrips, posts, reads } = JSON.parse(report!) as BareReport;
const workers = Array.from({ length: Number(concurrency) });
const sql = postgres(databaseUrl, { max: workers.length, fetch_types: false, onnotice: () => {} });

await Promise.all(workers.map(() => sql`select 1`));
const startedMs = performance.now();
let left = Number(count);
await Promise.all(workers.map(work));
console.log(Number(count) / ((performance.now() - startedMs) / 1000));
process.exit(0);

async function work(): Promise<void> {
  while (left > 0) {
    left -= 1;
    for (let i = 0; i < roundTrips; i += 1) await sql`select 1`;
    for (let i = 0; i < posts; i += 1) await post();
    for (let i = 0; i < reads; i += 1) await read();
  }
}

async function post(): Promise<void> {
  const init = { method: "POST", body: "{}", keepalive: false };
  await (await fetch(`${peerUrl}/api/v1/social/analytics/weekly`, init)).arrayBuffer();
}

async function read(): Promise<void> {
  await (await fetch(`${peerUrl}/instance/connectionState/ops`)).arrayBuffer();
}
