import { Hono } from "hono";
import type { Log } from "../../platform/log/log.ts";
import { withTimeout } from "../../platform/timeout.ts";
import type { ChannelStops } from "../delivery/attempts/attempt.ts";
import type { WebhookMetrics } from "../metrics/metrics.ts";
import { OutageLog } from "../outage-log.ts";
import type { KindStats } from "../state/contract.ts";
import type { WatchView } from "../watch/watch.ts";
import { errorAnswer, jsonAnswer, methodNotAllowed, notFound } from "./json-answer.ts";
import { lastRefusal, type OutsidePostsView } from "./outside-posts.ts";
import { pageAnswer } from "./page/page-answer.ts";
import { type PageState, type ProcessFacts, readStateFacts, type StateFacts } from "./page/read-page.ts";

/** What the second port shows. */
export type AdminParts = {
  state: PageState;
  metrics: Pick<WebhookMetrics, "render" | "latest">;
  log: Log;
  dispatcher: { readonly isLeading: boolean; readonly stops: ChannelStops };
  watch: { readonly view: WatchView };
  posts: { readonly view: OutsidePostsView };
  isStopping: () => boolean;
  /** The clock that people read. */
  nowMs: () => number;
  monotonicMs: () => number;
};

/** Names of this host. A browser sends the name of the page's site, also when that name was made to lead here. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d*)?$/i;

/** How long to wait for the state. */
const STATE_LIMIT_MS = 5_000;

/**
 * The second port, for the host itself: the page at `/`, `/healthz`, `/readyz` and `/metrics`; another `Host` than
 * loopback gets 421.
 *
 * Behaviour: healthy while the state answers, whatever the peers do: a restart would not mend a peer, so stopped
 *            channels and queues are shown and change nothing. Metrics are there whatever the state does. Ready when an
 *            alert could be accepted now. No answer has a secret, and the page alone has texts of alerts.
 */
export function createAdminApp(parts: AdminParts): Hono {
  const { state, metrics, dispatcher } = parts;
  const outageAt = outagesAt(parts);
  const app = new Hono({ getPath: ({ url }) => new URL(url).pathname });
  app.use(async ({ req }, next) => {
    const host = req.header("host");
    return host === undefined || LOOPBACK.test(host) ? await next() : notThisHost();
  });
  app.get("/", async () =>
    pageAnswer({ ...processFacts(parts), state: await stateFacts(parts, outageAt("/")) }),
  );
  app.get("/healthz", async ({ req }) => {
    const shown = await health(parts);
    outageAt(req.path).worked();
    return jsonAnswer(200, shown);
  });
  app.get("/readyz", async ({ req }) => {
    if (parts.isStopping()) return jsonAnswer(503, { status: "stopping" });
    await inTime(state.check());
    outageAt(req.path).worked();
    return jsonAnswer(200, { status: "ready" });
  });
  app.get("/metrics", async () => {
    const { stops, isLeading } = dispatcher;
    const movedAside = state.movedAside !== null;
    // The counters say what goes out from memory meanwhile.
    const stats = await inTime(state.stats()).catch(() => null);
    const text = metrics.render({ stats, stops, isLeading, movedAside, watch: parts.watch.view });
    return new Response(text, { headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" } });
  });
  for (const path of ["/", "/healthz", "/readyz", "/metrics"])
    app.all(path, () => methodNotAllowed("GET, HEAD"));
  app.notFound(notFound);
  app.onError(({ name: cause }, { req: { path } }) => {
    outageAt(path).failed({ path, cause });
    return jsonAnswer(503, { status: "state_unavailable" });
  });
  return app;
}

function notThisHost(): Response {
  const message = "This port answers for localhost, 127.0.0.1 and [::1] alone";
  return errorAnswer(421, { code: "host_not_loopback", message });
}

function processFacts({ nowMs, isStopping, dispatcher, watch, metrics, posts }: AdminParts): ProcessFacts {
  const { isLeading, stops } = dispatcher;
  const refusedAt = lastRefusal(posts.view);
  return {
    nowMs: nowMs(),
    isStopping: isStopping(),
    isLeading,
    stops,
    watch: watch.view,
    latest: metrics.latest(),
    secretRefusedAtMs: refusedAt === null ? null : Date.parse(refusedAt),
  };
}

/** What is logged of a path where the state does not answer: not each request. */
function outagesAt({ log, monotonicMs }: AdminParts): (path: string) => OutageLog {
  const made = { log, monotonicMs, problem: "The state does not answer", over: "The state answers again" };
  const outages = new Map<string, OutageLog>();
  return (path) => {
    const outage = outages.get(path) ?? new OutageLog(made);
    outages.set(path, outage);
    return outage;
  };
}

/** What the state says, or null: the page says that it does not answer. */
async function stateFacts({ state }: AdminParts, outage: OutageLog): Promise<StateFacts | null> {
  try {
    const facts = await inTime(readStateFacts(state));
    outage.worked();
    return facts;
  } catch (error) {
    outage.failed({ path: "/", cause: error instanceof Error ? error.name : typeof error });
    return null;
  }
}

async function health({ state, dispatcher, watch, posts, isStopping }: AdminParts): Promise<object> {
  const { message, issue, comment, queuedBytes, reserveBytes } = await inTime(state.stats());
  const { gatewayOpen, pendingMessages, newestUnacknowledged } = watch.view;
  return {
    status: "ok",
    stopping: isStopping(),
    leading: dispatcher.isLeading,
    holds: dispatcher.stops,
    gatewayOpen,
    pendingMessages,
    newestUnacknowledged,
    posts: posts.view,
    message: shown(message),
    issue: shown(issue),
    comment: shown(comment),
    queuedBytes,
    reserveBytes,
    movedAside: state.movedAside,
  };
}

function shown({ queued, dead, inDoubt, oldestQueuedAgeMs }: KindStats): object {
  const oldestQueuedAgeSeconds = oldestQueuedAgeMs === null ? null : oldestQueuedAgeMs / 1_000;
  return { queued, dead, inDoubt, oldestQueuedAgeSeconds };
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  return await withTimeout(
    { limitMs: STATE_LIMIT_MS },
    () => answer,
    () => {
      throw new Error("No answer in time");
    },
  );
}
