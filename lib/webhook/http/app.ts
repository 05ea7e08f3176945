import { Hono } from "hono";
import { WEBHOOK_QUESTION } from "../../host/webhook-names.ts";
import type { Log } from "../../platform/log/log.ts";
import type { Origin } from "../../platform/server/connection.ts";
import { parseAlerts } from "../alert/parse.ts";
import type { Intake } from "../delivery/intake/intake.ts";
import type { WebhookMetrics } from "../metrics/metrics.ts";
import type { Authenticate } from "./authenticate.ts";
import { BodyShares } from "./body-shares.ts";
import { codeOfAnswer, jsonAnswer, methodNotAllowed, notFound } from "./json-answer.ts";
import type { OutsidePosts } from "./outside-posts.ts";
import { type Admit, readBody } from "./read-body.ts";
import { type RefusalReport, type Sender, senderOf } from "./refusal-report.ts";
import { refusal } from "./refusals.ts";

/** What the public port is made of. */
export type AppParts = {
  authenticate: Authenticate;
  take: Intake["take"];
  metrics: Pick<WebhookMetrics, "request" | "rejected" | "previousSecret">;
  report: Pick<RefusalReport, "refused" | "rejected">;
  posts: Pick<OutsidePosts, "answered">;
  log: Log;
  isStopping: () => boolean;
  monotonicMs: () => number;
};

/** Answers a request; `origin` is where it came from. */
type Fetch = (request: Request, origin?: Origin) => Promise<Response>;

/** Counts and logs a request that is no proper HTTP, so that no `Request` could be made of it. */
type Malformed = (status: number, origin: Origin) => void;

/** The code of such a request, in the log alone: its answer has no body. */
const MALFORMED = "malformed_request";

type Post = { request: Request; sender: Sender };

/**
 * The public port: `POST /webhook` and nothing else.
 *
 * Behaviour: checks in this order, the cheapest first: path, method, secret, content type, size, JSON, alerts. A bad
 *            request gets 4xx, after which senders do not repeat; what may be over soon gets 503. The question whether
 *            the secret is right gets 204.
 * Source:    monitoring document, Alert webhook; its answers are in docs/webhook.md.
 */
export function createApp(parts: AppParts): { fetch: Fetch; malformed: Malformed } {
  const { metrics, report, posts, log, monotonicMs } = parts;
  const shares = new BodyShares();
  const app = new Hono<{ Bindings: Sender }>({ getPath: ({ url }) => new URL(url).pathname });
  app.post("/webhook", async ({ req: { raw }, env }) => {
    const secret = parts.authenticate(raw.headers);
    if (secret === null) return refusal("invalid_secret");
    if (secret === "previous") metrics.previousSecret();
    if (isQuestion(raw.headers)) return new Response(null, { status: 204 });
    return await shares.hold((admit) => takePost({ request: raw, sender: env }, admit, parts));
  });
  app.all("/webhook", () => methodNotAllowed("POST"));
  app.notFound(notFound);
  app.onError((error) => {
    log.error("A request failed", { cause: error.name });
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
        const hasSecret = parts.authenticate(request.headers) !== null;
        report.refused(response.status, code, sender, { hasSecret });
      }
      posts.answered(response.status, sender);
      return response;
    },
    malformed(status, { address }) {
      metrics.request(status, 0);
      report.refused(status, MALFORMED, senderOf(new Headers(), address));
    },
  };
}

/** A post without a body that asks only whether its secret is right; with one it is of a type that is not taken. */
function isQuestion(headers: Headers): boolean {
  const hasBody = headers.has("transfer-encoding") || Number(headers.get("content-length") ?? 0) !== 0;
  return headers.get("content-type") === WEBHOOK_QUESTION && !hasBody;
}

async function takePost(
  { request, sender }: Post,
  admit: Admit,
  { take, metrics, report, isStopping }: AppParts,
): Promise<Response> {
  const body = await readBody(request, admit);
  if ("problem" in body) return refusal(body.problem);
  const parsed = parseAlerts(body.value);
  if ("invalid" in parsed)
    return refusal("invalid_payload", { problems: parsed.invalid, problemsTotal: parsed.invalidTotal });
  const { alerts, rejected, rejectedTotal } = parsed;
  const answers = alerts.length === 0 ? [] : await take(alerts);
  // A service that stops is back in a moment.
  if (answers === null) return refusal("state_unavailable", { retryAfterSeconds: isStopping() ? 1 : 10 });
  if (rejectedTotal > 0) {
    metrics.rejected(rejectedTotal);
    report.rejected(rejectedTotal, sender);
  }
  const isKept = answers.every(({ durable }) => durable !== false);
  const durable = isKept ? {} : { durable: false };
  return jsonAnswer(200, { accepted: alerts.length, rejected, rejectedTotal, ...durable, alerts: answers });
}
