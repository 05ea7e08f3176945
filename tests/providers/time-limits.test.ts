import { afterAll, afterEach, expect, spyOn, test } from "bun:test";
import { createPace } from "../../lib/platform/rate/pace.ts";
import { Secret } from "../../lib/platform/secrets/secret.ts";
import { applicationClient } from "../../lib/providers/application/client.ts";
import { evolutionClient } from "../../lib/providers/evolution/client.ts";
import { messageFinder } from "../../lib/providers/evolution/find-messages.ts";
import { resendClient } from "../../lib/providers/resend/client.ts";
import { sentEmails } from "../../lib/providers/resend/sent-emails.ts";
import { startGateway } from "../standins/gateway.ts";
import { refusedPort } from "../standins/raw-peer.ts";

const timers = spyOn(globalThis, "setTimeout");
afterEach(() => timers.mockClear());
// Other files run in this process after this one, and count timers, too.
afterAll(() => timers.mockRestore());

const baseUrl = new URL(`http://127.0.0.1:${await refusedPort()}`);
const secret = new Secret("canary-secret");
const application = applicationClient({ baseUrl, triggerSecret: secret, editorialSecret: secret });
const gateway = evolutionClient({ baseUrl, adminKey: secret });
const email = resendClient({ baseUrl, apiKey: secret });

const find = messageFinder({ baseUrl, adminKey: secret });
const sent = sentEmails({ baseUrl, apiKey: secret, pace: createPace() });

const id = "11111111-1111-4111-8111-111111111111";
const week = { windowStart: "2026-11-16T03:00:00Z", windowEnd: "2026-11-23T03:00:00Z" };
const letter = { from: "a@mail.example", fromName: null, replyTo: null, to: "b@client.example" };

// A lease of twenty minutes has room for a bounded number of analyses, one of five minutes for one send.
test.each<[string, () => Promise<unknown>, number]>([
  [
    "an analysis",
    () => application.analyzeWeek({ tenantId: id, userId: id, connectionId: id, ...week }),
    60_000,
  ],
  ["an editorial call", () => application.drainEditorials({ cursor: null, maxLlmCalls: 3 }), 120_000],
  ["a WhatsApp message", () => gateway.sendText({ instanceName: "ops", number: "1", text: "t" }), 90_000],
  [
    "an e-mail",
    () =>
      email.sendEmail({ ...letter, subject: "s", html: "h", text: "t", unsubscribe: null, deliveryId: id }),
    30_000,
  ],
  [
    "a question for what was sent",
    () => find({ instanceName: "ops", remoteJid: "1", fromMs: 0, toMs: 1 }),
    15_000,
  ],
  ["a list of e-mails", () => sent.list(null), 30_000],
  ["the reading of an e-mail", () => sent.read("e1"), 30_000],
])("%s is given its own time and no more", async (_call, make, limitMs) => {
  await make();
  expect(timers.mock.calls.map(([, ms]) => ms)).toContain(limitMs);
});

test("the question for the instance's state that follows a send is given five seconds, and no more than the send", async () => {
  const unpaired = await startGateway({ adminKey: "canary-secret", instances: { ops: "close" } });
  const limitsOfSend = async (timeoutMs?: number) => {
    const options = { baseUrl: new URL(unpaired.url), adminKey: secret, ...(timeoutMs && { timeoutMs }) };
    timers.mockClear();
    const outcome = await evolutionClient(options).sendText({ instanceName: "ops", number: "1", text: "t" });
    expect(outcome).toMatchObject({ status: "unknown", channel: { cause: "instance_close" } });
    // The stand-in, in the same process, has timers of its own.
    const ours: unknown[] = [90_000, 5_000, 4_000];
    return timers.mock.calls.map(([, ms]) => ms).filter((ms) => ours.includes(ms));
  };
  try {
    expect(await limitsOfSend()).toEqual([90_000, 5_000]);
    expect(await limitsOfSend(4_000)).toEqual([4_000, 4_000]);
  } finally {
    await unpaired.stop();
  }
});
