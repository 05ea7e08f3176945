/**
 * The bare round trips and calls of many reports, as a process of its own: what runtime, driver and machine can do at
 * best. Prints how many reports a second as its only line. Arguments: the database's URL, the peers' URL, `BareReport`
 * as JSON, how many reports, how many of them at once.
 *
 * Every round trip is `select 1`, and the calls are those of `bare-calls.ts`; nothing is built, nothing is written.
 */
import process from "node:process";
import postgres from "postgres";
import type { BareReport } from "./bare.ts";
import { bareCalls } from "./bare-calls.ts";

const [databaseUrl, peerUrl, report, count, concurrency] = process.argv.slice(2) as [string, ...string[]];
const { roundTrips, posts, reads } = JSON.parse(report!) as BareReport;
const { post, read } = bareCalls(peerUrl!);
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
