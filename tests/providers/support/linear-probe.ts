/**
 * Creates one issue at each of the addresses named in the first argument, one after the other, and prints what became
 * of each: run as a script by `linear-runtimes.test.ts` under Bun and under Deno.
 */
import process from "node:process";
import type { CallRecord } from "../../../lib/platform/http/call-peer.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import type { NewIssue } from "../../../lib/providers/issue-outcome.ts";
import { linearTracker } from "../../../lib/providers/linear/client.ts";

/** One creation to try; `timeoutMs` limits each of its calls. */
export type ProbeCreation = { url: string; issue: NewIssue; timeoutMs: number };

/** Who creates, and where. */
export type ProbeOrder = { token: string; teamId: string; creations: ProbeCreation[] };

const { token, teamId, creations } = JSON.parse(process.argv[2] ?? "") as ProbeOrder;
const records: CallRecord[] = [];
const outcomes = [];
for (const { url, issue, timeoutMs } of creations) {
  const onCall = (record: CallRecord) => records.push(record);
  const tracker = linearTracker({ url: new URL(url), token: new Secret(token), teamId, timeoutMs, onCall });
  outcomes.push(await tracker.createIssue(issue));
}
console.log(JSON.stringify({ outcomes, records }));
