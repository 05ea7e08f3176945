/**
 * The harness of the webhook: the whole service on both ports, with a real store, peers that are stand-ins, and a clock
 * that moves when the test says so. What a test sees is what a person sees from outside.
 *
 *     const CASES = [
 *       { name: "a 429 from the gateway pauses sending until Retry-After", asked: "30", sentAt: [30, 30] },
 *     ];
 *     onBothStores(CASES, async ({ asked, sentAt }, store) => {
 *       await using service = await startService({ store });
 *       service.gateway.routes.send.next({ status: 429, headers: { "retry-after": asked } });
 *       await service.post([alertOf("a")]);
 *       await service.post([alertOf("b")]);
 *       await service.advance(60_000);
 *       expect(service.messages.map(({ second }) => second)).toEqual(sentAt);
 *       expect((await service.health()).message).toMatchObject({ queued: 0, dead: 0 });
 *     });
 *
 * A post moves the clock by itself, a second at a time, until it is answered: five seconds behind a gateway that hangs.
 * A call to a peer takes no time by this clock. A peer that hangs does so for good, unless `peerLimitMs` is short. Over
 * hours, steps of some minutes are enough. What a route's `script` sees has no body yet: `scriptByBody` is for that. On
 * PostgreSQL a message that is quick may be sent before its post asks for its end, so that the answer says `queued`.
 */
import { describe, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AlertAnswer } from "../../../lib/webhook/delivery/alert-answer.ts";
import type { DeadRow, QueuedRow } from "../../../lib/webhook/store/operator.ts";
import { request, speak } from "../../platform/support/raw-http.ts";
import { type EmailProvider, startEmailProvider } from "../../standins/email-provider.ts";
import { type Gateway, startGateway } from "../../standins/gateway.ts";
import { type PingStandIn, startPing } from "../../standins/ping.ts";
import { startTcpProxy, type TcpProxy } from "../../standins/tcp-proxy.ts";
import { startTracker, type Tracker } from "../../standins/tracker.ts";
import { type SmallDisk, smallDisk } from "../../support/small-disk.ts";
import { createStateDatabase, type StateDatabase } from "./postgres-state.ts";
import { KEY, PHONE, SECRET, TEAM, TOKEN } from "./settings.ts";
import { type TestClock, testClock } from "./test-clock.ts";
import { type ServiceSettings, startWebhookProcess, type WebhookProcess } from "./webhook-process.ts";

const EMAIL_KEY = "canary-email-key";

/** A minute, by which most tests advance the clock. */
export const MINUTE_MS = 60_000;

/** When the clock of each service starts. */
export const START_MS = Date.UTC(2026, 10, 16, 14);

/** The stores that the service knows. */
const STORES = ["sqlite", "postgres"] as const;

/** One of them. */
export type Store = (typeof STORES)[number];

/**
 * How a service is started; what is absent is as `ServiceSettings` says, with a pace that no test notices.
 *
 * Shape: `canFail`: the store can be taken away with `failStore`; a SQLite file stands on a small disk of its own then,
 *        for which a test says `requires("mount")`.
 */
export type ServiceOptions = Partial<ServiceSettings> & { store?: Store; canFail?: boolean };

/** The answer to a post. */
type Answer = {
  status: number;
  body: {
    accepted: number;
    rejected: { index: number }[];
    rejectedTotal: number;
    alerts: AlertAnswer[];
    durable?: false;
  };
};

/** A request to send, or a message: when, by the clock from its start, the first bold words of its text, and the text. */
export type Sent = { second: number; name: string; text: string };

/** A line of the log, with its values. */
type LogLine = { level: string; msg: string; code?: string; second: number } & Record<string, unknown>;

/** What /healthz says. */
type Health = {
  status: string;
  leader: boolean;
  paused: Record<"message" | "issue" | "comment", string | null>;
} & Record<
  "message" | "issue" | "comment",
  { queued: number; dead: number; unknown: number; oldestQueuedAgeSeconds: number | null }
> &
  Record<string, unknown>;

/** One running service with its peers. */
export type Service = AsyncDisposable & {
  readonly gateway: Gateway;
  readonly tracker: Tracker;
  readonly email: EmailProvider;
  readonly ping: PingStandIn;
  /** Where alerts are posted, and the second port without a path. */
  readonly url: string;
  readonly adminUrl: string;
  /** Where a SQLite file lies. */
  readonly directory: string;
  /** The database of a service on PostgreSQL, as a way to cut this process off from it. */
  readonly database: TcpProxy | null;
  /** How long the clock has run, in seconds. */
  readonly second: number;
  readonly nowMs: number;
  /** What was logged, from `info` on, by all processes of this service. */
  readonly log: LogLine[];
  /** The requests to send that reached the gateway, and the messages that it took. */
  readonly sends: (Sent & { status: number | null })[];
  readonly messages: Sent[];
  /** When the gateway was asked for what it has sent at some time; not the questions about one message. */
  readonly lookUps: number[];
  /** Posts alerts, or a whole body, and returns the answer; moves the clock where the answer waits. */
  post(alerts: readonly unknown[] | object): Promise<Answer>;
  /** The same, but the clock stands: resolves once nothing goes on, answered or not. */
  postOnly(alerts: readonly unknown[] | object): Promise<{ answer: Promise<Answer> }>;
  /** Moves the clock until this is over: answers wait for the first result of an alert, at a limited pace. */
  patiently<Result>(work: Promise<Result>): Promise<Result>;
  get(path: string): Promise<{ status: number; text: string }>;
  health(): Promise<Health>;
  /** The value of a series as /metrics writes it, labels included; null where it is absent. */
  metric(series: string): Promise<number | null>;
  /** Moves the clock on, by at least `stepMs` at a time. */
  advance(ms: number, stepMs?: number): Promise<void>;
  /** Sets the clocks of the host and its database forward, or back; those that only run do not notice. */
  shiftClock(ms: number): Promise<void>;
  /** Ends the process as a signal does, where it has not ended, and starts one on the same store. */
  restart(changes?: Partial<ServiceSettings>): Promise<void>;
  end(): Promise<void>;
  /** Ends the process so that nothing that is under way is recorded. */
  kill(): Promise<void>;
  reload(changes?: Partial<ServiceSettings>): Promise<void>;
  /** One more host with the same store and the same peers. */
  another(changes?: Partial<ServiceSettings>): Promise<Service>;
  /** The store takes nothing any more: its disk is full, its database away. */
  failStore(): void;
  /** The store can be written again. */
  restoreStore(): void;
  /** What `opsctl webhook dead` and `opsctl webhook queue` do. */
  readonly operator: {
    dead(): Promise<DeadRow[]>;
    queued(): Promise<QueuedRow[]>;
    retryDead(rows: readonly number[] | null): Promise<number>;
    dropQueued(rows: readonly number[] | null): Promise<number>;
  };
  stop(): Promise<void>;
};

/**
 * Runs something on each store: one test, or one for each row of a table.
 *
 * Shape: a row has its title in `name`.
 */
export function onBothStores(title: string, run: (store: Store) => Promise<void>): void;
export function onBothStores<Row extends { name: string }>(
  rows: readonly Row[],
  run: (row: Row, store: Store) => Promise<void>,
): void;
export function onBothStores<Row extends { name: string }>(
  titleOrRows: string | readonly Row[],
  run: ((store: Store) => Promise<void>) | ((row: Row, store: Store) => Promise<void>),
): void {
  if (titleOrRows.length === 0) throw new Error("A table without rows tests nothing");
  for (const store of STORES)
    describe(store, () => {
      if (typeof titleOrRows === "string")
        test(titleOrRows, () => (run as (store: Store) => Promise<void>)(store));
      else
        for (const row of titleOrRows)
          test(row.name, () => (run as (row: Row, store: Store) => Promise<void>)(row, store));
    });
}

/** Starts peers and service. */
export async function startService({
  store = "sqlite",
  canFail = false,
  ...options
}: ServiceOptions = {}): Promise<Service> {
  const world = await openWorld(store, canFail, options);
  return await startHost(world, { ...DEFAULTS, ...options });
}

const DEFAULTS = { secret: SECRET, key: KEY, token: TOKEN, team: TEAM, phone: PHONE };

/** What the hosts of one test share. */
type World = {
  clock: TestClock;
  gateway: Gateway;
  tracker: Tracker;
  email: EmailProvider;
  ping: PingStandIn;
  log: LogLine[];
  directory: string;
  disk: SmallDisk | null;
  database: StateDatabase | null;
  hosts: Host[];
  posts: Posts;
  /** How far the clocks that people set are from the one that runs. */
  shiftMs: number;
  close(): Promise<void>;
};

/** What `Service` needs to end with its world. */
type Host = { stop(): Promise<void> };

/** Databases that no running service uses. */
const spare: StateDatabase[] = [];

async function openWorld(store: Store, canFail: boolean, options: Partial<ServiceSettings>): Promise<World> {
  const database = store === "postgres" ? (spare.pop() ?? (await createStateDatabase())) : null;
  await database?.empty(START_MS);
  const disk = canFail && database === null ? smallDisk(32) : null;
  const directory =
    disk === null ? mkdtempSync(join(tmpdir(), "opsctl-webhook-")) : join(disk.directory, "state");
  if (disk !== null) mkdirSync(directory, { mode: 0o700 });
  const posts = new Posts(() => clock);
  const clock: TestClock = testClock(START_MS, {
    hanging: () => (options.peerLimitMs === undefined ? peers.reduce((sum, one) => sum + one.hanging, 0) : 0),
    isExpecting: () => posts.open > 0,
    onMove: async (nowMs) => await database?.setClock(nowMs + world.shiftMs),
  });
  const at = { clock: () => new Date(clock.nowMs()) };
  const gateway = await startGateway({ adminKey: KEY, ...at });
  const tracker = await startTracker({ token: TOKEN, teamId: TEAM, ...at });
  const email = await startEmailProvider({ apiKey: EMAIL_KEY, ...at });
  const ping = await startPing(at);
  const peers = [gateway, tracker, email, ping];
  const hosts: Host[] = [];
  const world: World = {
    ...{ clock, gateway, tracker, email, ping, directory, disk, database, hosts, posts },
    log: [],
    shiftMs: 0,
    async close() {
      // The peers first: no call to one that hangs keeps a process from its end.
      await Promise.all(peers.map((peer) => peer.stop()));
      await Promise.all(hosts.map((host) => host.stop()));
      rmSync(directory, { recursive: true, force: true });
      disk?.remove();
      if (database !== null) spare.push(database);
    },
  };
  return world;
}

async function startHost(world: World, started: ServiceSettings): Promise<Service> {
  const { clock, gateway, log, posts, database, disk } = world;
  const proxy = database === null ? null : await startTcpProxy(Number(new URL(database.database.url).port));
  let settings = started;
  let running: WebhookProcess | null = null;
  const killed: Promise<void>[] = [];
  const start = async () => {
    running = await startWebhookProcess(settings, {
      directory: world.directory,
      stateUrl: proxy === null ? null : urlThrough(proxy, world),
      gatewayUrl: gateway.url,
      trackerUrl: world.tracker.endpoint,
      emailUrl: world.email.url,
      pingUrl: world.ping.url,
      emailKey: EMAIL_KEY,
      clock,
      wallMs: () => clock.nowMs() + world.shiftMs,
      onLine: (line) => log.push(logLine(line)),
      onPost: (headers) => posts.arrived(headers),
    });
    await clock.settle();
  };
  const now = () => {
    if (running === null) throw new Error("No process of this service runs");
    return running;
  };
  const end = async () => {
    const ending = running?.end();
    running = null;
    await ending;
  };
  world.hosts.push({
    async stop() {
      await end();
      await Promise.all(killed);
      await proxy?.stop();
    },
  });
  await start();

  const service: Service = {
    gateway,
    tracker: world.tracker,
    email: world.email,
    ping: world.ping,
    directory: world.directory,
    database: proxy,
    log,
    get url() {
      return `http://127.0.0.1:${now().port}/webhook`;
    },
    get adminUrl() {
      return `http://127.0.0.1:${now().adminPort}`;
    },
    get second() {
      return secondOf(clock.nowMs());
    },
    get nowMs() {
      return clock.nowMs();
    },
    get sends() {
      return gateway.routes.send.calls.map(({ at, status, body }) => ({
        ...sentOf(at, (body as { text: string }).text),
        status,
      }));
    },
    get messages() {
      return gateway.accepted.map(({ at, text }) => sentOf(at, text));
    },
    get lookUps() {
      return gateway.routes.messages.calls
        .filter(({ rawBody }) => rawBody.includes("messageTimestamp"))
        .map(({ at }) => secondOf(at.getTime()));
    },
    post: async (alerts) => await posts.patiently(posts.send(now().port, settings.secret, alerts)),
    async postOnly(alerts) {
      const answer = posts.send(now().port, settings.secret, alerts);
      await clock.settle();
      return { answer };
    },
    patiently: (work) => posts.patiently(work),
    async get(path) {
      return await answerTo(now().adminPort, request(`GET ${path}`));
    },
    health: async () => JSON.parse((await service.get("/healthz")).text) as Health,
    async metric(series) {
      const lines = (await service.get("/metrics")).text.split("\n");
      const line = lines.find((one) => one.startsWith(`${series} `));
      return line === undefined ? null : Number(line.slice(series.length + 1));
    },
    advance: clock.advance,
    async shiftClock(ms) {
      world.shiftMs += ms;
      await database?.setClock(clock.nowMs() + world.shiftMs);
    },
    async restart(changes = {}) {
      await end();
      settings = { ...settings, ...changes };
      await start();
    },
    end,
    async kill() {
      const process = now();
      running = null;
      killed.push(process.ended);
      await process.kill(() => proxy?.close());
      proxy?.open();
    },
    async reload(changes = {}) {
      settings = { ...settings, ...changes };
      await now().reload(settings);
      await clock.settle();
    },
    another: async (changes = {}) => await startHost(world, { ...settings, ...changes }),
    failStore() {
      if (disk === null && proxy === null) throw new Error("Only a service with `canFail` has such a disk");
      disk?.fill();
      proxy?.close();
    },
    restoreStore() {
      disk?.empty();
      proxy?.open();
    },
    operator: {
      dead: () => now().state.listDead(),
      queued: () => now().state.listQueued(1_000),
      retryDead: (rows) => now().state.retryDead(rows),
      dropQueued: (rows) => now().state.dropQueued(rows),
    },
    stop: world.close,
    [Symbol.asyncDispose]: world.close,
  };
  return service;
}

/** The header by which the harness knows its posts again. */
const POST_ID = "x-test-post";

/**
 * What the service answers on a connection of its own.
 *
 * Behaviour: a plain socket, because the clock must see an answer as soon as it is given: `fetch` reads it in another
 *            thread, which a busy machine lets wait while the clock moves on.
 */
async function answerTo(port: number, bytes: Buffer): Promise<{ status: number; text: string }> {
  const { status, body } = await speak(port, [bytes]);
  return { status, text: Buffer.from(body, "latin1").toString() };
}

/** The posts on their way. */
class Posts {
  /** How many are not answered. */
  open = 0;
  readonly #clock: () => TestClock;
  readonly #arrivals = new Map<string, () => void>();
  #patient = 0;
  #isMoving = false;

  constructor(clock: () => TestClock) {
    this.#clock = clock;
  }

  arrived(headers: Headers): void {
    this.#arrivals.get(headers.get(POST_ID) ?? "")?.();
  }

  async send(port: number, secret: string, alerts: readonly unknown[] | object): Promise<Answer> {
    const id = crypto.randomUUID();
    const arrival = Promise.withResolvers<void>();
    this.#arrivals.set(id, arrival.resolve);
    void this.#clock().during(arrival.promise);
    this.open += 1;
    try {
      const headers = ["Content-Type: application/json", `X-Webhook-Secret: ${secret}`, `${POST_ID}: ${id}`];
      const body = JSON.stringify(Array.isArray(alerts) ? { alerts } : alerts);
      const { status, text } = await answerTo(port, request("POST /webhook", headers, body));
      return { status, body: JSON.parse(text) as Answer["body"] };
    } finally {
      arrival.resolve();
      this.#arrivals.delete(id);
      this.open -= 1;
    }
  }

  /** Moves the clock until it is over; one mover for all that wait. */
  async patiently<Result>(work: Promise<Result>): Promise<Result> {
    this.#patient += 1;
    const mover = this.#move();
    try {
      return await work;
    } finally {
      this.#patient -= 1;
      await mover;
    }
  }

  async #move(): Promise<void> {
    if (this.#isMoving) return;
    this.#isMoving = true;
    await this.#clock().settle();
    while (this.#patient > 0) await this.#clock().advance(1_000);
    this.#isMoving = false;
  }
}

function urlThrough(proxy: TcpProxy, { database }: World): string {
  const url = new URL(database!.database.url);
  url.port = `${proxy.port}`;
  return url.href;
}

function secondOf(ms: number): number {
  return (ms - START_MS) / 1_000;
}

function sentOf(at: Date, text: string): Sent {
  return { second: secondOf(at.getTime()), name: /\*([^*]+)\*/.exec(text)?.[1] ?? "", text };
}

function logLine(line: string): LogLine {
  const { time, ...rest } = JSON.parse(line) as { time: string } & LogLine;
  return { ...rest, second: secondOf(Date.parse(time)) };
}

let count = 0;

/**
 * One alert as a sender writes it.
 *
 * Shape: a name is both `alertname` and fingerprint; without one each alert has a new fingerprint.
 */
export function alertOf(
  nameOrParts: string | Record<string, unknown> = {},
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  count += 1;
  const isNamed = typeof nameOrParts === "string";
  const { labels, annotations, ...rest } = (isNamed ? more : nameOrParts) as {
    labels?: object;
    annotations?: object;
  };
  return {
    status: "firing",
    fingerprint: isNamed ? nameOrParts : `fp-${count}`,
    startsAt: "2026-11-16T13:55:00Z",
    ...rest,
    labels: {
      alertname: isNamed ? nameOrParts : "Traefik RAM Alta",
      ruleGroup: "vps-infra",
      severity: "warning",
      ...labels,
    },
    annotations: { summary: "Proxy acima de 500 MiB", ...annotations },
  };
}
