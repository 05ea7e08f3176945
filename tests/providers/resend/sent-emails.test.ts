import { afterEach, beforeEach, expect, test } from "bun:test";
import { rateLimiter } from "../../../lib/platform/rate/rate-limiter.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { sentEmails } from "../../../lib/providers/resend/sent-emails.ts";
import { type EmailProvider, startEmailProvider } from "../../standins/email-provider.ts";

const KEY = "canary-email-key";
const AT = new Date("2026-03-16T11:00:07.120Z");

let provider: EmailProvider;
beforeEach(async () => {
  provider = await startEmailProvider({ apiKey: KEY });
});
afterEach(async () => await provider.stop());

const reader = (options: object = {}) =>
  sentEmails({
    baseUrl: new URL(provider.url),
    apiKey: new Secret(KEY),
    rate: rateLimiter({ perSecond: null }),
    ...options,
  });
const keep = (id: string, more: object = {}) =>
  provider.accepted.push({
    id,
    from: "reports@mail.example",
    to: ["Ana@Client.example"],
    subject: "s",
    text: "t",
    tags: [{ name: "delivery_id", value: "D1" }],
    idempotencyKey: null,
    at: AT,
    ...more,
  });

test("sentEmails() lists masks and times, never an address, and reads the tag", async () => {
  keep("e1");
  expect(await reader().list(null)).toEqual({
    status: "answered",
    emails: [{ id: "e1", masks: ["a***@client.example"], createdAtMs: AT.getTime() }],
    hasMore: false,
  });
  expect(await reader().read("e1")).toEqual({ status: "answered", deliveryId: "d1", lastEvent: "sent" });
  expect(await reader().read("e2")).toEqual({ status: "failed", code: "not_found", fault: "question" });
  expect(provider.ledger.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /emails?limit=100",
    "GET /emails/e1",
    "GET /emails/e2",
  ]);
});

test.each([
  ["2026-03-16 11:00:07.12+00", AT.getTime()],
  ["2026-03-16T11:00:07.120Z", AT.getTime()],
  ["2026-03-16 08:00:07.120999-03", AT.getTime()],
  ["2026-03-16T16:30:07.12+05:30", AT.getTime()],
])("sentEmails() reads the time %s", async (created_at, createdAtMs) => {
  const data = [{ id: "e1", to: "ana@client.example", created_at }];
  provider.routes.list.next({ status: 200, json: { object: "list", has_more: false, data } });
  expect(await reader().list(null)).toMatchObject({ emails: [{ createdAtMs }] });
});

test.each([
  [{ has_more: false, data: [{ id: "e1", to: [], created_at: "yesterday" }] }],
  [{ has_more: false, data: [{ id: "e1", to: [], created_at: "2026-13-45 11:00:07" }] }],
  [{ has_more: false, data: [{ id: "e1", to: [], created_at: "2026-03-16 11:00:07" }] }],
  [{ has_more: false, data: [{ id: "a b", to: [], created_at: "2026-03-16 11:00:07Z" }] }],
  [{ has_more: false, data: [{ id: "e1", created_at: "2026-03-16 11:00:07Z" }] }],
  [{ has_more: true, data: [] }],
  [{ data: [] }],
  [null],
])("sentEmails() cannot read the list %j", async (json) => {
  provider.routes.list.next({ status: 200, json });
  expect(await reader().list(null)).toEqual({
    status: "failed",
    code: "email_answer_unreadable",
    fault: "silent",
  });
});

test("sentEmails() reads the tag in both of the provider's forms, and none where there is none", async () => {
  const tagOf = async (tags: unknown) => {
    provider.routes.email.next({ status: 200, json: { id: "e1", tags, last_event: "<b>" } });
    return await reader().read("e1");
  };
  expect(await tagOf({ delivery_id: "d1" })).toEqual({
    status: "answered",
    deliveryId: "d1",
    lastEvent: null,
  });
  for (const none of [undefined, null, [], [{ name: "other", value: "d1" }], [null], "delivery_id"])
    expect(await tagOf(none)).toMatchObject({ deliveryId: null });
  provider.routes.email.next({ status: 200, json: { id: "another", tags: [] } });
  expect(await reader().read("e1")).toMatchObject({ code: "email_answer_unreadable" });
});

test("sentEmails() repeats what came too early five times, and no more", async () => {
  const tooFast = { status: 429, json: { name: "rate_limit_exceeded" }, headers: { "retry-after": "0" } };
  provider.routes.list.script = () => tooFast;
  expect(await reader().list(null)).toEqual({
    status: "failed",
    code: "rate_limit_exceeded",
    fault: "refused",
  });
  expect(provider.routes.list.calls).toHaveLength(6);
});
