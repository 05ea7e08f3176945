/** A stand-in of the e-mail provider: Resend as far as its contract is known, idempotency and rate included. */
import { randomUUID } from "node:crypto";
import { bodyProblem, type EmailBody, refusal } from "./email-body.ts";
import { type Answer, type LedgerEntry, type StandIn, type StandInOptions, startStandIn } from "./standin.ts";

/** Settings of the provider. */
export type EmailProviderOptions = StandInOptions & {
  apiKey: string;
  /** At most `count` calls in any `seconds`, published in the headers; none when absent. */
  rate?: { count: number; seconds: number };
  /** After so many accepted e-mails every call is a 429 `daily_quota_exceeded`. */
  dailyQuota?: number;
  /** Domains that may send; any when absent. */
  verifiedDomains?: string[];
  /** Whether the key may do nothing but send. */
  sendsOnly?: boolean;
};

/** An e-mail that the provider took and would have sent. */
export type AcceptedEmail = EmailBody & { id: string; idempotencyKey: string | null; at: Date };

/**
 * A running provider.
 *
 * Shape: `accepted` is what was sent, once per idempotency key; `refusedForRate` counts the 429s; faults are ordered
 *        with `routes.send.next(...)`.
 */
export type EmailProvider = StandIn<"send" | "domains"> & {
  accepted: AcceptedEmail[];
  refusedForRate: number;
};

type Stored = { rawBody: string; answer: Answer };

/** Starts an e-mail provider. */
export async function startEmailProvider(options: EmailProviderOptions): Promise<EmailProvider> {
  const accepted: AcceptedEmail[] = [];
  const stored = new Map<string, Stored>();
  const running = new Set<string>();
  const meter = rateMeter(options.rate);

  function gate(entry: LedgerEntry): Answer | null {
    // The edge stops a call without User-Agent before the API sees it.
    if (!entry.headers["user-agent"])
      return { status: 403, text: "error code: 1010", headers: { "content-type": "text/plain" } };
    const authorization = entry.headers.authorization;
    if (authorization === undefined)
      return refusal(401, "missing_api_key", "Missing API key in the authorization header");
    if (authorization !== `Bearer ${options.apiKey}`)
      return refusal(403, "invalid_api_key", "API key is invalid");
    if (!meter.take()) {
      provider.refusedForRate += 1;
      return refusal(429, "rate_limit_exceeded", "Too many requests");
    }
    if (options.dailyQuota !== undefined && accepted.length >= options.dailyQuota)
      return refusal(429, "daily_quota_exceeded", "You have reached your daily email sending quota");
    return null;
  }

  async function send(entry: LedgerEntry, work: () => Promise<void>): Promise<Answer> {
    const stopped = gate(entry) ?? keyProblem(entry.headers["idempotency-key"]);
    if (stopped !== null) return stopped;
    const key = entry.headers["idempotency-key"] ?? null;
    const earlier = key === null ? undefined : stored.get(key);
    if (earlier !== undefined && earlier.rawBody !== entry.rawBody)
      return refusal(409, "invalid_idempotent_request", "This key was used with another payload");
    if (earlier !== undefined) return earlier.answer;
    if (key !== null && running.has(key))
      return refusal(409, "concurrent_idempotent_requests", "The first request is still in progress");
    if (key !== null) running.add(key);
    await work();
    if (key !== null) running.delete(key);
    return deliver(entry, key);
  }

  function deliver(entry: LedgerEntry, key: string | null): Answer {
    const problem = bodyProblem(entry) ?? domainProblem(entry.body as EmailBody, options.verifiedDomains);
    if (problem !== null) return problem;
    const id = randomUUID();
    accepted.push({ ...(entry.body as EmailBody), id, idempotencyKey: key, at: new Date() });
    const answer: Answer = { status: 200, json: { id } };
    if (key !== null) stored.set(key, { rawBody: entry.rawBody, answer });
    return answer;
  }

  const standIn = await startStandIn(
    {
      send: { method: "POST", pattern: /^\/emails$/, handle: (entry, _match, work) => send(entry, work) },
      domains: {
        method: "GET",
        pattern: /^\/domains$/,
        handle: async (entry) => gate(entry) ?? domains(options),
      },
    },
    {
      ...options,
      headers: () => meter.headers(),
      notFound: ({ path, method }) =>
        path.endsWith("/emails")
          ? refusal(405, "method_not_allowed", `Method ${method} is not allowed`)
          : refusal(404, "not_found", "The requested endpoint does not exist"),
    },
  );
  const provider: EmailProvider = Object.assign(standIn, { accepted, refusedForRate: 0 });
  return provider;
}

function domains({ sendsOnly, verifiedDomains = [] }: EmailProviderOptions): Answer {
  if (sendsOnly) return refusal(401, "restricted_api_key", "This API key is restricted to only send emails");
  const data = verifiedDomains.map((name) => ({ id: randomUUID(), name, status: "verified" }));
  return { status: 200, json: { object: "list", has_more: false, data } };
}

function keyProblem(key: string | undefined): Answer | null {
  if (key === undefined || (key.length >= 1 && key.length <= 256)) return null;
  return refusal(400, "invalid_idempotency_key", "The key must be 1 to 256 characters");
}

function domainProblem({ from }: EmailBody, verified: string[] | undefined): Answer | null {
  const domain = from.replace(/>$/, "").split("@").at(-1)!;
  if (verified === undefined || verified.includes(domain)) return null;
  return refusal(
    403,
    "validation_error",
    `The ${domain} domain is not verified. Please, add and verify your domain`,
  );
}

type Meter = { take(): boolean; headers(): Record<string, string> };

// The strictest reading of "5 per second": not more than five in any second.
function rateMeter(rate: { count: number; seconds: number } | undefined): Meter {
  if (rate === undefined) return { take: () => true, headers: () => ({}) };
  const { count, seconds } = rate;
  let taken: number[] = [];
  let refused = false;
  const recent = () => {
    taken = taken.filter((at) => at > performance.now() - seconds * 1000);
    return taken;
  };
  return {
    take() {
      refused = recent().length >= count;
      if (!refused) taken.push(performance.now());
      return !refused;
    },
    headers() {
      const oldest = recent()[0] ?? performance.now();
      const reset = Math.max(1, Math.ceil((oldest + seconds * 1000 - performance.now()) / 1000));
      return {
        "ratelimit-limit": String(count),
        "ratelimit-remaining": String(Math.max(0, count - taken.length)),
        "ratelimit-reset": String(reset),
        "ratelimit-policy": `${count};w=${seconds}`,
        ...(refused ? { "retry-after": String(reset) } : {}),
      };
    },
  };
}
