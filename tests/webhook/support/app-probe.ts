/** Serves the public port with a fixed secret and a state that takes everything, and prints its port: for Deno. */
import process from "node:process";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { listen } from "../../../lib/platform/server/server.ts";
import { activatedSockets } from "../../../lib/platform/server/socket-activation.ts";
import type { Alert } from "../../../lib/webhook/alert/alert.ts";
import type { AlertAnswer } from "../../../lib/webhook/alert-answer.ts";
import { type AppParts, createApp } from "../../../lib/webhook/http/app.ts";
import { authenticator } from "../../../lib/webhook/http/authenticate.ts";
import { silentLog } from "../../support/silent-log.ts";

/** The probe's secret. */
export const PROBE_SECRET = "s3cret-of-the-prob\u00e9";

/** The probe's answer for an alert. */
export function probeAnswer({ name, status, squad, fingerprint }: Alert): AlertAnswer {
  return { alertname: name, status, squad, fingerprint, whatsapp: "queued", issue: "not_firing" };
}

/** The probe's app; an alert named `full` finds a full disk, one named `bug` a bug. */
export function probeApp(
  metrics: { request(status: number): void; rejected(count: number): void },
  report: AppParts["report"] = { refused() {}, rejected() {} },
) {
  return createApp({
    authenticate: authenticator({ secret: new Secret(PROBE_SECRET), previousSecret: null }),
    async take(alerts) {
      if (alerts.some(({ name }) => name === "bug")) throw new Error("a detail that nobody may see");
      return alerts.some(({ name }) => name === "full") ? null : alerts.map(probeAnswer);
    },
    metrics: { previousSecret() {}, ...metrics },
    report,
    posts: { answered() {} },
    log: silentLog,
    isStopping: () => false,
    monotonicMs: () => performance.now(),
  });
}

if (import.meta.main) {
  const app = probeApp({ request() {}, rejected() {} });
  const fd = activatedSockets(process.env, Number(process.env.LISTEN_PID)).get("webhook");
  const listener = await listen({ host: "127.0.0.1", port: 0, fd, fetch: app.fetch });
  process.once("SIGTERM", () => void listener.stop(5_000).then(() => process.exit(0)));
  console.log(listener.port);
}
