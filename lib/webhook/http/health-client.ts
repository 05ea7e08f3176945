import { member } from "../../platform/http/answer.ts";
import { callPeer } from "../../platform/http/call-peer.ts";
import { peerUrl } from "../../platform/http/url.ts";
import type { KindStats, OutboxKind } from "../state/contract.ts";
import { lastRefusal } from "./outside-posts.ts";

/** What waits longer than this waits for more than its turn. */
export const LONG_WAIT_MS = 15 * 60_000;

/**
 * The health of a running webhook.
 *
 * Shape: `holds` has the code for which it holds all messages or issues, else null. `gatewayOpen` and `pendingMessages`
 *        are null where the service does not know them. `secretRefusedAt` is when the last post from elsewhere was
 *        refused for its secret, null when none was or one was accepted since.
 */
export type ServiceHealth = {
  isReady: boolean;
  /** False on a host that another one delivers for. */
  isLeading: boolean;
  outbox: Record<OutboxKind, KindStats> | null;
  holds: Record<OutboxKind, string | null>;
  gatewayOpen: boolean | null;
  /** Messages that the gateway took and WhatsApp has not acknowledged for long. */
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
  const get = (path: string) =>
    callPeer({
      peer: "webhook",
      method: "GET",
      url: peerUrl(adminUrl, [path]),
      headers: {},
      timeoutMs: limitMs,
      signal,
    });
  const [ready, health] = await Promise.all([get("readyz"), get("healthz")]);
  if (ready.answer === null) return null;
  const json = health.status === "answered" ? health.answer.json : null;
  const [message, issue] = [countsIn(member(json, "message")), countsIn(member(json, "issue"))];
  // A service of an older version knows no comments.
  const comment = countsIn(member(json, "comment")) ?? NONE;
  const holds = member(json, "holds");
  const [isOpen, pending] = [member(json, "gatewayOpen"), member(json, "pendingMessages")];
  return {
    isReady: ready.status === "answered",
    isLeading: member(json, "leading") !== false,
    outbox: message === null || issue === null ? null : { message, issue, comment },
    holds: {
      message: codeIn(member(holds, "message")),
      issue: codeIn(member(holds, "issue")),
      comment: codeIn(member(holds, "comment")),
    },
    gatewayOpen: typeof isOpen === "boolean" ? isOpen : null,
    pendingMessages: typeof pending === "number" ? pending : null,
    secretRefusedAt: refusalIn(member(json, "posts")),
  };
}

function refusalIn(posts: unknown): string | null {
  const [acceptedAt, secretRefusedAt] = [instantIn(posts, "acceptedAt"), instantIn(posts, "secretRefusedAt")];
  return lastRefusal({ acceptedAt, secretRefusedAt });
}

/** An instant as the service writes it, so that two of them compare as texts. */
function instantIn(json: unknown, key: string): string | null {
  const text = member(json, key);
  return typeof text === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) ? text : null;
}

function countsIn(json: unknown): KindStats | null {
  const [queued, dead, inDoubt] = [member(json, "queued"), member(json, "dead"), member(json, "inDoubt")];
  const seconds = member(json, "oldestQueuedAgeSeconds");
  if (typeof queued !== "number" || typeof dead !== "number") return null;
  return {
    queued,
    dead,
    inDoubt: typeof inDoubt === "number" ? inDoubt : 0,
    oldestQueuedAgeMs: typeof seconds === "number" ? seconds * 1000 : null,
  };
}

const NONE: KindStats = { queued: 0, dead: 0, inDoubt: 0, oldestQueuedAgeMs: null };

function codeIn(value: unknown): string | null {
  return typeof value === "string" && /^[A-Za-z0-9_]{1,64}$/.test(value) ? value : null;
}
