import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type RateLimiter, rateLimiter } from "../../../lib/platform/rate/rate-limiter.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { type ResendClient, resendClient } from "../../../lib/providers/resend/client.ts";
import { RESEND_PER_SECOND } from "../../../lib/providers/resend/rate-observer.ts";
import { limitMsFor, play } from "../../cases/answer-case.ts";
import { EMAIL_ANSWERS, RECIPIENT } from "../../cases/email-answers.ts";
import { type EmailProvider, startEmailProvider } from "../../standins/email-provider.ts";
import type { Scripted } from "../../standins/standin.ts";

const KEY = "canary-email-key";
const email = {
  from: "reports@mail.example",
  fromName: "Relatório",
  replyTo: "team@mail.example",
  to: RECIPIENT,
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
  client = clientOf();
});

afterEach(async () => {
  await provider.stop();
});

function clientOf(changes: { url?: string; key?: string; timeoutMs?: number } = {}) {
  const { url = provider.url, key = KEY, ...limit } = changes;
  return resendClient({ baseUrl: new URL(url), apiKey: new Secret(key), ...limit });
}

const failed = (code: string, stopsChannel = false) => ({ status: "failed" as const, code, stopsChannel });
const unknown = (code: string) => ({ status: "unknown" as const, code });

describe("resendClient().sendEmail()", () => {
  test("sends one e-mail under the delivery's key, and keeps the provider's id", async () => {
    const outcome = await client.sendEmail(email);
    expect(outcome).toEqual({ status: "sent", providerMessageId: provider.accepted[0]!.id });
    expect(provider.accepted).toHaveLength(1);
    expect(provider.ledger[0]).toMatchObject({
      path: "/emails",
      body: {
        from: "Relatório <reports@mail.example>",
        to: [RECIPIENT],
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

  test("a call that is still running may hide an earlier e-mail", async () => {
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

  test("gives the mail client a way to unsubscribe, if there is one", async () => {
    const unsubscribe = "mailto:sair@mail.example?subject=Sair";
    await client.sendEmail({ ...email, unsubscribe });
    expect(provider.accepted[0]?.headers).toEqual({ "List-Unsubscribe": `<${unsubscribe}>` });
    await client.sendEmail({ ...email, deliveryId: crypto.randomUUID() });
    expect(provider.ledger[1]?.body).not.toHaveProperty("headers");
  });

  test.each([
    [{ from: "Reports <reports@mail.example>" }, "email_sender_address_missing"],
    [{ from: "" }, "email_sender_address_missing"],
    [{ to: `${RECIPIENT}, eve@other.example` }, "recipient_email_missing"],
    [{ to: `${RECIPIENT}\nbcc: eve@other.example` }, "recipient_email_missing"],
  ])("calls nobody with %p", async (wrong, code) => {
    expect(await client.sendEmail({ ...email, ...wrong })).toEqual(failed(code));
    expect(provider.ledger).toHaveLength(0);
  });

  test.each(EMAIL_ANSWERS)("is answered with: $name", async ({ answer, becomes }) => {
    const url = await play(provider, provider.routes.send, answer);
    const outcome = await clientOf({ url, timeoutMs: limitMsFor(answer) }).sendEmail(email);
    expect(outcome).toEqual(becomes);
    expect(provider.routes.send.calls).toHaveLength(answer === "nobody_listens" ? 0 : 1);
    expect(provider.accepted).toHaveLength(typeof answer === "object" && "accept" in answer ? 1 : 0);
    expect(JSON.stringify(outcome)).not.toContain(RECIPIENT);
  });
});

const ADDRESS = email.from;

describe("the sender's name", () => {
  test.each([
    [null, ADDRESS],
    ["", ADDRESS],
    [" \r\n\t ", ADDRESS],
    ["<>", ADDRESS],
    ["Relatório Semanal", `Relatório Semanal <${ADDRESS}>`],
    ["Agência S.A. (SP)", `"Agência S.A. (SP)" <${ADDRESS}>`],
    ['Eve <eve@other.example>, "B', `"Eve eve other.example B" <${ADDRESS}>`],
    ["Eve\r\nBcc: eve@other.example", `"Eve Bcc eve other.example" <${ADDRESS}>`],
    ["a\\", `a <${ADDRESS}>`],
    ["\u202eevil\u0000\u2028\ud800", `evil <${ADDRESS}>`],
    ["n".repeat(500), `${"n".repeat(64)} <${ADDRESS}>`],
  ])("%j makes exactly one address", async (fromName, expected) => {
    expect(await client.sendEmail({ ...email, fromName })).toMatchObject({ status: "sent" });
    expect(provider.accepted[0]?.from).toBe(expected);
  });
});

describe("resendClient() and its rate", () => {
  test("keeps to the rate that the provider publishes", async () => {
    const rated = await startEmailProvider({ apiKey: KEY, rate: { count: 20, seconds: 1 } });
    const rate = rateLimiter({ perSecond: RESEND_PER_SECOND });
    const limited = resendClient({ baseUrl: new URL(rated.url), apiKey: new Secret(KEY), rate });
    const sends = Array.from({ length: 40 }, async (_, at) => {
      await rate.acquire();
      const deliveryId = `6b0f8f7e-3f0a-4b0e-9d53-${String(at).padStart(12, "0")}`;
      return await limited.sendEmail({ ...email, deliveryId });
    });
    const outcomes = await Promise.all(sends);
    expect(rate.perSecond()).toBeCloseTo(20 / 1.04, 5);
    // Without the limit, half of them would be refused; a busy host may still bring two calls too close together.
    expect(rated.refusedForRate).toBeLessThan(5);
    expect(rated.accepted).toHaveLength(outcomes.filter((outcome) => outcome.status === "sent").length);
    await rated.stop();
  });

  const LIMITED = { "ratelimit-limit": "2", "ratelimit-policy": "2;w=1" };

  test.each<[string, Scripted[], string[]]>([
    ["nothing published", [{ status: 200, json: {} }], ["none"]],
    ["a failure without a rate", [{ status: 502, json: {} }], []],
    ["limit and policy", [{ status: 200, json: {}, headers: LIMITED }], ["2"]],
    [
      "limit and reset only",
      [{ status: 200, json: {}, headers: { "ratelimit-limit": "100", "ratelimit-reset": "60" } }],
      ["1.67"],
    ],
    [
      "once published, and not again",
      [
        { status: 200, json: {}, headers: LIMITED },
        { status: 200, json: {} },
      ],
      ["2"],
    ],
    [
      "429",
      [{ status: 429, json: {}, headers: { "ratelimit-policy": "2;w=1", "retry-after": "3" } }],
      ["2", "pause 3000"],
    ],
    [
      "quota",
      [{ status: 429, json: { name: "daily_quota_exceeded" }, headers: { "retry-after": "3000" } }],
      [],
    ],
    ["no answer", ["drop"], []],
  ])("follows what an answer publishes: %s", async (_row, scripted, expected) => {
    const changes: string[] = [];
    const rate: RateLimiter = {
      ...rateLimiter({ perSecond: null }),
      setRate: (perSecond) =>
        void changes.push(perSecond === null ? "none" : String(Number((perSecond * 1.04).toFixed(2)))),
      pause: (ms) => void changes.push(`pause ${ms}`),
    };
    const client = resendClient({ baseUrl: new URL(provider.url), apiKey: new Secret(KEY), rate });
    for (const answer of scripted) {
      provider.routes.send.next(answer);
      await client.sendEmail(email);
    }
    expect(changes).toEqual(expected);
  });
});
