/** Runs `opsctl webhook serve` as a process, the binary with its unit's environment, and stand-ins for its peers. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HeldSocket } from "../../platform/support/held-socket.ts";
import { type Gateway, startGateway } from "../../standins/gateway.ts";
import { startTracker, type Tracker } from "../../standins/tracker.ts";
import { freePort } from "../../support/free-port.ts";
import { unitEnvironment } from "../../support/started-environment.ts";
import { until } from "../../support/until.ts";
import { KEY, PHONE, SECRET, TEAM, TOKEN } from "../../webhook/support/settings.ts";
import { type Running, type RuntimeName, startOpsctl } from "./opsctl.ts";

/** Gateway, tracker and a state directory, and services that use them. */
export type WebhookArena = {
  gateway: Gateway;
  tracker: Tracker;
  directory: string;
  env: Record<string, string>;
  start(options?: ServeOptions): Promise<Serving>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** How a service is started: `held` is a listening socket that it takes over, `descriptors` its limit of open files. */
export type ServeOptions = {
  runtime?: RuntimeName;
  args?: string[];
  env?: Record<string, string>;
  held?: HeldSocket;
  descriptors?: number;
};

/** A service that listens. */
export type Serving = Running & { url: string; adminUrl: string; log(): string };

/** Starts the peers. */
export async function openWebhookArena(): Promise<WebhookArena> {
  const directory = mkdtempSync(join(tmpdir(), "opsctl-serve-"));
  const gateway = await startGateway({ adminKey: KEY });
  const tracker = await startTracker({ token: TOKEN, teamId: TEAM });
  const env = {
    WEBHOOK_SECRET: SECRET,
    MESSAGING_API_URL: gateway.url,
    MESSAGING_API_KEY: KEY,
    MESSAGING_PHONE: PHONE,
    ISSUE_TRACKER_URL: `${tracker.url}/graphql`,
    ISSUE_TRACKER_TOKEN: TOKEN,
    ISSUE_TRACKER_TEAM_ID: TEAM,
    OPSCTL_STATE_DIR: directory,
    OPSCTL_SECRETS_DIR: directory,
  };
  const services: Serving[] = [];
  return {
    gateway,
    tracker,
    directory,
    env,
    async start(options = {}) {
      const serving = await startServing(env, options);
      services.push(serving);
      return serving;
    },
    async [Symbol.asyncDispose]() {
      for (const service of services) service.kill("SIGKILL");
      await Promise.all(services.map(({ ended }) => ended));
      await Promise.all([gateway.stop(), tracker.stop()]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function startServing(arena: Record<string, string>, options: ServeOptions): Promise<Serving> {
  const { runtime = "binary", args = [], env = {}, held, descriptors } = options;
  const [port, adminPort] = [held?.port ?? (await freePort()), await freePort()];
  const place = ["--host", "127.0.0.1", "--port", `${port}`, "--admin-port", `${adminPort}`];
  const ownEnv = runtime === "binary" ? unitEnvironment() : {};
  const handedOver = { LISTEN_FDS: "1", LISTEN_FDNAMES: "webhook" };
  const running = await startOpsctl(["webhook", "serve", ...place, ...args], {
    runtime,
    env: { ...ownEnv, ...arena, ...(held === undefined ? {} : handedOver), ...env },
    through: held === undefined && descriptors === undefined ? [] : shell(descriptors),
    handedOver: held?.fd,
  });
  let log = "";
  running.child.stderr!.on("data", (text: string) => {
    log += text;
  });
  let hasEnded = false;
  void running.ended.then(() => {
    hasEnded = true;
  });
  await until("the service listens", () => hasEnded || log.includes("Listening for alerts"));
  if (hasEnded) throw new Error(`The service ended: ${log}`);
  return {
    ...running,
    url: `http://127.0.0.1:${port}/webhook`,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    log: () => log,
  };
}

/** A shell that sets LISTEN_PID to its own process id, as systemd does, and replaces itself by the command. */
function shell(descriptors?: number): string[] {
  const limit = descriptors === undefined ? "" : `ulimit -n ${descriptors}; `;
  return ["/bin/sh", "-c", `${limit}LISTEN_PID=$$ exec "$@"`, "sh"];
}

/** Posts a body; throws the error of `fetch` when there is no answer. */
export async function postAlerts(url: string, body: unknown): Promise<{ status: number; json: unknown }> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-webhook-secret": SECRET, connection: "close" },
    body: JSON.stringify(body),
  });
  return { status: response.status, json: await response.json() };
}
