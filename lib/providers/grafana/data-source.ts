import { member } from "../../platform/http/answer.ts";
import { type CallRecord, callPeer } from "../../platform/http/call-peer.ts";
import { peerUrl } from "../../platform/http/url.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { type PlatformReading, readingOf } from "./answer.ts";

/**
 * The type of the data source with this uid, such as `prometheus`; null when the platform has none.
 *
 * Errors: none thrown; they come as problems with codes `monitoring_…`. A token for the rules alone may be refused
 *         here with 403.
 * Source: Grafana docs, Data source HTTP API, `GET /api/datasources/uid/:uid`, read 2026-11-21.
 */
export async function readDataSourceType(options: {
  baseUrl: URL;
  token: Secret;
  uid: string;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  onCall?: ((record: CallRecord) => void) | undefined;
}): Promise<PlatformReading<string>> {
  const { baseUrl, token, uid, timeoutMs, signal, onCall } = options;
  const result = await callPeer({
    peer: "monitoring",
    method: "GET",
    url: peerUrl(baseUrl, ["api", "datasources", "uid", uid]),
    headers: { authorization: `Bearer ${token.open()}` },
    timeoutMs,
    signal,
    onCall,
  });
  return readingOf(result, (json) => {
    const type = member(json, "type");
    return typeof type === "string" ? type : undefined;
  });
}
