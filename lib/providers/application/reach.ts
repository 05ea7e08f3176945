import { type CallRecord, callPeer } from "../../platform/http/call-peer.ts";
import { peerUrl } from "../../platform/http/url.ts";

/** Whether anything answers at the application's address; `cause` is `APP_TIMEOUT` when no answer came in time. */
export type Reach =
  | { status: "answered" }
  | { status: "failed"; code: "APP_UNREACHABLE"; cause?: "APP_TIMEOUT" | undefined };

/**
 * Asks for the application's address itself, without a secret: any answer will do, an error page too.
 *
 * Behaviour: proves nothing about the routes and their secrets, because every call of those does work.
 * Errors:    none thrown.
 */
export async function checkReach(options: {
  baseUrl: URL;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  onCall?: ((record: CallRecord) => void) | undefined;
}): Promise<Reach> {
  const { baseUrl, timeoutMs, signal, onCall } = options;
  const url = peerUrl(baseUrl, []);
  const call = { peer: "application", method: "GET" as const, url, headers: {}, timeoutMs, signal, onCall };
  const { answer, problem } = await callPeer(call);
  if (answer !== null) return { status: "answered" };
  const cause = problem === "timeout" ? "APP_TIMEOUT" : undefined;
  return { status: "failed", code: "APP_UNREACHABLE", cause };
}
