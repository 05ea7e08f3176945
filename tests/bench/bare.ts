/** What the runtime, the driver and the machine can do at best: the baseline of the weekly run, in this run. */
import { join } from "node:path";
import process from "node:process";
import { cronEnvironment } from "../support/started-environment.ts";
import { ROOT, run } from "./child.ts";
import type { ManyOwners } from "./many-owners.ts";

/** How much work one report is: round trips, calls on a connection of their own, and calls over a kept one. */
export type BareReport = { roundTrips: number; posts: number; reads: number };

/** Calls that one report makes of its peers: two analyses, a message and an e-mail; the gateway's state. */
export const CALLS_OF_A_REPORT = { posts: 4, reads: 1 };

/** Reports a second, and processor time of the process for each. */
export type BareSpeed = { perSecond: number; cpuMs: number };

/** Bare round trips and calls of `count` reports, `concurrency` at once, with the engine as the weekly run has it. */
export async function bareReports(
  databaseUrl: string,
  peerUrl: string,
  report: BareReport,
  { count, concurrency }: { count: number; concurrency: number },
): Promise<BareSpeed> {
  const args = [databaseUrl, peerUrl, JSON.stringify(report), String(count), String(concurrency)];
  return await speedOf("bare-reports.ts", args, count);
}

/** The run's own statements and its bare calls, for each owner of `data` once: what opsctl itself adds is left out. */
export async function ledgerReports(
  { db, senders }: ManyOwners,
  peerUrl: string,
  { count, concurrency }: { count: number; concurrency: number },
): Promise<BareSpeed> {
  const args = [db.url, peerUrl, JSON.stringify(senders), String(concurrency)];
  return await speedOf("ledger-reports.ts", args, count);
}

async function speedOf(script: string, args: string[], count: number): Promise<BareSpeed> {
  const command = [process.execPath, join(ROOT, "tests/bench", script), ...args];
  const { exitCode, stdout, stderr, cpuMs } = await run(command, cronEnvironment());
  if (exitCode !== 0) throw new Error(`${script} failed: ${stderr.slice(0, 2_000)}`);
  return { perSecond: Number(stdout), cpuMs: cpuMs / count };
}
