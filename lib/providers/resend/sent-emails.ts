import * as v from "valibot";
import { member } from "../../platform/http/answer.ts";
import { type CallRecord, type CallResult, callPeer } from "../../platform/http/call-peer.ts";
import { peerUrl } from "../../platform/http/url.ts";
import type { RateLimiter } from "../../platform/rate/rate-limiter.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { maskEmail } from "../../text/mask.ts";
import { codeOfCall, messageIdOf } from "../send-outcome.ts";
import { rateObserver } from "./rate-observer.ts";
import { isQuota, nameOf, refusalOf } from "./refusal.ts";

/**
 * One e-mail of the provider's list.
 *
 * Shape: `masks` are its recipients as the ledger's masks, in lower case: no address leaves this file.
 * Units: `createdAtMs` is the provider's clock.
 */
export type ListedEmail = { id: string; masks: string[]; createdAtMs: number };

/**
 * Why the provider did not tell.
 *
 * Shape: `refused` when it refuses us whatever we ask, `question` when it refuses this question alone, `silent` when it
 *        gave no usable answer.
 */
export type ReadFailure = { status: "failed"; code: string; fault: "refused" | "question" | "silent" };

/** A page of the list; `hasMore` says that `after` the last of them there are more. */
export type EmailPage = { status: "answered"; emails: ListedEmail[]; hasMore: boolean } | ReadFailure;

/** What the provider keeps of one e-mail; `deliveryId` is its tag of that name. */
export type KeptEmail =
  | { status: "answered"; deliveryId: string | null; lastEvent: string | null }
  | ReadFailure;

/** Reads what was sent; never throws, sends nothing and changes nothing. */
export type SentEmails = {
  list(after: string | null, signal?: AbortSignal): Promise<EmailPage>;
  read(id: string, signal?: AbortSignal): Promise<KeptEmail>;
};

/** With what the provider is asked. */
export type SentEmailsOptions = {
  baseUrl: URL;
  apiKey: Secret;
  rate: RateLimiter;
  timeoutMs?: number;
  onCall?: ((record: CallRecord) => void) | undefined;
};

/** Longest time of one call. */
const RESEND_READ_TIMEOUT_MS = 30_000;

const PAGE_SIZE = 100;
const THROTTLED_REPEATS = 5;
/** A provider that asks for more patience than this is not asked again. */
const LONGEST_PATIENCE_MS = 60_000;

/**
 * The e-mails that the provider keeps as sent, by `GET /emails` and `GET /emails/{id}`.
 *
 * Behaviour: waits for its start within the rate before each call; a call that came too early is repeated, five times at most.
 * Errors:    none thrown; `restricted_api_key` for a key that may only send, else the provider's names and `email_…`.
 * Source:    github.com/resend/resend-openapi at fd6f395, github.com/resend/resend-node at 3f67459, read 2026-11-22:
 *            the list has no tags, and `created_at` is like `2026-03-16 11:00:07.12+00`.
 */
export function sentEmails(options: SentEmailsOptions): SentEmails {
  const { baseUrl } = options;
  const get = patiently(limitedGet(options));
  return {
    async list(after, signal) {
      const url = peerUrl(baseUrl, ["emails"]);
      if (url !== null)
        url.search = `${new URLSearchParams({ limit: `${PAGE_SIZE}`, ...(after && { after }) })}`;
      const result = await get(url, signal);
      return pageOf(result) ?? failureOf(result);
    },
    async read(id, signal) {
      const result = await get(peerUrl(baseUrl, ["emails", id]), signal);
      return emailOf(result, id) ?? failureOf(result);
    },
  };
}

type Get = (url: URL | null, signal?: AbortSignal) => Promise<CallResult>;

/** Asks once, within the rate, which each answer may change. */
function limitedGet({ apiKey, rate, timeoutMs = RESEND_READ_TIMEOUT_MS, onCall }: SentEmailsOptions): Get {
  const observe = rateObserver(rate);
  const definitive = ({ status }: { status: number }) => status < 500 && status !== 429;
  return async (url, signal) => {
    await rate.acquire(signal).catch(() => {});
    const headers = { authorization: `Bearer ${apiKey.open()}` };
    const call = { method: "GET", url, headers, timeoutMs, signal, definitive, onCall } as const;
    const result = await callPeer({ peer: "email", ...call });
    if (result.answer !== null) observe(result.answer);
    return result;
  };
}

/** Asks again while the calls come too early. */
function patiently(get: Get): Get {
  return async (url, signal) => {
    for (let repeats = 0; ; repeats += 1) {
      const result = await get(url, signal);
      if (result.status !== "throttled" || isQuota(result.answer)) return result;
      if (repeats === THROTTLED_REPEATS || result.retryAfterMs > LONGEST_PATIENCE_MS) return result;
    }
  };
}

const addresses = v.pipe(
  v.union([v.array(v.string()), v.string()]),
  v.transform((to) => (typeof to === "string" ? [to] : to)),
);

const pageSchema = v.object({
  has_more: v.boolean(),
  data: v.array(v.object({ id: v.string(), to: addresses, created_at: v.string() })),
});

/** A page whose every row can be read, or null: a row that cannot might be the one that is looked for. */
function pageOf(result: CallResult): EmailPage | null {
  if (result.status !== "answered") return null;
  const parsed = v.safeParse(pageSchema, result.answer.json);
  if (!parsed.success) return null;
  const emails = parsed.output.data.map(({ id, to, created_at }) => ({
    id: messageIdOf(id),
    masks: to.flatMap((address) => maskEmail(address)?.toLowerCase() ?? []),
    createdAtMs: parseTime(created_at),
  }));
  const areReadable = emails.every(
    (email): email is ListedEmail => email.id !== null && email.createdAtMs !== null,
  );
  // More without a last one to go on from would be asked for ever.
  if (!areReadable || (parsed.output.has_more && emails.length === 0)) return null;
  return { status: "answered", emails, hasMore: parsed.output.has_more };
}

const TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(\.\d{1,9})?(?:Z|([+-]\d{2}):?(\d{2})?)$/;

/** Milliseconds of the provider's time, which no runtime parses as it is; null for another form. */
function parseTime(text: string): number | null {
  const [, date, time, fraction = "", hours = "+00", minutes = "00"] = TIME.exec(text) ?? [];
  if (date === undefined || time === undefined) return null;
  const ms = Date.parse(`${date}T${time}${fraction.slice(0, 4)}${hours}:${minutes}`);
  return Number.isNaN(ms) ? null : ms;
}

function emailOf(result: CallResult, id: string): KeptEmail | null {
  if (result.status !== "answered") return null;
  const { json } = result.answer;
  if (member(json, "id") !== id) return null;
  const lastEvent = member(json, "last_event");
  const isEvent = typeof lastEvent === "string" && /^[a-z_]{1,40}$/.test(lastEvent);
  return {
    status: "answered",
    deliveryId: deliveryTag(member(json, "tags")),
    lastEvent: isEvent ? lastEvent : null,
  };
}

/** A list of pairs here; the provider's webhooks have the same as an object. */
function deliveryTag(tags: unknown): string | null {
  const value = Array.isArray(tags)
    ? member(
        tags.find((tag) => member(tag, "name") === "delivery_id"),
        "value",
      )
    : member(tags, "delivery_id");
  return typeof value === "string" ? value.toLowerCase() : null;
}

function failureOf(result: CallResult): ReadFailure {
  if (result.status === "answered")
    return { status: "failed", code: "email_answer_unreadable", fault: "silent" };
  if (result.status === "throttled")
    return { status: "failed", code: nameOf(result.answer), fault: "refused" };
  if (result.status !== "rejected")
    return { status: "failed", code: codeOfCall("email", result), fault: "silent" };
  const { code, stopsChannel } = refusalOf(result.answer);
  const isRefused = stopsChannel || result.answer.status === 401 || result.answer.status === 403;
  return { status: "failed", code, fault: isRefused ? "refused" : "question" };
}
