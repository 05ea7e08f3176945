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
  /** A second key, with full access. */
  readKey?: string;
};

/** An e-mail that the provider took and would have sent. */
export type AcceptedEmail = EmailBody & {
  id: string;
  idempotencyKey: string | null;
  at: Date;
  lastEvent?: string;
};

/**
 * A running provider.
 *
 * Shape: `accepted` is what was sent, once per idempotency key; `refusedForRate` counts the 429s; faults are ordered
 *        with `routes.send.next(...)`. `accepted` is also what the provider lists, the newest first unless
 *        `listsOldestFirst`; `now` is its clock.
 */
export type EmailProvider = StandIn<"send" | "domains" | "list" | "email"> & {
  accepted: AcceptedEmail[];
  listsOldestFirst: boolean;
  now: () => Date;
  refusedForRate: number;
  /** Forgets the idempotency keys, as the provider does after 24 hours. */
  forgetKeys(): void;
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
    const keys = [options.apiKey, options.readKey].filter((key) => key !== undefined);
    if (!keys.some((key) => authorization === `Bearer ${key}`))
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
    accepted.push({ ...(entry.body as EmailBody), id, idempotencyKey: key, at: provider.now() });
    const answer: Answer = { status: 200, json: { id } };
    if (key !== null) stored.set(key, { rawBody: entry.rawBody, answer });
    return answer;
  }

  // A key that may only send is told so by every other route.
  function reading(entry: LedgerEntry, read: () => Answer): Answer {
    const stopped = gate(entry);
    if (stopped !== null) return stopped;
    return options.sendsOnly && entry.headers.authorization === `Bearer ${options.apiKey}`
      ? RESTRICTED
      : read();
  }

  function list(entry: LedgerEntry): Answer {
    const newestFirst = accepted.toSorted((a, b) => b.at.getTime() - a.at.getTime());
    return listPage(provider.listsOldestFirst ? newestFirst.toReversed() : newestFirst, entry.path);
  }

  function oneEmail(id: string): Answer {
    const email = accepted.find((one) => one.id === id);
    if (email === undefined) return refusal(404, "not_found", "Email not found");
    const { html = null, text = null, tags = [] } = email;
    return { status: 200, json: { object: "email", ...listed(email), html, text, tags } };
  }

  const standIn = await startStandIn(
    {
      list: {
        method: "GET",
        pattern: /^\/emails$/,
        handle: async (entry, _match, work) => {
          await work();
          return reading(entry, () => list(entry));
        },
      },
      email: {
        method: "GET",
        pattern: /^\/emails\/([^/]+)$/,
        handle: async (entry, match, work) => {
          await work();
          return reading(entry, () => oneEmail(decodeURIComponent(match[1]!)));
        },
      },
      send: { method: "POST", pattern: /^\/emails$/, handle: (entry, _match, work) => send(entry, work) },
      domains: {
        method: "GET",
        pattern: /^\/domains$/,
        handle: async (entry) => reading(entry, () => domains(options)),
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
  const provider: EmailProvider = Object.assign(standIn, {
    accepted,
    refusedForRate: 0,
    listsOldestFirst: false,
    now: options.clock ?? (() => new Date()),
    forgetKeys: () => stored.clear(),
  });
  return provider;
}

const RESTRICTED = refusal(401, "restricted_api_key", "This API key is restricted to only send emails");

function domains({ verifiedDomains = [] }: EmailProviderOptions): Answer {
  const data = verifiedDomains.map((name) => ({ id: randomUUID(), name, status: "verified" }));
  return { status: 200, json: { object: "list", has_more: false, data } };
}

function listPage(all: AcceptedEmail[], path: string): Answer {
  const query = new URLSearchParams(path.split("?")[1] ?? "");
  const limit = Number(query.get("limit") ?? 20);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    return refusal(422, "validation_error", "The limit must be between 1 and 100");
  const after = query.get("after");
  const from = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
  if (after !== null && from === 0) return refusal(422, "validation_error", "Unknown cursor");
  const data = all.slice(from, from + limit).map(listed);
  return { status: 200, json: { object: "list", has_more: from + limit < all.length, data } };
}

/** What a list has of an e-mail: neither its tags nor its content. */
function listed({ id, from, to, subject, at, reply_to, lastEvent = "sent" }: AcceptedEmail) {
  const list = (value: string | string[] | undefined) => (value === undefined ? null : [value].flat());
  return {
    id,
    message_id: `<${id}@mail.example>`,
    to: list(to),
    from,
    created_at: at
      .toISOString()
      .replace("T", " ")
      .replace(/(\.\d{3})Z$/, "$1121+00"),
    subject,
    bcc: null,
    cc: null,
    reply_to: list(reply_to),
    last_event: lastEvent,
    scheduled_at: null,
  };
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
