/** The webhook service in this process, as `opsctl webhook serve` wires it, but for its clocks and limits. */
import { openServeDependencies } from "../../../cli/wiring/webhook/serve.ts";
import { createLog } from "../../../lib/platform/log/log.ts";
import { loadWebhookConfig } from "../../../lib/webhook/config.ts";
import { type Reading, Reloader } from "../../../lib/webhook/reload.ts";
import { type ServeDependencies, type ServeOptions, serveWebhook } from "../../../lib/webhook/serve.ts";
import { OUTBOX_LIMITS } from "../../../lib/webhook/store/model.ts";
import type { State } from "../../../lib/webhook/store/outbox.ts";
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
  /** From 0, the shortest waits that chance allows, to 1, the longest. */
  jitter?: number;
  peerLimitMs?: number;
  storeLimitMs?: number;
};

/** Where a process finds its store and the external services. */
export type Surroundings = {
  directory: string;
  /** A database instead of a file in the directory. */
  stateUrl: string | null;
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
  /** Called for each post before anything else is done with it. */
  onPost: (headers: Headers) => void;
};

/** A running process; `state` is for the commands of an operator alone. */
export type WebhookProcess = {
  port: number;
  adminPort: number;
  state: State;
  /** Resolves when the settings are in force. */
  reload(settings: ServiceSettings): Promise<void>;
  /** Ends it as a signal does. */
  end(): Promise<void>;
  /** Ends it as a kill does: nothing of what is under way is recorded. Resolves while its calls still end. */
  kill(cutOff: () => void): Promise<void>;
  ended: Promise<void>;
};

/** Long enough for every answer of a peer that answers, however busy the machine is. */
const PATIENT_MS = 60_000;

/** A full disk takes nothing at once, and a service starts on it all the same. */
const EMPTY_RESERVE = { rows: 0, rowBytes: 1 };

/** Starts a process. */
export async function startWebhookProcess(
  started: ServiceSettings,
  surroundings: Surroundings,
): Promise<WebhookProcess> {
  const { clock, wallMs, onLine } = surroundings;
  const log = createLog({
    stream: { write: (text) => onLine(text) },
    format: "json",
    level: "info",
    now: () => new Date(clock.nowMs()),
  });
  let env = environmentOf(started, surroundings);
  const ending = new AbortController();
  const reloader = new Reloader<Reading>(log);
  const { dependencies, close } = await openServeDependencies(
    await loadWebhookConfig(env),
    OUTBOX_LIMITS,
    {
      log,
      env,
      interrupted: () => ending.signal,
      readSettings: () => ({ env, path: null, isThere: false, names: [], repeated: [], hidden: [] }),
    },
    reloader,
    {
      nowMs: wallMs,
      monotonicMs: clock.nowMs,
      random: () => started.jitter ?? 0,
      sleep: clock.sleep,
      sendLimitMs: started.peerLimitMs ?? PATIENT_MS,
      lookUpLimitMs: PATIENT_MS,
      reserve: EMPTY_RESERVE,
      ...(started.storeLimitMs && { storeLimitMs: started.storeLimitMs }),
    },
  );
  const ready = Promise.withResolvers<{ port: number; adminPort: number | null }>();
  let reloaded = () => {};
  const ended = serveWebhook(
    {
      ...followedBy(surroundings, dependencies),
      onReady(ports) {
        dependencies.onReady(ports);
        ready.resolve(ports);
      },
      reloads: {
        start: (afterwards) =>
          dependencies.reloads.start(() => {
            afterwards();
            reloaded();
          }),
        stop: dependencies.reloads.stop,
      },
    },
    {
      host: "127.0.0.1",
      port: 0,
      adminPort: await freePort(),
      messagesPerMinute: 60_000,
      issuesPerHour: 3_600_000,
      digestAfterSeconds: 0,
      ...started,
    },
  );
  const early = ended.then(() => Promise.reject(new Error("It ended before it listened")));
  const { port, adminPort } = await Promise.race([ready.promise, early]);
  early.catch(() => {});
  return {
    port,
    adminPort: adminPort!,
    state: dependencies.durable,
    ended,
    async reload(changed) {
      env = environmentOf(changed, surroundings);
      const inForce = new Promise<void>((resolve) => {
        reloaded = resolve;
      });
      reloader.request();
      await inForce;
    },
    async end() {
      ending.abort();
      await ended;
      await close();
    },
    async kill(cutOff) {
      cutOff();
      ending.abort();
      await close();
    },
  };
}

function environmentOf(settings: ServiceSettings, surroundings: Surroundings): Record<string, string> {
  const { secret, previousSecret = "", key, token, team, phone, instance = "" } = settings;
  const { comments = false, email = false, ping = false, gatewayUrl = surroundings.gatewayUrl } = settings;
  const { directory, stateUrl, trackerUrl, emailUrl, emailKey, pingUrl } = surroundings;
  return {
    WEBHOOK_SECRET: secret,
    WEBHOOK_SECRET_PREVIOUS: previousSecret,
    MESSAGING_API_URL: gatewayUrl,
    MESSAGING_API_KEY: key,
    MESSAGING_PHONE: phone,
    MESSAGING_INSTANCE: instance,
    ISSUE_TRACKER_URL: trackerUrl,
    ISSUE_TRACKER_TOKEN: token,
    ISSUE_TRACKER_TEAM_ID: team,
    ISSUE_TRACKER_COMMENTS: comments ? "1" : "",
    OPSCTL_SECRETS_DIR: directory,
    ...(stateUrl === null ? { OPSCTL_STATE_DIR: directory } : { OPSCTL_STATE_URL: stateUrl }),
    ...(email && {
      ALERT_EMAIL_TO: "ops@client.example",
      ALERT_EMAIL_FROM: "alarm@mail.example",
      ALERT_EMAIL_API_KEY: emailKey,
      ALERT_EMAIL_API_URL: emailUrl,
    }),
    ...(ping && { OPSCTL_PING_URL: `${pingUrl}/check` }),
  };
}

/** Has the clock stand still while one of their calls goes on. */
function followedBy({ clock, onPost }: Surroundings, dependencies: ServeDependencies): ServeDependencies {
  const { authenticate, durable, openMemory, lookUp, attempts, clients } = dependencies;
  return {
    ...dependencies,
    authenticate(headers) {
      onPost(headers);
      return authenticate(headers);
    },
    durable: followed(clock, durable),
    openMemory: (limits) => followed(clock, openMemory(limits)),
    lookUp: (sent, signal) => clock.during(lookUp(sent, signal)),
    attempts: followed(clock, attempts),
    clients() {
      const { gateway, email, ...calls } = clients();
      return {
        ...followed(clock, calls),
        gateway: followed(clock, { ...gateway }),
        email: email && { ...email, client: followed(clock, { ...email.client }) },
      };
    },
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
