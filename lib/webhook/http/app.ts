import { Hono } from "hono";
import type { Log } from "../../platform/log/log.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import type { parseAlerts } from "../alert/parse.ts";
import type { Intake } from "../delivery/intake.ts";
import type { WebhookMetrics } from "../metrics/metrics.ts";
import { authenticator } from "./authenticate.ts";
import { BodyBudget } from "./body-budget.ts";
import { jsonAnswer, methodNotAllowed, notFound } from "./json-answer.ts";
import { MAX_BODY_BYTES, readBody } from "./read-body.ts";
import {
  internal,
  invalidPayload,
  invalidSecret,
  overloaded,
  stateUnavailable,
  unreadBody,
} from "./refusals.ts";

/** What the public port is made of. */
export type AppParts = {
  secret: Secret;
  parse: typeof parseAlerts;
  take: Intake["take"];
  metrics: Pick<WebhookMetrics, "request" | "rejected">;
  log: Log;
  isStopping: () => boolean;
  monotonicMs?: () => number;
};

/** How much all bodies together may hold, each from its first byte to its answer. */
const BUDGET_BYTES = 8 * MAX_BODY_BYTES;
/** A body up to this size needs no budget: a small alert does not wait behind large ones. */
const SMALL_BYTES = 65_536;
/** How long a body may wait for its share of the budget; senders wait for half a minute. */
const BUDGET_WAIT_MS = 15_000;

/**
 * The public port: `POST /webhook` and nothing else.
 *
 * Behaviour: checks in this order, the cheapest first: path, method, secret, content type, size, JSON, alerts. A bad
 *            request gets 4xx, after which senders do not repeat; what may be over soon gets 503.
 * Source:    monitoring document, Alert webhook; its answers are in docs/webhook.md.
 */
export function createApp(parts: AppParts): { fetch: (request: Request) => Promise<Response> } {
  const { metrics, log, monotonicMs = () => performance.now() } = parts;
  const isAuthentic = authenticator(parts.secret);
  const budget = new BodyBudget(BUDGET_BYTES);
  const app = new Hono({ getPath: ({ url }) => new URL(url).pathname });
  app.post("/webhook", async ({ req: { raw } }) =>
    isAuthentic(raw.headers) ? await takeWithinBudget(budget, raw, parts) : invalidSecret(),
  );
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

/** Takes a post when the budget has room for its body; until then nothing of the body is read. */
async function takeWithinBudget(budget: BodyBudget, request: Request, parts: AppParts): Promise<Response> {
  const length = request.headers.get("content-length");
  const bytes = length === null ? MAX_BODY_BYTES : Math.min(Number(length) || 0, MAX_BODY_BYTES);
  if (bytes <= SMALL_BYTES) return await takePost(request, parts);
  const release = await budget.reserve(bytes, BUDGET_WAIT_MS);
  if (release === null) return overloaded();
  try {
    return await takePost(request, parts);
  } finally {
    release();
  }
}

async function takePost(request: Request, { parse, take, metrics, isStopping }: AppParts): Promise<Response> {
  const body = await readBody(request);
  if ("problem" in body) return unreadBody(body.problem);
  const parsed = parse(body.value);
  if ("invalid" in parsed) return invalidPayload(parsed.invalid, parsed.invalidTotal);
  const { alerts, rejected, rejectedTotal } = parsed;
  const answers = alerts.length === 0 ? [] : await take(alerts);
  if (answers === null) return stateUnavailable(isStopping());
  if (rejectedTotal > 0) metrics.rejected(rejectedTotal);
  return jsonAnswer(200, { accepted: alerts.length, rejected, rejectedTotal, alerts: answers });
}
