import { member } from "../../platform/http/answer.ts";
import { callPeer } from "../../platform/http/call-peer.ts";
import { peerUrl } from "../../platform/http/url.ts";
import type { KindStats, OutboxKind } from "../store/types.ts";
import { lastRefusal } from "./refusal-log.ts";

/**
 * The health of a running webhook.
 *
 * Shape: `isLeader` is false on a host that another one delivers for. `paused` has the code for which a kind is paused,
 *        else null. `gatewayOpen` and `pendingMessages`, the messages that WhatsApp has not acknowledged for long, are
 *        null where the service does not know them. `secretRefusedAt` is when the last request from another host was
 *        refused for its secret; null when none was or one was accepted since.
 */
export type ServiceHealth = {
  isReady: boolean;
  isLeader: boolean;
  outbox: Record<OutboxKind, KindStats> | null;
  paused: Record<OutboxKind, string | null>;
  gatewayOpen: boolean | null;
  pendingMessages: number | null;
  secretRefusedAt: string | null;
};

/** Reads the health of the webhook on this host; null when nothing answers at its admin port, or that is turned off. */
export async function readServiceHealth(
  { adminPort, limitMs }: { adminPort: number; limitMs: number },
  signal: AbortSignal,
): Promise<ServiceHealth | null> {
  if (adminPort === 0) return null;
  const adminUrl = new URL(`http://127.0.0.1:${adminPort}`);
  const call = { peer: "webhook", method: "GET", headers: {}, timeoutMs: limitMs, signal } as const;
  const get = (path: string) => callPeer({ ...call, url: peerUrl(adminUrl, [path]) });
  const [ready, health] = await Promise.all([get("readyz"), get("healthz")]);
  if (ready.answer === null) return null;
  const json = health.status === "answered" ? health.answer.json : null;
  const of = (key: string) => member(json, key);
  const [message, issue, comment] = [of("message"), of("issue"), of("comment")].map(countsIn);
  const [isOpen, pending, posts] = [of("gatewayOpen"), of("pendingMessages"), of("posts")];
  return {
    isReady: ready.status === "answered",
    isLeader: of("leader") !== false,
    outbox: message && issue && comment ? { message, issue, comment } : null,
    paused: {
      message: codeIn(of("paused"), "message"),
      issue: codeIn(of("paused"), "issue"),
      comment: codeIn(of("paused"), "comment"),
    },
    gatewayOpen: typeof isOpen === "boolean" ? isOpen : null,
    pendingMessages: typeof pending === "number" ? pending : null,
    secretRefusedAt: lastRefusal({
      acceptedAt: instantIn(posts, "acceptedAt"),
      secretRefusedAt: instantIn(posts, "secretRefusedAt"),
    }),
  };
}

function countsIn(json: unknown): KindStats | null {
  const [queued, dead, unknown] = ["queued", "dead", "unknown"].map((key) => member(json, key));
  const seconds = member(json, "oldestQueuedAgeSeconds");
  if (typeof queued !== "number" || typeof dead !== "number" || typeof unknown !== "number") return null;
  return { queued, dead, unknown, oldestQueuedAgeMs: typeof seconds === "number" ? seconds * 1000 : null };
}

/** An instant as the service writes it, so that two of them compare as texts. */
function instantIn(json: unknown, key: string): string | null {
  return textIn(json, key, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
}

function codeIn(json: unknown, key: string): string | null {
  return textIn(json, key, /^[A-Za-z0-9_]{1,64}$/);
}

function textIn(json: unknown, key: string, shape: RegExp): string | null {
  const text = member(json, key);
  return typeof text === "string" && shape.test(text) ? text : null;
}
