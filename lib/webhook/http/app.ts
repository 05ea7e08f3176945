import { Hono } from "hono";
import type { Log } from "../../platform/log/log.ts";
import type { parseAlerts } from "../alert/parse.ts";
import type { Intake } from "../delivery/intake.ts";
import type { WebhookMetrics } from "../metrics/metrics.ts";
import type { Authenticate } from "./authenticate.ts";
import { BodyShares } from "./body-shares.ts";
import { jsonAnswer, methodNotAllowed, notFound } from "./json-answer.ts";
import { type Admit, readBody } from "./read-body.ts";
import { internal, invalidPayload, invalidSecret, stateUnavailable, unreadBody } from "./refusals.ts";

/** What the public port is made of. */
export type AppParts = {
  authenticate: Authenticate;
  parse: typeof parseAlerts;
  take: Intake["take"];
  metrics: Pick<WebhookMetrics, "request" | "rejected" | "previousSecret">;
  log: Log;
  isStopping: () => boolean;
  monotonicMs?: () => number;
};

/**
 * The public port: `POST /webhook` and nothing else.
 *
 * Behaviour: checks in this order, the cheapest first: path, method, secret, content type, size, JSON, alerts. A bad
 *            request gets 4xx, after which senders do not repeat; what may be over soon gets 503.
 * Source:    monitoring document, Alert webhook; its answers are in docs/webhook.md.
 */
export function createApp(parts: AppParts): { fetch: (request: Request) => Promise<Response> } {
  const { metrics, log, monotonicMs = () => performance.now() } = parts;
  const shares = new BodyShares();
  const app = new Hono({ getPath: ({ url }) => new URL(url).pathname });
  app.post("/webhook", async ({ req: { raw } }) => {
    const secret = parts.authenticate(raw.headers);
    if (secret === null) return invalidSecret();
    if (secret === "previous") metrics.previousSecret();
    return await shares.hold((admit) => takePost(raw, admit, parts));
  });
  app.all("/webhook", () => methodNotAllowed("POST"));
  app.notFound(notFound);
  app.onError((error) => {
    log.error("A request failed", { cause: error.name });
    return internal();
  });
  return {
    async fetch(request) {
      const startedMs = monotonicMs();
      const response = await app.fetch(request);
      metrics.request(response.status, monotonicMs() - startedMs);
      return response;
    },
  };
}

async function takePost(
  request: Request,
  admit: Admit,
  { parse, take, metrics, isStopping }: AppParts,
): Promise<Response> {
  const body = await readBody(request, admit);
  if ("problem" in body) return unreadBody(body.problem);
  const parsed = parse(body.value);
  if ("invalid" in parsed) return invalidPayload(parsed.invalid, parsed.invalidTotal);
  const { alerts, rejected, rejectedTotal } = parsed;
  const answers = alerts.length === 0 ? [] : await take(alerts);
  if (answers === null) return stateUnavailable(isStopping());
  if (rejectedTotal > 0) metrics.rejected(rejectedTotal);
  const isKept = answers.every(({ durable }) => durable !== false);
  const durable = isKept ? {} : { durable: false };
  return jsonAnswer(200, { accepted: alerts.length, rejected, rejectedTotal, ...durable, alerts: answers });
}
