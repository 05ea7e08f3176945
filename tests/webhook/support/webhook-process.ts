/** The webhook service in this process, wired as `opsctl webhook serve` wires it, but for its clock and its limits. */
import { createLog } from "../../../lib/platform/log/log.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { evolutionClient } from "../../../lib/providers/evolution/client.ts";
import { messageFinder } from "../../../lib/providers/evolution/find-messages.ts";
import { resolveInstance } from "../../../lib/providers/evolution/instance.ts";
import { askMessageStatus } from "../../../lib/providers/evolution/message-status.ts";
import { linearTracker } from "../../../lib/providers/linear/client.ts";
import { pingOf } from "../../../lib/providers/ping.ts";
import { messageLookUp } from "../../../lib/webhook/delivery/attempts/look-up.ts";
import { issueAttempt, messageAttempt } from "../../../lib/webhook/delivery/attempts/send-alert.ts";
import { commentAttempt } from "../../../lib/webhook/delivery/attempts/send-comment.ts";
import { authenticator } from "../../../lib/webhook/http/authenticate.ts";
import { createWebhookMetrics } from "../../../lib/webhook/metrics/metrics.ts";
import { alertEmailSender } from "../../../lib/webhook/second-channel/email-sender.ts";
import { type ServeOptions, serveWebhook } from "../../../lib/webhook/serve.ts";
import type { OutboxLimits, State } from "../../../lib/webhook/state/contract.ts";
import { openPostgresState } from "../../../lib/webhook/state/postgres/state.ts";
import type { ReserveSize } from "../../../lib/webhook/state/sqlite/reserve/reserve-size.ts";
import { openSqliteState } from "../../../lib/webhook/state/sqlite/state.ts";
import { askAboutMessage, gatewayStateOf } from "../../../lib/webhook/watch/ask-gateway.ts";
import { freePort } from "../../support/free-port.ts";
import type { TestClock } from "./test-clock.ts";

/**
 * Settings of the service; a restart or a reload may change them.
 *
 * Shape: `key` is the gateway's; `email` and `ping` say whether they are set up, `comments` whether issues get them.
 * Units: `peerLimitMs` is for one message or issue to be taken, `storeLimitMs` for one call to a database; both are real
 *        time.
 */
export type ServiceSettings = Partial<Omit<ServeOptions, "host" | "port" | "adminPort">> & {
  secret: string;
  previousSecret?: string;
  key: string;
  token: string;
  team: string;
  phone: string;
  instance?: string;
  /** Another address than that of the stand-in. */
  gatewayUrl?: string;
  comments?: boolean;
  email?: boolean;
  ping?: boolean;
  limits?: OutboxLimits;
  reserve?: ReserveSize;
  /** From 0, the shortest waits that chance allows, to 1, the longest. */
  jitter?: number;
  peerLimitMs?: number;
  storeLimitMs?: number;
};

/** Where a process finds its store and its peers. */
export type Surroundings = {
  store: { directory: string } | { url: string };
  gatewayUrl: string;
  trackerUrl: string;
  emailUrl: string;
  pingUrl: string;
  emailKey: string;
  clock: TestClock;
  /** The clock that people set. */
  wallMs: () => number;
  /** Gets each line of the log, as JSON. */
  onLine: (line: string) => void;
  /** Told of each post before anything else is done with it. */
  onPost: (headers: Headers) => void;
};

/** A running process; `state` is for the commands of an operator alone. */
export type WebhookProcess = {
  port: number;
  adminPort: number;
  state: State;
  reload(settings: ServiceSettings): void;
  /** Ends it as a signal does. */
  end(): Promise<void>;
  /** Ends it as a kill does: nothing of what is under way is recorded. Resolves while its calls still end. */
  kill(cutOff: () => void): Promise<void>;
  ended: Promise<void>;
};

/** Long enough for every answer of a peer that answers, however busy the machine is. */
const PATIENT_MS = 60_000;

/** Starts a process. */
export async function startWebhookProcess(
  settings: ServiceSettings,
  surroundings: Surroundings,
): Promise<WebhookProcess> {
  const { clock, wallMs, onLine, onPost } = surroundings;
  const log = createLog({
    stream: { write: (text) => onLine(text) },
    format: "json",
    level: "info",
    now: () => new Date(clock.nowMs()),
  });
  const state = followed(clock, await openState(settings, surroundings, log));
  let peers = peersOf(settings, surroundings, state);
  let afterReload = () => {};
  const ending = new AbortController();
  const ready = Promise.withResolvers<{ port: number; adminPort: number | null }>();
  const ended = serveWebhook(
    {
      authenticate(headers) {
        onPost(headers);
        return peers.authenticate(headers);
      },
      state,
      lookUp: (row, signal) => clock.during(peers.lookUp(row, signal)),
      attempts: {
        message: (row, signal) => clock.during(peers.message(row, signal)),
        issue: (row, signal) => clock.during(peers.issue(row, signal)),
        comment: (row, signal) => clock.during(peers.comment(row, signal)),
      },
      watchPeers: () => peers.watch,
      metrics: createWebhookMetrics({ version: "test" }),
      log,
      sockets: new Map(),
      onReady: ready.resolve,
      interrupt: ending.signal,
      reloads: {
        start(afterwards) {
          afterReload = afterwards;
        },
        stop() {},
      },
      nowMs: wallMs,
      monotonicMs: clock.nowMs,
      random: () => settings.jitter ?? 0,
      sleep: clock.sleep,
    },
    {
      host: "127.0.0.1",
      port: 0,
      adminPort: await freePort(),
      messagesPerMinute: 60_000,
      issuesPerHour: 3_600_000,
      digestAfterSeconds: 0,
      ...settings,
    },
  );
  const early = ended.then(() => Promise.reject(new Error("It ended before it listened")));
  const { port, adminPort } = await Promise.race([ready.promise, early]);
  early.catch(() => {});
  return {
    port,
    adminPort: adminPort!,
    state,
    ended,
    reload(changed) {
      peers = peersOf(changed, surroundings, state);
      afterReload();
    },
    async end() {
      ending.abort();
      await ended;
      await state.close();
    },
    async kill(cutOff) {
      cutOff();
      ending.abort();
      await state.close();
    },
  };
}

function openState(
  { comments, limits, reserve, storeLimitMs }: ServiceSettings,
  { store, wallMs }: Surroundings,
  log: ReturnType<typeof createLog>,
): Promise<State> {
  const common = { log, ...(comments && { comments }), ...(limits && { limits }) };
  if ("directory" in store) {
    const own = { directory: store.directory, nowMs: wallMs, ...(reserve && { reserve }) };
    return openSqliteState({ ...common, ...own });
  }
  const own = { url: new Secret(store.url), applicationName: "webhook-tests", mayBeAway: true };
  return openPostgresState({ ...common, ...own, ...(storeLimitMs && { answerLimitMs: storeLimitMs }) });
}

/** What a reload exchanges. */
function peersOf(settings: ServiceSettings, surroundings: Surroundings, state: State) {
  const { key, token, team, phone, instance = null, peerLimitMs = PATIENT_MS } = settings;
  const { trackerUrl, emailUrl, emailKey, pingUrl, clock, wallMs } = surroundings;
  const { gatewayUrl = surroundings.gatewayUrl } = settings;
  const access = { baseUrl: new URL(gatewayUrl), adminKey: new Secret(key), timeoutMs: PATIENT_MS };
  const gateway = evolutionClient(access);
  const sender = evolutionClient({ ...access, timeoutMs: peerLimitMs });
  const findInstance = resolveInstance({ gateway, configured: instance });
  const issues = linearTracker({
    url: new URL(trackerUrl),
    token: new Secret(token),
    teamId: team,
    timeoutMs: peerLimitMs,
  });
  const email = {
    apiUrl: emailUrl,
    apiKey: new Secret(emailKey),
    from: "alarm@mail.example",
    to: "ops@client.example",
  };
  const { secret, previousSecret = null } = settings;
  return {
    authenticate: authenticator({
      secret: new Secret(secret),
      previousSecret: previousSecret === null ? null : new Secret(previousSecret),
    }),
    message: messageAttempt({ gateway: sender, findInstance, phone }),
    issue: issueAttempt(issues),
    comment: commentAttempt(issues),
    lookUp: messageLookUp({
      find: messageFinder(access),
      findInstance,
      phone,
      heldReferences: (kind, references) => state.heldReferences(kind, references),
      nowMs: wallMs,
    }),
    watch: followed(clock, {
      gatewayState: gatewayStateOf({ gateway, findInstance }),
      messageStatus: askAboutMessage({ ask: askMessageStatus(access), findInstance }),
      sendEmail: settings.email === true ? alertEmailSender(email, () => {}) : null,
      ping: settings.ping === true ? pingOf(new Secret(`${pingUrl}/check`)) : null,
    }),
  };
}

/** Has the clock stand still while one of these calls goes on, however long that is on a busy machine. */
function followed<Calls extends object>(clock: TestClock, calls: Calls): Calls {
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
