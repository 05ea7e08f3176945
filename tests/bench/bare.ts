/** What the runtime, the driver and the machine can do at best: the baseline of the weekly run, in this run. */
import postgres from "postgres";

/** Calls that one report makes of its peers: two analyses, the gateway's state, a message, an e-mail. */
export const CALLS_PER_REPORT = 5;

/** How much work one report is. */
export type BareReport = { roundTrips: number; httpCalls: number };

/**
 * `count` times the bare round trips of one report, with at most `concurrency` at once, in reports a second.
 *
 * Shape: every database round trip is `select 1` through the same driver, every call an empty POST on a connection of
 *        its own; nothing is built, nothing is written.
 */
export async function bareReportsPerSecond(
  databaseUrl: string,
  peerUrl: string,
  { roundTrips, httpCalls }: BareReport,
  count: number,
  concurrency: number,
): Promise<number> {
  const sql = postgres(databaseUrl, { max: concurrency, fetch_types: false, onnotice: () => {} });
  try {
    await Promise.all(Array.from({ length: concurrency }, () => sql`select 1`));
    const startedMs = performance.now();
    let left = count;
    const worker = async () => {
      while (left > 0) {
        left -= 1;
        for (let i = 0; i < roundTrips; i += 1) await sql`select 1`;
        for (let i = 0; i < httpCalls; i += 1) await bareCall(peerUrl);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
    return count / ((performance.now() - startedMs) / 1000);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function bareCall(peerUrl: string): Promise<void> {
  const init = { method: "POST", body: "{}", keepalive: false };
  const response = await fetch(`${peerUrl}/api/v1/social/analytics/weekly`, init);
  await response.arrayBuffer();
}
