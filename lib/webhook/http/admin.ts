import { Hono } from "hono";
import type { Log } from "../../platform/log/log.ts";
import type { WebhookMetrics } from "../metrics/metrics.ts";
import { OutageLog } from "../outage-log.ts";
import { type PageState, readStateFacts } from "../page/facts.ts";
import { pageAnswer } from "../page/render.ts";
import type { OutboxKind } from "../store/model.ts";
import type { KindStats } from "../store/reads.ts";
import type { WatchView } from "../watch/watch.ts";
import { jsonAnswer, methodNotAllowed, refusal } from "./answers.ts";
import { lastRefusal, type RefusalLog } from "./refusal-log.ts";

/** The parts of the admin port; `nowMs` is the clock that people read. */
export type AdminParts = {
  state: PageState;
  metrics: Pick<WebhookMetrics, "render" | "latest">;
  log: Log;
  dispatcher: Readonly<{ isLeading: boolean; pauses: Readonly<Record<OutboxKind, string | null>> }>;
  watch: { readonly view: WatchView };
  refusals: Pick<RefusalLog, "lastPosts">;
  isStopping: () => boolean;
  nowMs: () => number;
  monotonicMs: () => number;
};

/** Names of this host. A browser sends the name of the page's site, also when that name was made to lead here. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d*)?$/i;

/**
 * The admin port, for this host only: the page at `/`, `/healthz`, `/readyz` and `/metrics`; another `Host` than loopback
 * gets 421.
 *
 * Behaviour: healthy while the state answers, whatever the external services do: a restart would not fix them. Metrics
 *            are there whatever the state does. Ready when an alert could be accepted now. No answer has a secret, and
 *            only the page has texts of alerts.
 */
export function createAdminApp(parts: AdminParts): Hono {
  const { state, metrics, dispatcher, watch, refusals, isStopping } = parts;
  const app = new Hono({ getPath: ({ url }) => new URL(url).pathname });
  app.use(async ({ req }, next) => {
    const host = req.header("host");
    return host === undefined || LOOPBACK.test(host) ? await next() : refusal("host_not_loopback");
  });
  const serve = (path: string, answer: (read: Read) => Promise<Response>) => {
    const read = readerFor(path, parts);
    app.get(path, () => answer(read));
    app.all(path, () => methodNotAllowed("GET, HEAD"));
  };
  const now = () => ({ isLeader: dispatcher.isLeading, pauses: dispatcher.pauses, watch: watch.view });
  serve("/", async (read) => {
    const refusedAt = lastRefusal(refusals.lastPosts);
    return pageAnswer({
      ...now(),
      nowMs: parts.nowMs(),
      latest: metrics.latest(),
      secretRefusedAtMs: refusedAt === null ? null : Date.parse(refusedAt),
      state: await read(() => readStateFacts(state)).catch(() => null),
    });
  });
  serve("/healthz", async (read) => {
    const { message, issue, comment, queuedBytes, reserveBytes } = await read(() => state.stats());
    const { gatewayOpen, pendingMessages, newestUnacknowledged } = watch.view;
    return jsonAnswer(200, {
      ...{ status: "ok", stopping: isStopping(), leader: dispatcher.isLeading, paused: dispatcher.pauses },
      ...{ gatewayOpen, pendingMessages, newestUnacknowledged, posts: refusals.lastPosts },
      ...{ message: shown(message), issue: shown(issue), comment: shown(comment) },
      ...{ queuedBytes, reserveBytes, quarantined: state.quarantined },
    });
  });
  serve("/readyz", async (read) => {
    if (isStopping()) return jsonAnswer(503, { status: "stopping" });
    await read(() => state.check());
    return jsonAnswer(200, { status: "ready" });
  });
  serve("/metrics", async (read) => {
    const stats = await read(() => state.stats()).catch(() => null);
    const text = metrics.render({ ...now(), stats, isQuarantined: state.quarantined !== null });
    return new Response(text, { headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" } });
  });
  app.notFound(() => refusal("not_found"));
  app.onError(() => jsonAnswer(503, { status: "state_unavailable" }));
  return app;
}

type Read = <T>(work: () => Promise<T>) => Promise<T>;

/** Reads the state; a failure is logged per path, not at each request. */
function readerFor(path: string, { log, monotonicMs }: AdminParts): Read {
  const texts = { problem: "The state does not answer", over: "The state answers again" };
  const outage = new OutageLog({ log, monotonicMs, ...texts });
  return async (work) => {
    try {
      const found = await work();
      outage.worked();
      return found;
    } catch (error) {
      outage.failed({ path, cause: error instanceof Error ? error.name : typeof error });
      throw error;
    }
  };
}

function shown({ oldestQueuedAgeMs, queued, dead, unknown }: KindStats): object {
  const oldestQueuedAgeSeconds = oldestQueuedAgeMs === null ? null : oldestQueuedAgeMs / 1_000;
  return { queued, dead, unknown, oldestQueuedAgeSeconds };
}
