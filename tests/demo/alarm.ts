/** The operator's side: opsctl's own webhook as a service, with a gateway and an issue tracker of its own behind it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "../chaos/until.ts";
import { type Gateway, startGateway } from "../standins/gateway.ts";
import { startTracker, type Tracker } from "../standins/tracker.ts";
import { freePort } from "../support/free-port.ts";
import { unitEnvironment } from "../support/unit-environment.ts";
import type { Stage } from "./stage.ts";

const WEBHOOK_SECRET = "demo-webhook-secret-0123456789";
const KEY = "demo-alarm-gateway-key";
const TRACKER = { token: "lin_api_demo0123456789", teamId: "0f0e0d0c-0b0a-4908-8706-050403020100" };

/** The alarm: where a run posts to, what the operator's phone has received, which issues there are. */
export type Alarm = {
  url: string;
  tracker: Tracker;
  gateway: Gateway;
  /** The n-th message on the operator's phone, waited for. */
  message(n: number): Promise<string>;
};

/** Starts the service and what is behind it. */
export async function startAlarm(stage: Stage): Promise<Alarm> {
  const gateway = await startGateway({ adminKey: KEY });
  stage.onClose(() => gateway.stop());
  const tracker = await startTracker(TRACKER);
  stage.onClose(() => tracker.stop());
  const state = join(stage.folder, "webhook");
  mkdirSync(state, { mode: 0o700 });
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
  };
  await stage.serve(["webhook", "serve", ...place], env, "Listening for alerts");
  return {
    url: `http://127.0.0.1:${port}/webhook`,
    tracker,
    gateway,
    async message(n) {
      await until(`message ${n} on the operator's phone`, () => gateway.accepted.length >= n);
      return gateway.accepted[n - 1]!.text;
    },
  };
}
