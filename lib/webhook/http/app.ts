import { Hono } from "hono";
import { WEBHOOK_QUESTION } from "../../host/webhook-names.ts";
import type { Log } from "../../platform/log/log.ts";
import type { Origin } from "../../platform/server/connection.ts";
import { parseAlerts } from "../alert/parse.ts";
import type { Intake } from "../delivery/intake.ts";
import type { WebhookMetrics } from "../metrics/metrics.ts";
import { codeOfAnswer, jsonAnswer, methodNotAllowed, notFound, refusal } from "./answers.ts";
import type { Authenticate } from "./authenticate.ts";
import { BodyMemory, readBody, type TakeMemory } from "./read-body.ts";
import { type RefusalLog, type Sender, senderOf } from "./refusal-log.ts";

/** The parts of the public port. */
export type AppParts = {
  authenticate: Authenticate;
  take: Intake["take"];
  metrics: Pick<WebhookMetrics, "request" | "rejected" | "previousSecret">;
  refusals: Pick<RefusalLog, "answered" | "refused" | "rejected">;
  log: Log;
  isStopping: () => boolean;
  monotonicMs: () => number;
};

/** `origin` is where a request came from; `malformed` counts and logs one that is not valid HTTP, which `fetch` never sees. */
type App = {
  fetch(request: Request, origin?: Origin): Promise<Response>;
  malformed(status: number, origin: Origin): void;
};

/**
 * The public port: it serves only `POST /webhook`.
 *
 * Behaviour: checks in this order, the cheapest first: path, method, secret, content type, size, JSON, alerts. A bad
 *            request gets 4xx, after which senders do not repeat; what may be over soon gets 503. A request that only
 *            checks the secret gets 204.
 * Source:    monitoring document, Alert webhook; its answers are in docs/webhook.md.
 */
export function createApp(parts: AppParts): App {
  const { authenticate, metrics, refusals, log, monotonicMs } = parts;
  const memory = new BodyMemory();
  const app = new Hono<{ Bindings: Sender }>({ getPath: ({ url }) => new URL(url).pathname });
  app.post("/webhook", async ({ req: { raw }, env }) => {
    const secret = authenticate(raw.headers);
    if (secret === null) return refusal("invalid_secret");
    if (secret === "previous") metrics.previousSecret();
    if (isQuestion(raw.headers)) return new Response(null, { status: 204 });
    return await memory.use((take) => takeAlerts(raw, env, take, parts));
  });
  app.all("/webhook", () => methodNotAllowed("POST"));
  app.notFound(notFound);
  app.onError(({ name: cause }) => {
    log.error("A request failed", { cause });
    return refusal("internal");
  });
  return {
    async fetch(request, { address } = { address: null }) {
      const startedMs = monotonicMs();
      const sender = senderOf(request.headers, address);
      const response = await app.fetch(request, sender);
      metrics.request(response.status, monotonicMs() - startedMs);
      const code = codeOfAnswer(response);
      if (code !== null) {
        const hasSecret = authenticate(request.headers) !== null;
        refusals.refused(response.status, code, sender, { hasSecret });
      }
      refusals.answered(response.status, sender);
      return response;
    },
    malformed(status, { address }) {
      metrics.request(status, 0);
      refusals.refused(status, "malformed_request", senderOf(new Headers(), address));
    },
  };
}

/** Whether a request without a body only checks the secret; with one, it is of a type that is not taken. */
function isQuestion(headers: Headers): boolean {
  const hasBody = headers.has("transfer-encoding") || Number(headers.get("content-length") ?? 0) !== 0;
  return headers.get("content-type") === WEBHOOK_QUESTION && !hasBody;
}

async function takeAlerts(
  request: Request,
  sender: Sender,
  takeMemory: TakeMemory,
  { take, metrics, refusals, isStopping }: AppParts,
): Promise<Response> {
  const body = await readBody(request, takeMemory);
  if ("problem" in body) return refusal(body.problem);
  const parsed = parseAlerts(body.value);
  if ("invalid" in parsed)
    return refusal("invalid_payload", { problems: parsed.invalid, problemsTotal: parsed.invalidTotal });
  const { alerts, rejected, rejectedTotal } = parsed;
  const answers = alerts.length === 0 ? [] : await take(alerts);
  // A service that stops runs again in a moment.
  if (answers === null) return refusal("state_unavailable", { retryAfterSeconds: isStopping() ? 1 : 10 });
  if (rejectedTotal > 0) {
    metrics.rejected(rejectedTotal);
    refusals.rejected(rejectedTotal, sender);
  }
  const durable = answers.every((answer) => answer.durable !== false) ? {} : { durable: false };
  return jsonAnswer(200, { accepted: alerts.length, rejected, rejectedTotal, ...durable, alerts: answers });
}
