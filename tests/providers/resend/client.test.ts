import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createPace } from "../../../lib/platform/rate/pace.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { type ResendClient, resendClient } from "../../../lib/providers/resend/client.ts";
import { type EmailProvider, startEmailProvider } from "../../standins/email-provider.ts";
import { endOf } from "../../standins/given-up.ts";
import { refusedPort } from "../../standins/raw-peer.ts";
import type { Scripted } from "../../standins/standin.ts";

const KEY = "canary-email-key";
const TO = "ana@client.example";
const email = {
  from: "reports@mail.example",
  fromName: "Relatório",
  replyTo: "team@mail.example",
  to: TO,
  subject: "Seu desempenho semanal — 09/03 a 15/03",
  html: "<p>Olá</p>",
  text: "Olá",
  unsubscribe: null,
  deliveryId: "6b0f8f7e-3f0a-4b0e-9d53-0a6f1f1f6a10",
};

let provider: EmailProvider;
let client: ResendClient;

beforeEach(async () => {
  provider = await startEmailProvider({ apiKey: KEY });
  client = clientOf(provider.url);
});

afterEach(async () => {
  await provider.stop();
});

function clientOf(url: string, key = KEY, timeoutMs?: number) {
  const limit = timeoutMs === undefined ? {} : { timeoutMs };
  return resendClient({ baseUrl: new URL(url), apiKey: new Secret(key), ...limit });
}

const failed = (code: string, stopsChannel = false) => ({ status: "failed" as const, code, stopsChannel });
const unknown = (code: string) => ({ status: "unknown" as const, code });
const throttled = (code: string, retryAfterMs: number) => ({
  status: "throttled" as const,
  code,
  retryAfterMs,
});
const refusal = (status: number, name: string, text = `no, ${TO}`): Scripted => ({
  status,
  json: { statusCode: status, message: text, name },
});
const wrongKey = "API key is invalid";

describe("resendClient().sendEmail()", () => {
  test("sends one e-mail under the delivery's key, and keeps the provider's id", async () => {
    const outcome = await client.sendEmail(email);
    expect(outcome).toEqual({ status: "sent", providerMessageId: provider.accepted[0]!.id });
    expect(provider.accepted).toHaveLength(1);
    expect(provider.ledger[0]).toMatchObject({
      path: "/emails",
      body: {
        from: "Relatório <reports@mail.example>",
        to: [TO],
        reply_to: "team@mail.example",
        subject: email.subject,
        html: email.html,
        text: email.text,
        tags: [{ name: "delivery_id", value: email.deliveryId }],
      },
    });
    expect(provider.ledger[0]?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      "idempotency-key": `weekly-performance-email/${email.deliveryId}`,
      "user-agent": "opsctl",
    });
  });

  test("makes the same bytes for the same e-mail: repeated, it is not sent again", async () => {
    const first = await client.sendEmail(email);
    expect(await client.sendEmail({ ...email })).toEqual(first);
    expect(provider.accepted).toHaveLength(1);
    expect(provider.ledger[1]?.rawBody).toBe(provider.ledger[0]!.rawBody);
  });

  test("another payload under the same key may hide an earlier e-mail", async () => {
    await client.sendEmail(email);
    expect(await client.sendEmail({ ...email, subject: "x" })).toEqual(unknown("invalid_idempotent_request"));
    expect(provider.accepted).toHaveLength(1);
  });

  test("so may a call that is still running", async () => {
    provider.latencyMs = 50;
    const outcomes = await Promise.all([client.sendEmail(email), client.sendEmail(email)]);
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(["sent", "unknown"]);
    expect(provider.accepted).toHaveLength(1);
  });

  test("leaves out what is absent", async () => {
    await client.sendEmail({ ...email, fromName: null, replyTo: null });
    expect(provider.ledger[0]?.body).toMatchObject({ from: "reports@mail.example" });
    expect(provider.ledger[0]?.body).not.toHaveProperty("reply_to");
  });

  test("tells the mail client how to stop such e-mails, where there is a way", async () => {
    const unsubscribe = "mailto:sair@mail.example?subject=Sair";
    await client.sendEmail({ ...email, unsubscribe });
    expect(provider.accepted[0]?.headers).toEqual({ "List-Unsubscribe": `<${unsubscribe}>` });
    await client.sendEmail({ ...email, deliveryId: crypto.randomUUID() });
    expect(provider.ledger[1]?.body).not.toHaveProperty("headers");
  });

  test.each([
    [{ from: "Reports <reports@mail.example>" }, "email_sender_address_missing"],
    [{ from: "" }, "email_sender_address_missing"],
    [{ to: `${TO}, eve@other.example` }, "recipient_email_missing"],
    [{ to: `${TO}\nbcc: eve@other.example` }, "recipient_email_missing"],
  ])("calls nobody with %p", async (wrong, code) => {
    expect(await client.sendEmail({ ...email, ...wrong })).toEqual(failed(code));
    expect(provider.ledger).toHaveLength(0);
  });

  test("the provider's own refusals, as it gives them", async () => {
    expect(await clientOf(provider.url, "wrong").sendEmail(email)).toEqual(
      failed("email_api_key_invalid", true),
    );
    expect(await clientOf(`${provider.url}/v9`).sendEmail(email)).toMatchObject({ status: "failed" });
    expect(await client.sendEmail({ ...email, deliveryId: "not a tag" })).toEqual(failed("validation_error"));
    expect(provider.accepted).toHaveLength(0);
  });

  test.each<[string, Scripted, object]>([
    ["400 key", refusal(400, "invalid_idempotency_key"), failed("invalid_idempotency_key")],
    ["400 field", refusal(400, "validation_error"), failed("validation_error")],
    ["400 revoked key", refusal(400, "validation_error", wrongKey), failed("email_api_key_invalid", true)],
    ["401 missing", refusal(401, "missing_api_key"), failed("missing_api_key")],
    ["401 restricted", refusal(401, "restricted_api_key"), failed("restricted_api_key")],
    ["401 wrong key", refusal(401, "validation_error", wrongKey), failed("email_api_key_invalid", true)],
    ["403 wrong key", refusal(403, "validation_error", wrongKey), failed("email_api_key_invalid", true)],
    ["403 invalid key", refusal(403, "invalid_api_key"), failed("email_api_key_invalid", true)],
    ["403 suspended key", refusal(403, "suspended_api_key"), failed("suspended_api_key", true)],
    ["403 permission", refusal(403, "invalid_permission"), failed("invalid_permission", true)],
    [
      "403 sandbox",
      refusal(403, "validation_error", `You can only send to ${TO}`),
      failed("validation_error"),
    ],
    [
      "403 domain",
      refusal(403, "validation_error", "The mail.example domain is not verified. Please, add it"),
      failed("email_sender_domain_unverified"),
    ],
    ["403 edge", { status: 403, text: "error code: 1010" }, failed("email_http_403")],
    ["404", refusal(404, "not_found"), failed("not_found")],
    ["405", refusal(405, "method_not_allowed"), failed("method_not_allowed")],
    ["408", refusal(408, "validation_error"), unknown("validation_error")],
    ["409 payload", refusal(409, "invalid_idempotent_request"), unknown("invalid_idempotent_request")],
    [
      "409 running",
      refusal(409, "concurrent_idempotent_requests"),
      unknown("concurrent_idempotent_requests"),
    ],
    ["409 locked", refusal(409, "resource_locked"), unknown("resource_locked")],
    ["413", { status: 413, text: "<html>" }, failed("email_http_413")],
    ["422 field", refusal(422, "missing_required_field"), failed("missing_required_field")],
    ["422 parameter", refusal(422, "missing_required_parameter"), failed("missing_required_parameter")],
    ["422 attachment", refusal(422, "invalid_attachment"), failed("invalid_attachment")],
    ["422 invalid", refusal(422, "invalid_parameter"), failed("invalid_parameter")],
    ["422 from", refusal(422, "invalid_from_address"), failed("invalid_from_address")],
    ["422 validation", refusal(422, "validation_error"), failed("validation_error")],
    ["422 strange name", refusal(422, `Bad ${TO}`), failed("email_http_422")],
    ["422 not JSON", { status: 422, text: "<html>" }, failed("email_http_422")],
    ["429 rate", refusal(429, "rate_limit_exceeded"), throttled("rate_limit_exceeded", 1_000)],
    [
      "429 of the edge",
      { status: 429, text: "", headers: { "retry-after": "9" } },
      throttled("email_http_429", 9_000),
    ],
    ["429 daily quota", refusal(429, "daily_quota_exceeded"), failed("daily_quota_exceeded", true)],
    ["429 monthly quota", refusal(429, "monthly_quota_exceeded"), failed("monthly_quota_exceeded", true)],
    ["451", refusal(451, "security_error"), failed("security_error")],
    ["500 application", refusal(500, "application_error"), unknown("application_error")],
    ["500 internal", refusal(500, "internal_server_error"), unknown("internal_server_error")],
    ["503", refusal(503, "service_unavailable"), unknown("service_unavailable")],
    ["502 of a proxy", { status: 502, text: "<html>" }, unknown("email_http_502")],
    ["307", { status: 307, headers: { location: "/" } }, unknown("email_http_307")],
    ["200 without id", { status: 200, json: {} }, unknown("email_answer_without_id")],
    ["200 empty id", { status: 200, json: { id: "" } }, unknown("email_answer_without_id")],
    ["200 numeric id", { status: 200, json: { id: 7 } }, unknown("email_answer_without_id")],
    ["202 empty", { status: 202, text: "" }, unknown("email_answer_unreadable")],
    ["200 not JSON", "not_json", unknown("email_answer_unreadable")],
    ["200 huge", "huge", unknown("email_answer_unreadable")],
    ["200 broken off", "break_body", unknown("email_connection_lost")],
    ["stall", "stall_body", unknown("email_timeout")],
    ["hang", "hang", unknown("email_timeout")],
    ["drop", "drop", unknown("email_connection_lost")],
    ["drop unread", "drop_unread", unknown("email_connection_lost")],
    ["not HTTP", "not_http", unknown("email_connection_lost")],
  ])("%s", async (_row, scripted, expected) => {
    provider.routes.send.next(scripted);
    const outcome = await endOf(provider, scripted, (limitMs) =>
      clientOf(provider.url, KEY, limitMs).sendEmail(email),
    );
    expect(outcome).toEqual(expected as typeof outcome);
    expect(provider.routes.send.calls).toHaveLength(1);
    expect(JSON.stringify(outcome)).not.toContain(TO);
  });

  test("an e-mail that was accepted before the connection dropped went out once", async () => {
    provider.routes.send.next({ accept: "drop" });
    expect(await client.sendEmail(email)).toEqual(unknown("email_connection_lost"));
    expect(provider.accepted).toHaveLength(1);
    expect(provider.ledger).toHaveLength(1);
  });

  test("knows that nothing was sent when nobody listens", async () => {
    const nobody = clientOf(`http://127.0.0.1:${await refusedPort()}`);
    expect(await nobody.sendEmail(email)).toEqual(failed("email_unreachable"));
  });
});

describe("resendClient() and its pace", () => {
  test("learns the rate that the provider publishes from the first answer", async () => {
    const rated = await startEmailProvider({ apiKey: KEY, rate: { count: 20, seconds: 1 } });
    const pace = createPace();
    const paced = resendClient({ baseUrl: new URL(rated.url), apiKey: new Secret(KEY), pace });
    const sends = Array.from({ length: 40 }, async (_, at) => {
      const release = await pace.turn();
      const deliveryId = `6b0f8f7e-3f0a-4b0e-9d53-${String(at).padStart(12, "0")}`;
      return await paced.sendEmail({ ...email, deliveryId }).finally(release);
    });
    const outcomes = await Promise.all(sends);
    expect(pace.perSecond()).toBeCloseTo(20 / 1.04, 5);
    // Without the pace, half of them would be refused; a busy host may still bring two calls too close together.
    expect(rated.refusedForRate).toBeLessThan(5);
    expect(rated.accepted).toHaveLength(outcomes.filter((outcome) => outcome.status === "sent").length);
    await rated.stop();
  });

  const told: string[] = [];
  const ear = {
    turn: async () => () => {},
    limit: (count: number, windowMs: number) => void told.push(`limit ${count} ${windowMs}`),
    free: () => void told.push("free"),
    hold: (ms: number) => void told.push(`hold ${ms}`),
    spent: (ms: number) => void told.push(`spent ${ms}`),
    tryTurn: () => null,
    perSecond: () => null,
  };

  test.each<[string, Scripted, string[]]>([
    ["nothing published", { status: 200, json: {} }, ["free"]],
    [
      "limit and policy",
      { status: 200, json: {}, headers: { "ratelimit-limit": "2", "ratelimit-policy": "2;w=1" } },
      ["limit 2 1000"],
    ],
    [
      "limit and reset only",
      { status: 200, json: {}, headers: { "ratelimit-limit": "100", "ratelimit-reset": "60" } },
      ["limit 100 60000"],
    ],
    [
      "window used up",
      {
        status: 200,
        json: {},
        headers: { "ratelimit-policy": "2;w=1", "ratelimit-remaining": "0", "ratelimit-reset": "1" },
      },
      ["limit 2 1000", "spent 1000"],
    ],
    [
      "429",
      { status: 429, json: {}, headers: { "ratelimit-policy": "2;w=1", "retry-after": "3" } },
      ["limit 2 1000", "hold 3000"],
    ],
    [
      "quota",
      { status: 429, json: { name: "daily_quota_exceeded" }, headers: { "retry-after": "3000" } },
      ["free"],
    ],
    ["no answer", "drop", ["free"]],
  ])("tells it what an answer publishes: %s", async (_row, scripted, expected) => {
    told.length = 0;
    provider.routes.send.next(scripted);
    await resendClient({ baseUrl: new URL(provider.url), apiKey: new Secret(KEY), pace: ear }).sendEmail(
      email,
    );
    expect(told).toEqual(expected);
  });
});
