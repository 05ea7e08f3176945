import { Hono } from "hono";
import { WEBHOOK_QUESTION } from "../../host/webhook-names.ts";
import type { Log } from "../../platform/log/log.ts";
import type { Origin } from "../../platform/server/connection.ts";
import { parseAlerts } from "../alert/parse.ts";
import type { Intake } from "../delivery/intake.ts";
import type { WebhookMetrics } from "../metrics/metrics.ts";
import { codeOfAnswer, jsonAnswer, methodNotAllowed, refusal } from "./answers.ts";
import type { Authenticate } from "./authenticate.ts";
import { BodyMemory, readBody, type TakeMemory } from "./read-body.ts";
import { type RefusalLog, type Sender, senderOf } from "./refusal-log.ts";

/** The parts of the public port. */
export type AppParts = {
  authenticate: Authenticate;
  take: Intake["take"];
  metrics: Pick<WebhookMetrics, "request" | "rejected" | "previousSecret">;
  refusals: Pick<RefusalLog, "answered" | "rejected">;
  log: Log;
  isStopping: () => boolean;
  monotonicMs: () => number;
};

/**
 * The public port: it serves only `POST /webhook`.
 *
 * Shape:     `malformed` counts and logs a request that is not valid HTTP, which `fetch` never sees.
 * Behaviour: checks in this order, the cheapest first: path, method, secret, content type, size, JSON, alerts. A bad
 *            request gets 4xx, after which senders do not repeat; what may be over soon gets 503. A request that only
 *            checks the secret gets 204.
 * Source:    monitoring document, Alert webhook; its answers are in docs/webhook.md.
 */
export function createApp(parts: AppParts) {
  const { authenticate, metrics, refusals, log, monotonicMs } = parts;
  const memory = new BodyMemory();
  const app = new Hono<{ Bindings: Arrival }>({ getPath: ({ url }) => new URL(url).pathname });
  app.post("/webhook", async ({ req: { raw }, env }) => {
    const secret = authenticate(raw.headers);
    if (secret === null) return refusal("invalid_secret");
    if (secret === "previous") metrics.previousSecret();
    if (isQuestion(raw.headers)) return new Response(null, { status: 204 });
    return await memory.use((take) => takeAlerts(raw, env, take, parts));
  });
  app.all("/webhook", () => methodNotAllowed("POST"));
  app.notFound(() => refusal("not_found"));
  app.onError(({ name: cause }) => {
    log.error("A request failed", { cause });
    return refusal("internal");
  });
  return {
    async fetch(request: Request, { address }: Origin = { address: null }): Promise<Response> {
      const startedMs = monotonicMs();
      const sender = senderOf(request.headers, address);
      const response = await app.fetch(request, { ...sender, arrivedAtMs: startedMs });
      metrics.request(response.status, monotonicMs() - startedMs);
      const code = codeOfAnswer(response);
      const hasSecret = code !== null && authenticate(request.headers) !== null;
      refusals.answered(response.status, code, sender, hasSecret);
      return response;
    },
    malformed(status: number, { address }: Origin): void {
      metrics.request(status, 0);
      refusals.answered(status, "malformed_request", senderOf(new Headers(), address), false);
    },
  };
}

/** Whether a request without a body only checks the secret; with one, it is of a type that is not taken. */
function isQuestion(headers: Headers): boolean {
  const hasBody = headers.has("transfer-encoding") || Number(headers.get("content-length") ?? 0) !== 0;
  return headers.get("content-type") === WEBHOOK_QUESTION && !hasBody;
}

/** A request's sender, and when its head had arrived. */
type Arrival = Sender & { arrivedAtMs: number };

async function takeAlerts(
  request: Request,
  { arrivedAtMs, ...sender }: Arrival,
  memory: TakeMemory,
  parts: AppParts,
) {
  const { take, metrics, refusals, isStopping } = parts;
  const body = await readBody(request, memory);
  if ("problem" in body) return refusal(body.problem);
  const parsed = parseAlerts(body.value);
  if ("invalid" in parsed)
    return refusal("invalid_payload", { problems: parsed.invalid, problemsTotal: parsed.invalidTotal });
  const { alerts, rejected, rejectedTotal } = parsed;
  const answers = alerts.length === 0 ? [] : await take(alerts, arrivedAtMs);
  // A service that stops runs again in a moment.
  if (answers === null) return refusal("state_unavailable", {}, isStopping() ? { "retry-after": "1" } : {});
  if (rejectedTotal > 0) {
    metrics.rejected(rejectedTotal);
    refusals.rejected(rejectedTotal, sender);
  }
  const durable = answers.every((answer) => answer.durable !== false) ? {} : { durable: false };
  return jsonAnswer(200, { accepted: alerts.length, rejected, rejectedTotal, ...durable, alerts: answers });
}
