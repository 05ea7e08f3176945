/** `opsctl webhook serve` as a process of its own, the binary as its unit starts it, with stand-ins for its peers. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../chaos/until.ts";
import { type Gateway, startGateway } from "../standins/gateway.ts";
import { startTracker, type Tracker } from "../standins/tracker.ts";
import { unitEnvironment } from "../unit-environment.ts";
import { type Running, type RuntimeName, startOpsctl } from "./opsctl.ts";

export const SECRET = "canary-webhook-secret-0123456789";
export const TOKEN = "lin_api_canarytoken0123456789";
export const KEY = "canary-gateway-key";
export const TEAM = "0f0e0d0c-0b0a-4908-8706-050403020100";
export const PHONE = "5511912345678";

/** Gateway, tracker and a state directory, and services that use them. */
export type WebhookArena = {
  gateway: Gateway;
  tracker: Tracker;
  directory: string;
  env: Record<string, string>;
  start(options?: { runtime?: RuntimeName; args?: string[]; env?: Record<string, string> }): Promise<Serving>;
  [Symbol.asyncDispose](): Promise<void>;
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
    async start({ runtime = "binary", args = [], env: more = {} } = {}) {
      const serving = await startServing(runtime, args, { ...env, ...more });
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

async function startServing(
  runtime: RuntimeName,
  args: string[],
  env: Record<string, string>,
): Promise<Serving> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const words = [
    "webhook",
    "serve",
    "--host",
    "127.0.0.1",
    "--port",
    `${port}`,
    "--admin-port",
    `${adminPort}`,
  ];
  const ownEnv = runtime === "binary" ? unitEnvironment() : {};
  const running = await startOpsctl([...words, ...args], { runtime, env: { ...ownEnv, ...env } });
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

/** A port of loopback that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Posts a body; throws what `fetch` throws when there is no answer. */
export async function postAlerts(url: string, body: unknown): Promise<{ status: number; json: unknown }> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-webhook-secret": SECRET, connection: "close" },
    body: JSON.stringify(body),
  });
  return { status: response.status, json: await response.json() };
}
