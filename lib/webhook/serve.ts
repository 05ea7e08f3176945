import type { Log } from "../platform/log/log.ts";
import { TokenBucket } from "../platform/rate/token-bucket.ts";
import type { Secret } from "../platform/secrets/secret.ts";
import { type Listener, listen } from "../platform/server/server.ts";
import { parseAlerts } from "./alert/parse.ts";
import type { Attempt } from "./delivery/attempt.ts";
import { Dispatcher } from "./delivery/dispatcher.ts";
import { Intake } from "./delivery/intake.ts";
import { messageText } from "./delivery/send-alert.ts";
import { Sender, type SenderDependencies } from "./delivery/sender.ts";
import { createAdminApp } from "./http/admin.ts";
import { createApp } from "./http/app.ts";
import type { WebhookMetrics } from "./metrics/metrics.ts";
import type { State } from "./state/contract.ts";

/** What the service is told on its command line. */
export type ServeOptions = {
  host: string;
  port: number;
  /** 0: no second listener. */
  adminPort: number;
  messagesPerMinute: number;
};

/** What the service touches. */
export type ServeDependencies = {
  secret: Secret;
  state: State;
  attempts: { message: Attempt; issue: Attempt };
  metrics: WebhookMetrics;
  log: Log;
  /** Listening sockets that systemd handed over, by name. */
  sockets: ReadonlyMap<string, number>;
  /** Called when every port is open. */
  onReady: (ports: { port: number; adminPort: number | null }) => void;
  interrupt: AbortSignal;
  /** The clock that people read, for the times in texts. */
  nowMs: () => number;
  monotonicMs: () => number;
  random: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};

const ADMIN_HOST = "127.0.0.1";
/** All from this host; the limit of the alerts' connections leaves this many descriptors free. */
const ADMIN_CONNECTIONS = 64;
const MESSAGES_AT_ONCE = 4;
const MESSAGE_BURST = 10;
const ISSUES_AT_ONCE = 4;
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
  const dispatcher = dispatcherOf(dependencies, options);
  const intake = new Intake({ state, dispatcher, metrics, sleep });
  const listeners: Listener[] = [];
  try {
    listeners.push(await listenForAlerts(dependencies, options, intake));
    if (options.adminPort !== 0) listeners.push(await listenForAdmin(dependencies, options, dispatcher));
    await dispatcher.start();
    const [alerts, admin] = listeners;
    dependencies.onReady({ port: alerts!.port, adminPort: admin?.port ?? null });
    if (!interrupt.aborted)
      await new Promise((resolve) => interrupt.addEventListener("abort", resolve, { once: true }));
    log.info("A signal asked the service to end: finishing what is in flight");
  } finally {
    // The dispatcher first: the answers in flight wait for its sends.
    const stops = [dispatcher.stop(STOP_MS), ...listeners.map((listener) => listener.stop(STOP_MS))];
    await Promise.all(stops);
    await intake.stop();
  }
}

function dispatcherOf(dependencies: ServeDependencies, { messagesPerMinute }: ServeOptions): Dispatcher {
  const { state, attempts, metrics, log, monotonicMs, random, sleep } = dependencies;
  const sender = (
    rest: Pick<SenderDependencies, "kind" | "attempt" | "textOf" | "concurrency" | "onFree" | "bucket">,
  ) => new Sender({ state, metrics, log, monotonicMs, random, sleep, ...rest });
  const bucket = new TokenBucket({ perMinute: messagesPerMinute, burst: MESSAGE_BURST }, monotonicMs());
  return new Dispatcher(
    (onFree) => ({
      message: sender({
        kind: "message",
        attempt: attempts.message,
        textOf: messageText(dependencies.nowMs),
        concurrency: MESSAGES_AT_ONCE,
        bucket,
        onFree,
      }),
      issue: sender({
        kind: "issue",
        attempt: attempts.issue,
        // Its body is made anew for each attempt: the tracker knows a repetition by its id.
        textOf: () => "",
        concurrency: ISSUES_AT_ONCE,
        onFree,
      }),
    }),
    { state, log, monotonicMs, sleep, onLead: () => recallPace(dependencies, bucket) },
  );
}

/** Counts what any process began to send lately: a restart must not allow a new burst to the same number. */
async function recallPace(
  { state, log, monotonicMs }: ServeDependencies,
  bucket: TokenBucket,
): Promise<void> {
  try {
    bucket.restart(monotonicMs(), await state.begunWithin("message", bucket.fillMs));
  } catch (error) {
    log.warn("It is not known how many messages went out lately", {
      cause: error instanceof Error ? error.name : typeof error,
    });
    bucket.restart(monotonicMs(), Number.POSITIVE_INFINITY);
  }
}

function listenForAlerts(
  dependencies: ServeDependencies,
  { host, port }: ServeOptions,
  intake: Intake,
): Promise<Listener> {
  const { secret, metrics, log, interrupt } = dependencies;
  const take = intake.take.bind(intake);
  const app = createApp({
    secret,
    parse: parseAlerts,
    take,
    metrics,
    log,
    isStopping: () => interrupt.aborted,
  });
  const onCrowded = (closed: number) =>
    log.warn("There were too many connections: some were closed for others", { closed });
  return listen({
    host,
    port,
    fd: dependencies.sockets.get("webhook"),
    fetch: app.fetch,
    limits: { onCrowded },
  });
}

function listenForAdmin(
  dependencies: ServeDependencies,
  { adminPort }: ServeOptions,
  dispatcher: Dispatcher,
): Promise<Listener> {
  const { state, metrics, log, interrupt } = dependencies;
  const app = createAdminApp({ state, metrics, log, dispatcher, isStopping: () => interrupt.aborted });
  return listen({
    host: ADMIN_HOST,
    port: adminPort,
    fd: dependencies.sockets.get("admin"),
    fetch: app.fetch,
    limits: { connections: ADMIN_CONNECTIONS },
  });
}
