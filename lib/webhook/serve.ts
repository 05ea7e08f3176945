import { type Listener, listen } from "../platform/server/server.ts";
import type { Dispatcher } from "./delivery/dispatcher.ts";
import { Intake } from "./delivery/intake/intake.ts";
import type { Pace } from "./delivery/make-dispatcher.ts";
import { UnkeptAlerts } from "./delivery/unkept/unkept-alerts.ts";
import { createAdminApp } from "./http/admin.ts";
import { createApp } from "./http/app.ts";
import type { Authenticate } from "./http/authenticate.ts";
import { OutsidePosts } from "./http/outside-posts.ts";
import { RefusalReport } from "./http/refusal-report.ts";
import { OutageLog } from "./outage-log.ts";
import type { Watch } from "./watch/watch.ts";
import { type WatchedParts, watchedDispatcher } from "./watch/watched-dispatcher.ts";

/** What the service is told on its command line. */
export type ServeOptions = Pace & {
  host: string;
  port: number;
  /** 0: no second listener. */
  adminPort: number;
};

/** What the service touches. */
export type ServeDependencies = WatchedParts & {
  authenticate: Authenticate;
  /** Listening sockets that systemd handed over, by name. */
  sockets: ReadonlyMap<string, number>;
  /** Called when every port is open. */
  onReady: (ports: { port: number; adminPort: number | null }) => void;
  interrupt: AbortSignal;
  /** Replaces what `authenticate`, `attempts` and `lookUp` are made of, when asked; calls `afterwards` each time. */
  reloads: { start(afterwards: () => void): void; stop(): void };
};

const ADMIN_HOST = "127.0.0.1";
/** All from this host. */
const ADMIN_CONNECTIONS = 64;
/** How long answers and sends may take after a signal, so that the service ends within ten seconds. */
const STOP_MS = 8_500;

/**
 * Serves the alert webhook until a signal ends it.
 *
 * Behaviour: resolves when everything has stopped; what was accepted and not delivered stays in the outbox.
 * Errors:    LISTEN_FAILED.
 * Source:    monitoring document, Alert webhook.
 */
export async function serveWebhook(dependencies: ServeDependencies, options: ServeOptions): Promise<void> {
  const { state, metrics, log, interrupt, sleep } = dependencies;
  const { dispatcher, watch } = watchedDispatcher(dependencies, options);
  const [message, issue] = [dispatcher.aside("message"), dispatcher.aside("issue")];
  const unkept = new UnkeptAlerts({ ...dependencies, message, issue, unheard: watch.unkept });
  const intake = new Intake({
    state,
    dispatcher,
    unkept,
    onAccepted: (alerts) => watch.accepted(alerts),
    metrics,
    monotonicMs: dependencies.monotonicMs,
    sleep,
  });
  const posts = new OutsidePosts(dependencies.nowMs);
  const listeners: Listener[] = [];
  try {
    listeners.push(await listenForAlerts(dependencies, options, { intake, posts }));
    if (options.adminPort !== 0)
      listeners.push(await listenForAdmin(dependencies, options, { dispatcher, watch, posts }));
    await dispatcher.start();
    watch.start();
    const [alerts, admin] = listeners;
    dependencies.onReady({ port: alerts!.port, adminPort: admin?.port ?? null });
    // What was held for a wrong key or phone is tried at once with the new one.
    dependencies.reloads.start(() => {
      void dispatcher.probe();
      void watch.probe();
    });
    if (!interrupt.aborted)
      await new Promise((resolve) => interrupt.addEventListener("abort", resolve, { once: true }));
    log.info("A signal asked the service to end: finishing what is in flight");
  } finally {
    dependencies.reloads.stop();
    // The dispatcher first: the answers in flight wait for its sends.
    const stops = [
      dispatcher.stop(STOP_MS),
      unkept.stop(STOP_MS),
      ...listeners.map((listener) => listener.stop(STOP_MS)),
    ];
    await Promise.all([...stops, watch.stop()]);
    await intake.stop();
  }
}

function listenForAlerts(
  dependencies: ServeDependencies,
  { host, port }: ServeOptions,
  { intake, posts }: { intake: Intake; posts: OutsidePosts },
): Promise<Listener> {
  const { authenticate, metrics, log, monotonicMs, interrupt } = dependencies;
  const take = intake.take.bind(intake);
  const report = new RefusalReport(log);
  void report.run(dependencies.sleep, interrupt);
  const app = createApp({
    report,
    posts,
    authenticate,
    take,
    metrics,
    log,
    isStopping: () => interrupt.aborted,
    monotonicMs,
  });
  const crowd = new OutageLog({
    log,
    problem: "There are too many connections: some are closed for others",
    level: "warn",
    monotonicMs,
  });
  return listen({
    host,
    port,
    fd: dependencies.sockets.get("webhook"),
    fetch: app.fetch,
    limits: { onCrowded: () => crowd.failed({}), onMalformed: app.malformed },
  });
}

function listenForAdmin(
  dependencies: ServeDependencies,
  { adminPort }: ServeOptions,
  parts: { dispatcher: Dispatcher; watch: Watch; posts: OutsidePosts },
): Promise<Listener> {
  const isStopping = () => dependencies.interrupt.aborted;
  const app = createAdminApp({ ...dependencies, ...parts, isStopping });
  return listen({
    host: ADMIN_HOST,
    port: adminPort,
    fd: dependencies.sockets.get("admin"),
    fetch: app.fetch,
    limits: { connections: ADMIN_CONNECTIONS },
  });
}
