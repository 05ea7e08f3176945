import { Hono } from "hono";
import type { Log } from "../../platform/log/log.ts";
import { withTimeout } from "../../platform/timeout.ts";
import type { WebhookMetrics } from "../metrics/metrics.ts";
import { OutageLog } from "../outage-log.ts";
import { type PageState, readStateFacts } from "../page/facts.ts";
import { pageAnswer } from "../page/render.ts";
import type { KindStats, OutboxKind } from "../store/types.ts";
import type { WatchView } from "../watch/watch.ts";
import { errorAnswer, jsonAnswer, methodNotAllowed, notFound } from "./answers.ts";
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
const NOT_LOOPBACK = {
  code: "host_not_loopback",
  message: "This port answers only for localhost, 127.0.0.1 and [::1]",
};
const STATE_LIMIT_MS = 5_000;

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
  const read = stateReader(parts);
  const app = new Hono({ getPath: ({ url }) => new URL(url).pathname });
  app.use(async ({ req }, next) => {
    const host = req.header("host");
    return host === undefined || LOOPBACK.test(host) ? await next() : errorAnswer(421, NOT_LOOPBACK);
  });
  app.get("/", async () => {
    const refusedAt = lastRefusal(refusals.lastPosts);
    return pageAnswer({
      nowMs: parts.nowMs(),
      isStopping: isStopping(),
      isLeader: dispatcher.isLeading,
      pauses: dispatcher.pauses,
      watch: watch.view,
      latest: metrics.latest(),
      secretRefusedAtMs: refusedAt === null ? null : Date.parse(refusedAt),
      state: await read("/", () => readStateFacts(state)).catch(() => null),
    });
  });
  app.get("/healthz", async () => jsonAnswer(200, await read("/healthz", () => health(parts))));
  app.get("/readyz", async () => {
    if (isStopping()) return jsonAnswer(503, { status: "stopping" });
    await read("/readyz", () => state.check());
    return jsonAnswer(200, { status: "ready" });
  });
  app.get("/metrics", async () => {
    const text = metrics.render({
      stats: await read("/metrics", () => state.stats()).catch(() => null),
      pauses: dispatcher.pauses,
      isLeader: dispatcher.isLeading,
      isQuarantined: state.quarantined !== null,
      watch: watch.view,
    });
    return new Response(text, { headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" } });
  });
  for (const path of ["/", "/healthz", "/readyz", "/metrics"])
    app.all(path, () => methodNotAllowed("GET, HEAD"));
  app.notFound(notFound);
  app.onError(() => jsonAnswer(503, { status: "state_unavailable" }));
  return app;
}

/** Reads the state in time; a failure is logged per path, not at each request. */
function stateReader({ log, monotonicMs }: AdminParts) {
  const texts = { problem: "The state does not answer", over: "The state answers again" };
  const late = () => {
    throw new Error("No answer in time");
  };
  const outages = new Map<string, OutageLog>();
  return async <T>(path: string, work: () => Promise<T>): Promise<T> => {
    const outage = outages.get(path) ?? new OutageLog({ log, monotonicMs, ...texts });
    outages.set(path, outage);
    try {
      const found = await withTimeout({ limitMs: STATE_LIMIT_MS }, work, late);
      outage.worked();
      return found;
    } catch (error) {
      outage.failed({ path, cause: error instanceof Error ? error.name : typeof error });
      throw error;
    }
  };
}

async function health({ state, dispatcher, watch, refusals, isStopping }: AdminParts): Promise<object> {
  const { message, issue, comment, queuedBytes, reserveBytes } = await state.stats();
  const { gatewayOpen, pendingMessages, newestUnacknowledged } = watch.view;
  return {
    status: "ok",
    stopping: isStopping(),
    leader: dispatcher.isLeading,
    paused: dispatcher.pauses,
    ...{ gatewayOpen, pendingMessages, newestUnacknowledged },
    posts: refusals.lastPosts,
    ...{ message: shown(message), issue: shown(issue), comment: shown(comment) },
    ...{ queuedBytes, reserveBytes },
    quarantined: state.quarantined,
  };
}

function shown({ queued, dead, unknown, oldestQueuedAgeMs }: KindStats): object {
  const oldestQueuedAgeSeconds = oldestQueuedAgeMs === null ? null : oldestQueuedAgeMs / 1_000;
  return { queued, dead, unknown, oldestQueuedAgeSeconds };
}
