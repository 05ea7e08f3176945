import { type CallRecord, type CallResult, callPeer, type PeerCall } from "../../platform/http/call-peer.ts";
import { peerUrl } from "../../platform/http/url.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { gatewayRefusal } from "./refusal.ts";

/** How the gateway is reached; `timeoutMs` replaces the usual limit of a call. */
export type GatewayOptions = {
  baseUrl: URL;
  adminKey: Secret;
  timeoutMs?: number;
  onCall?: ((record: CallRecord) => void) | undefined;
};

/** One call of the gateway's; its own refusals are definitive. */
export function callGateway(
  { baseUrl, adminKey, onCall }: GatewayOptions,
  { path, ...call }: { path: readonly string[] } & Omit<PeerCall, "peer" | "url" | "headers" | "definitive">,
): Promise<CallResult> {
  return callPeer({
    ...call,
    peer: "gateway",
    url: peerUrl(baseUrl, path),
    headers: { apikey: adminKey.open() },
    definitive: (answer) => gatewayRefusal(answer) !== null,
    onCall,
  });
}
