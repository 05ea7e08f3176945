import * as v from "valibot";
import { callPeer } from "../../platform/http/call-peer.ts";
import { peerUrl } from "../../platform/http/url.ts";
import type { KindStats } from "../store/reads.ts";
import { lastRefusal } from "./refusal-log.ts";

/**
 * The health of a running webhook.
 *
 * Shape: `isLeader` is false on a host that another one delivers for. `paused` has the code for which a kind is paused,
 *        else null. `gatewayOpen` and `pendingMessages`, the messages that WhatsApp has not acknowledged for long, are
 *        null where the service does not know them. `secretRefusedAt` is when the last request from another host was
 *        refused for its secret; null when none was or one was accepted since.
 */
export type ServiceHealth = NonNullable<Awaited<ReturnType<typeof readServiceHealth>>>;

const code = v.nullish(v.pipe(v.string(), v.regex(/^\w{1,64}$/)), null);
/** As the service writes it, so that two of them compare as texts. */
const instant = v.nullish(v.pipe(v.string(), v.isoTimestamp()), null);
const counts = v.pipe(
  v.object({
    ...{ queued: v.number(), dead: v.number(), unknown: v.number() },
    oldestQueuedAgeSeconds: v.nullable(v.number()),
  }),
  v.transform(({ oldestQueuedAgeSeconds: seconds, ...of }): KindStats => {
    return { ...of, oldestQueuedAgeMs: seconds === null ? null : seconds * 1_000 };
  }),
);
const healthSchema = v.object({
  leader: v.optional(v.boolean(), true),
  ...{ message: v.nullish(counts), issue: v.nullish(counts), comment: v.nullish(counts) },
  paused: v.optional(v.object({ message: code, issue: code, comment: code }), {}),
  gatewayOpen: v.nullish(v.boolean(), null),
  pendingMessages: v.nullish(v.number(), null),
  posts: v.optional(v.object({ acceptedAt: instant, secretRefusedAt: instant }), {}),
});

/** Reads the health of the webhook on this host; null when nothing answers at its admin port, or that is turned off. */
export async function readServiceHealth(
  { adminPort, limitMs }: { adminPort: number; limitMs: number },
  signal: AbortSignal,
) {
  if (adminPort === 0) return null;
  const adminUrl = new URL(`http://127.0.0.1:${adminPort}`);
  const call = { peer: "webhook", method: "GET", headers: {}, timeoutMs: limitMs, signal } as const;
  const get = (path: string) => callPeer({ ...call, url: peerUrl(adminUrl, [path]) });
  const [ready, health] = await Promise.all([get("readyz"), get("healthz")]);
  if (ready.answer === null) return null;
  const parsed = v.safeParse(healthSchema, health.status === "answered" ? health.answer.json : {});
  const known = parsed.success ? parsed.output : v.parse(healthSchema, {});
  const { leader, message, issue, comment, paused, gatewayOpen, pendingMessages, posts } = known;
  return {
    ...{ isReady: ready.status === "answered", isLeader: leader },
    outbox: message && issue && comment ? { message, issue, comment } : null,
    ...{ paused, gatewayOpen, pendingMessages, secretRefusedAt: lastRefusal(posts) },
  };
}
