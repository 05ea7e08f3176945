/**
 * Makes the calls named in the first argument, one after the other, and prints the result of each: run as a script by
 * `connection-faults.test.ts`.
 */
import process from "node:process";
import { callPeer } from "../../../lib/platform/http/call-peer.ts";

/** One call to make; `warm` fetches a pooled connection to the same host first. */
export type ProbeCall = {
  name: string;
  url: string;
  timeoutMs: number;
  warm?: boolean;
  method?: "GET" | "POST";
  unixSocket?: string;
};

/** Its result. */
export type ProbeResult = { name: string; class: string; problem: string | null; status: number | null };

const calls = JSON.parse(process.argv[2] ?? "[]") as ProbeCall[];
const results: ProbeResult[] = [];
for (const { name, url, timeoutMs, warm, method = "POST", unixSocket } of calls) {
  if (warm) await (await fetch(url, { method: "POST", body: "{}" })).text();
  const call = {
    peer: "probe",
    method,
    url: new URL(url),
    headers: {},
    ...(method === "POST" ? { body: { a: 1 } } : {}),
    timeoutMs,
    unixSocket,
  };
  const { status: kind, problem, answer } = await callPeer(call);
  results.push({ name, class: kind, problem, status: answer?.status ?? null });
}
console.log(JSON.stringify(results));
