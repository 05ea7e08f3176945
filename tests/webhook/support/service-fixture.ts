/** The whole service in this process: real state, real sockets, stand-ins for gateway and tracker. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { evolutionClient } from "../../../lib/providers/evolution/client.ts";
import { FIND_MESSAGES_TIMEOUT_MS, messageFinder } from "../../../lib/providers/evolution/find-messages.ts";
import { resolveInstance } from "../../../lib/providers/evolution/instance.ts";
import { linearTracker } from "../../../lib/providers/linear/client.ts";
import type { AlertAnswer } from "../../../lib/webhook/alert-answer.ts";
import { messageLookUp } from "../../../lib/webhook/delivery/attempts/look-up.ts";
import { issueAttempt, messageAttempt } from "../../../lib/webhook/delivery/attempts/send-alert.ts";
import { commentAttempt } from "../../../lib/webhook/delivery/attempts/send-comment.ts";
import { authenticator } from "../../../lib/webhook/http/authenticate.ts";
import { createWebhookMetrics } from "../../../lib/webhook/metrics/metrics.ts";
import { type ServeDependencies, type ServeOptions, serveWebhook } from "../../../lib/webhook/serve.ts";
import type { State } from "../../../lib/webhook/state/contract.ts";
import { openSqliteState } from "../../../lib/webhook/state/sqlite/state.ts";
import type { WatchPeers } from "../../../lib/webhook/watch/watch.ts";
import { type Gateway, startGateway } from "../../standins/gateway.ts";
import { givenUp } from "../../standins/given-up.ts";
import { startTracker, type Tracker } from "../../standins/tracker.ts";
import { silentLog } from "../../support/silent-log.ts";
import type { TestClock } from "./test-clock.ts";

export const SECRET = "canary-webhook-secret-0123456789";
export const TOKEN = "lin_api_canarytoken0123456789";
export const KEY = "canary-gateway-key";
export const TEAM = "0f0e0d0c-0b0a-4908-8706-050403020100";
export const PHONE = "5511912345678";

/** How many times shorter waits are than in the installed service. */
const HASTE = 20;

/** One running service with its peers. */
export type Service = {
  gateway: Gateway;
  tracker: Tracker;
  state: State;
  url: string;
  adminUrl: string | null;
  directory: string;
  /** The clock of the state; moves by itself, and by hand. */
  advance(ms: number): void;
  /** As `advance`, and the service's own clock as well. */
  pass(ms: number): void;
  post(body: unknown): Promise<{ status: number; body: Answer }>;
  /** Ends the service as a signal does, and starts it again on the same state. */
  restart(options?: Partial<ServeOptions>): Promise<void>;
  stop(): Promise<void>;
};

type Answer = {
  accepted: number;
  rejected: { index: number }[];
  rejectedTotal: number;
  alerts: AlertAnswer[];
};

/** A watch that knows nothing and tells no one: what sends find out is what these tests are about. */
export const NO_WATCH: WatchPeers = {
  gatewayState: async () => ({ status: "unknown", code: "not_asked" }),
  messageStatus: async () => ({ status: "unknown", code: "not_asked" }),
  sendEmail: null,
  ping: null,
};

/** The header by which this fixture knows its posts again. */
const POST_ID = "x-test-post";

/** How long the service lets an answer wait for its message and its issue. */
const ANSWER_WAIT_MS = 5_000;

/**
 * Starts peers and service; `messagesPerMinute` is high unless a test is about it.
 *
 * Behaviour: an answer waits as long as in the installed service for peers that answer, however busy the machine is;
 *            `isHasty` is for tests in which a peer does not.
 */
export async function startService({
  isHasty = false,
  givesUp = false,
  timeoutMs = 60_000,
  comments = false,
  clock,
  directory = mkdtempSync(join(tmpdir(), "opsctl-webhook-")),
  watchPeers = () => NO_WATCH,
  ...options
}: Partial<ServeOptions> & {
  isHasty?: boolean;
  /** Whether a message that the gateway leaves unanswered is given up at once. */
  givesUp?: boolean;
  /** For one send or issue; a time-out that comes too soon on a busy machine would make a copy of what has arrived. */
  timeoutMs?: number;
  comments?: boolean;
  /** Stands in for every clock and every wait of the service. */
  clock?: TestClock;
  /** Of the state; a new one unless told otherwise. It is removed at the end. */
  directory?: string;
  /** The watch's peers, given the gateway. */
  watchPeers?: (gateway: Gateway) => WatchPeers;
} = {}): Promise<Service> {
  const gateway = await startGateway({ adminKey: KEY });
  const tracker = await startTracker({ token: TOKEN, teamId: TEAM });
  let ahead = 0;
  const nowMs = clock?.nowMs ?? (() => Date.now() + ahead);
  let passed = 0;
  const monotonicMs = clock?.nowMs ?? (() => performance.now() * HASTE + passed);
  gateway.now = () => new Date(nowMs());
  const parts = {
    directory,
    gateway,
    tracker,
    nowMs,
    monotonicMs,
    isHasty,
    givesUp,
    timeoutMs,
    comments,
    clock,
    watch: followed(clock, watchPeers(gateway)),
    arrivals: new Map<string, () => void>(),
  };
  let running = await run({ ...parts, options });

  return {
    gateway,
    tracker,
    directory,
    get state() {
      return running.state;
    },
    get url() {
      return running.url;
    },
    get adminUrl() {
      return running.adminUrl;
    },
    advance(ms) {
      ahead += ms;
    },
    pass(ms) {
      ahead += ms;
      passed += ms;
    },
    async post(body) {
      const id = crypto.randomUUID();
      const { promise: arrived, resolve } = Promise.withResolvers<void>();
      parts.arrivals.set(id, resolve);
      void clock?.during(arrived);
      const response = await fetch(running.url, {
        method: "POST",
        headers: { "content-type": "application/json", "x-webhook-secret": SECRET, [POST_ID]: id },
        body: JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as Answer };
    },
    async restart(changed = {}) {
      await running.stop();
      running = await run({ ...parts, options: { ...options, ...changed } });
    },
    async stop() {
      await running.stop();
      await Promise.all([gateway.stop(), tracker.stop()]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

type Parts = {
  directory: string;
  gateway: Gateway;
  tracker: Tracker;
  nowMs: () => number;
  monotonicMs: () => number;
  isHasty: boolean;
  givesUp: boolean;
  timeoutMs: number;
  comments: boolean;
  clock: TestClock | undefined;
  watch: WatchPeers;
  /** Told when a post has arrived, by its id. */
  arrivals: Map<string, () => void>;
  options: Partial<ServeOptions>;
};

async function run({ directory, gateway, tracker, nowMs, monotonicMs, isHasty, comments, ...parts }: Parts) {
  const { timeoutMs, clock, givesUp } = parts;
  const state = followed(clock, await openSqliteState({ directory, nowMs, comments, log: silentLog }));
  const authenticate = authenticator({ secret: new Secret(SECRET), previousSecret: null });
  const peer = { baseUrl: new URL(gateway.url), adminKey: new Secret(KEY) };
  const client = evolutionClient({ ...peer, timeoutMs });
  const sendText: typeof client.sendText = (message, signal) =>
    givenUp(gateway, (limitMs) => evolutionClient({ ...peer, timeoutMs: limitMs }).sendText(message, signal));
  const findInstance = resolveInstance({ gateway: client, configured: null });
  const issues = linearTracker({
    url: new URL(`${tracker.url}/graphql`),
    token: new Secret(TOKEN),
    teamId: TEAM,
    timeoutMs,
  });
  const ending = new AbortController();
  const ready = Promise.withResolvers<{ port: number; adminPort: number | null }>();
  const dependencies: ServeDependencies = {
    authenticate(headers) {
      parts.arrivals.get(headers.get(POST_ID) ?? "")?.();
      return authenticate(headers);
    },
    state,
    ...followed(clock, {
      lookUp: messageLookUp({
        find: messageFinder({ ...peer, timeoutMs: FIND_MESSAGES_TIMEOUT_MS }),
        findInstance,
        phone: PHONE,
        heldReferences: (kind, references) => state.heldReferences(kind, references),
        nowMs,
      }),
    }),
    attempts: followed(clock, {
      message: messageAttempt({
        gateway: givesUp ? { ...client, sendText } : client,
        findInstance,
        phone: PHONE,
      }),
      issue: issueAttempt(issues),
      comment: commentAttempt(issues),
    }),
    watchPeers: () => parts.watch,
    metrics: createWebhookMetrics({ version: "test" }),
    log: silentLog,
    sockets: new Map(),
    onReady: ready.resolve,
    interrupt: ending.signal,
    reloads: { start() {}, stop() {} },
    nowMs,
    monotonicMs,
    random: () => 0,
    sleep:
      clock?.sleep ??
      ((ms, signal) => delay(ms === ANSWER_WAIT_MS && !isHasty ? ms : ms / HASTE, undefined, { signal })),
  };
  const served = serveWebhook(dependencies, {
    host: "127.0.0.1",
    port: 0,
    adminPort: 0,
    messagesPerMinute: 60_000,
    issuesPerHour: 3_600_000,
    digestAfterSeconds: 0,
    ...parts.options,
  });
  const { port, adminPort } = await Promise.race([
    ready.promise,
    served.then(() => Promise.reject(new Error("It ended"))),
  ]);
  return {
    state,
    url: `http://127.0.0.1:${port}/webhook`,
    adminUrl: adminPort === null ? null : `http://127.0.0.1:${adminPort}`,
    async stop() {
      ending.abort();
      await served;
      await state.close();
    },
  };
}

/** Has the clock stand still while one of these calls goes on, however long that is on a busy machine. */
function followed<Calls extends object>(clock: TestClock | undefined, calls: Calls): Calls {
  if (clock === undefined) return calls;
  const following = Object.entries(calls)
    .filter(([, call]) => typeof call === "function")
    .map(([name, call]) => [
      name,
      (...given: unknown[]) => {
        const result = call(...given);
        return result instanceof Promise ? clock.during(result) : result;
      },
    ]);
  return Object.assign(calls, Object.fromEntries(following));
}

let count = 0;

/** One alert as a sender writes it, with a new fingerprint unless one is given. */
export function alertOf(parts: Record<string, unknown> = {}): Record<string, unknown> {
  count += 1;
  const { labels, annotations, ...rest } = parts as { labels?: object; annotations?: object };
  return {
    status: "firing",
    fingerprint: `fp-${count}`,
    startsAt: "2026-11-21T12:00:00Z",
    ...rest,
    labels: { alertname: "Traefik RAM Alta", ruleGroup: "vps-infra", severity: "warning", ...labels },
    annotations: { summary: "Proxy acima de 500 MiB", ...annotations },
  };
}
