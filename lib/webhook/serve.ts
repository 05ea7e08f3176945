import { type Listener, listen } from "../platform/server/server.ts";
import { withTimeout } from "../platform/timeout.ts";
import type { Attempt } from "./delivery/attempt.ts";
import { DegradedMode, type DegradedModeDependencies } from "./delivery/degraded-mode.ts";
import { Dispatcher, type Pace } from "./delivery/dispatcher.ts";
import { Intake } from "./delivery/intake.ts";
import type { DispatcherParts, Source } from "./delivery/parts.ts";
import { createAdminApp } from "./http/admin.ts";
import { createApp } from "./http/app.ts";
import type { Authenticate } from "./http/authenticate.ts";
import { RefusalLog } from "./http/refusal-log.ts";
import { OutageLog } from "./outage-log.ts";
import type { WatchDependencies } from "./watch/dependencies.ts";
import { makeWatch, type Watch } from "./watch/watch.ts";

/** The options of the service's command line. */
export type ServeOptions = Pace & {
  host: string;
  port: number;
  /** 0: no second listener. */
  adminPort: number;
};

/** What the service touches. */
export type ServeDependencies = Omit<DispatcherParts, "sources" | "onEnded"> &
  Pick<DegradedModeDependencies, "openMemory"> &
  Pick<WatchDependencies, "clients"> & {
    authenticate: Authenticate;
    /** Listening sockets that systemd handed over, by name. */
    sockets: ReadonlyMap<string, number>;
    /** Called when every port is open. */
    onReady: (ports: { port: number; adminPort: number | null }) => void;
    interrupt: AbortSignal;
    /** Replaces the clients when it is requested to; calls `afterwards` each time. */
    reloads: { start(afterwards: () => void): void; stop(): void };
  };

type Parts = {
  dispatcher: Dispatcher;
  degradedMode: DegradedMode;
  intake: Intake;
  watch: Watch;
  refusals: RefusalLog;
};

const ADMIN_HOST = "127.0.0.1";
/** All from this host. */
const ADMIN_CONNECTIONS = 64;
/**
 * How long sends may take after a signal, how long until their ends are recorded, and until the last post is answered, so
 * that the service ends within ten seconds, whatever the gateway and the state do.
 */
const STOP = { sendsMs: 5_000, recordsMs: 7_000, answersMs: 8_500 };

/**
 * Serves the alert webhook until a signal ends it.
 *
 * Behaviour: resolves when everything has stopped; what was accepted and not delivered stays in the outbox.
 * Errors:    LISTEN_FAILED.
 * Source:    monitoring document, Alert webhook.
 */
export async function serveWebhook(dependencies: ServeDependencies, options: ServeOptions): Promise<void> {
  const { log, interrupt, reloads, onReady } = dependencies;
  const parts = join(dependencies, options);
  const { dispatcher, degradedMode, intake, watch, refusals } = parts;
  const listeners: Listener[] = [];
  try {
    listeners.push(await listenForAlerts(dependencies, options, parts));
    if (options.adminPort !== 0) listeners.push(await listenForAdmin(dependencies, options, parts));
    void refusals.run(dependencies.sleep, interrupt);
    void degradedMode.run();
    await dispatcher.start();
    watch.start();
    const [alerts, admin] = listeners;
    onReady({ port: alerts!.port, adminPort: admin?.port ?? null });
    // What is paused for a wrong key or phone is tried at once with the new one.
    reloads.start(() => void Promise.all([dispatcher.probe(), watch.probe()]));
    if (!interrupt.aborted)
      await new Promise((resolve) => interrupt.addEventListener("abort", resolve, { once: true }));
    log.info("A signal asked the service to end: finishing what is in flight");
  } finally {
    reloads.stop();
    // The answers in flight wait for the sends, and for what is taken over from memory.
    const recorded = withTimeout(
      { limitMs: STOP.recordsMs },
      () => dispatcher.stop(STOP.sendsMs),
      () => {},
    );
    const delivered = recorded.then(() => degradedMode.stop());
    const answered = listeners.map((listener) => listener.stop(STOP.answersMs));
    await Promise.all([delivered, watch.stop(), ...answered]);
    await intake.stop();
  }
}

function join(dependencies: ServeDependencies, pace: ServeOptions): Parts {
  const { durable, log, nowMs } = dependencies;
  const isOurs = () => dispatcher.isLeading;
  const sources = (): Source[] => [{ state: durable, isOurs }, ...degradedMode.sources];
  const message: Attempt = async (row, signal) => {
    const result = await dependencies.attempts.message(row, signal);
    watch.tried(result);
    return result;
  };
  const attempts = { ...dependencies.attempts, message };
  const onEnded: DispatcherParts["onEnded"] = (...ended) => degradedMode.ended(...ended);
  const dispatcher = new Dispatcher({ ...dependencies, sources, attempts, onEnded }, pace);
  const inFlight = dispatcher.inFlight.bind(dispatcher);
  const degradedMode = new DegradedMode({ ...dependencies, inFlight });
  const watch = makeWatch({ ...dependencies, sources, dispatcher });
  const intake = new Intake({ ...dependencies, degradedMode, dispatcher });
  return { dispatcher, degradedMode, intake, watch, refusals: new RefusalLog(log, nowMs) };
}

function listenForAlerts(
  { authenticate, metrics, log, monotonicMs, interrupt, sockets }: ServeDependencies,
  { host, port }: ServeOptions,
  { intake, refusals }: Parts,
): Promise<Listener> {
  const take = intake.take.bind(intake);
  const isStopping = () => interrupt.aborted;
  const app = createApp({ authenticate, take, metrics, refusals, log, isStopping, monotonicMs });
  const problem = "There are too many connections: some are closed for others";
  const overCapacity = new OutageLog({ log, problem, level: "warn", monotonicMs });
  const limits = { onOverCapacity: () => overCapacity.failed({}), onMalformed: app.malformed };
  return listen({ host, port, fd: sockets.get("webhook"), fetch: app.fetch, limits });
}

function listenForAdmin(
  dependencies: ServeDependencies,
  { adminPort: port }: ServeOptions,
  { dispatcher, watch, refusals }: Parts,
): Promise<Listener> {
  const { durable: state, interrupt, sockets } = dependencies;
  const isStopping = () => interrupt.aborted;
  const app = createAdminApp({ ...dependencies, state, dispatcher, watch, refusals, isStopping });
  const limits = { connections: ADMIN_CONNECTIONS };
  return listen({ host: ADMIN_HOST, port, fd: sockets.get("admin"), fetch: app.fetch, limits });
}
