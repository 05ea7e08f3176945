/** The operator's side: opsctl's own webhook as a service, with a gateway and an issue tracker of its own behind it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Gateway, startGateway } from "../standins/gateway.ts";
import { startTracker, type Tracker } from "../standins/tracker.ts";
import { freePort } from "../support/free-port.ts";
import { unitEnvironment } from "../support/started-environment.ts";
import { until } from "../support/until.ts";
import type { Stage } from "./stage.ts";

const WEBHOOK_SECRET = "demo-webhook-secret-0123456789";
const KEY = "demo-alarm-gateway-key";
const TRACKER = { token: "lin_api_demo0123456789", teamId: "0f0e0d0c-0b0a-4908-8706-050403020100" };

/** The alarm: where a run posts to, what the operator's phone has received, which issues there are. */
export type Alarm = {
  url: string;
  /** The page, health and metrics. */
  adminUrl: string;
  pid: number;
  tracker: Tracker;
  gateway: Gateway;
  /** The n-th message on the operator's phone, waited for. */
  message(n: number): Promise<string>;
  /** Posts alerts as the platform does. */
  post(alerts: readonly object[]): Promise<Posted>;
  /** A metric of the service; null while it has none of that name. */
  metric(name: string): Promise<number | null>;
};

/** What the service says of a post; `durable` is there only when it is false. */
export type Posted = { status: number; accepted?: number; durable?: boolean };

/** Where the service keeps its state, and what else it is told. */
export type AlarmOptions = { state?: string; args?: string[]; env?: Record<string, string> };

/** Starts the service and what is behind it. */
export async function startAlarm(stage: Stage, options: AlarmOptions = {}): Promise<Alarm> {
  const gateway = await startGateway({ adminKey: KEY });
  stage.onClose(() => gateway.stop());
  const tracker = await startTracker(TRACKER);
  stage.onClose(() => tracker.stop());
  const state = options.state ?? join(stage.folder, "webhook");
  mkdirSync(state, { recursive: true, mode: 0o700 });
  stage.secret("WEBHOOK_SECRET", WEBHOOK_SECRET);
  const [port, adminPort] = [await freePort(), await freePort()];
  const place = ["--host", "127.0.0.1", "--port", `${port}`, "--admin-port", `${adminPort}`];
  const env = {
    ...unitEnvironment(),
    WEBHOOK_SECRET,
    MESSAGING_API_URL: gateway.url,
    MESSAGING_API_KEY: KEY,
    MESSAGING_PHONE: "5511912345678",
    ISSUE_TRACKER_URL: tracker.endpoint,
    ISSUE_TRACKER_TOKEN: TRACKER.token,
    ISSUE_TRACKER_TEAM_ID: TRACKER.teamId,
    OPSCTL_STATE_DIR: state,
    OPSCTL_SECRETS_DIR: state,
    ...options.env,
  };
  const args = ["webhook", "serve", ...place, ...(options.args ?? [])];
  const pid = await stage.serve(args, env, "Listening for alerts");
  const [url, adminUrl] = [`http://127.0.0.1:${port}/webhook`, `http://127.0.0.1:${adminPort}`];
  return {
    url,
    adminUrl,
    pid,
    tracker,
    gateway,
    post: (alerts) => post(url, alerts),
    metric: (name) => metric(adminUrl, name),
    async message(n) {
      await until(`message ${n} on the operator's phone`, () => gateway.accepted.length >= n);
      return gateway.accepted[n - 1]!.text;
    },
  };
}

async function post(url: string, alerts: readonly object[]): Promise<Posted> {
  const headers = { "content-type": "application/json", "x-webhook-secret": WEBHOOK_SECRET };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify({ alerts }) });
  return { status: response.status, ...((await response.json()) as Omit<Posted, "status">) };
}

async function metric(adminUrl: string, name: string): Promise<number | null> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(`opsctl_webhook_${name} `));
  return line === undefined ? null : Number(line.split(" ")[1]);
}
