/** What a message says that could not be sent at first. */
import { expect, test } from "bun:test";
import { refusal } from "../../cases/gateway-answers.ts";
import {
  alertOf,
  MINUTE_MS,
  onBothStores,
  type Service,
  START_MS,
  startService,
} from "../support/start-service.ts";

const OWN_FAILURE = { status: 413, json: { status: 413, error: "Payload Too Large" } };
const startsAt = new Date(START_MS - MINUTE_MS).toISOString();

const texts = ({ sends }: Service) => sends.map(({ text }) => text);

onBothStores(
  "a message that was refused for ten minutes says how old its alert is, and how late it is",
  async (store) => {
    await using service = await startService({ store });
    service.gateway.routes.send.script = () => OWN_FAILURE;
    await service.post([alertOf("a", { startsAt })]);
    await service.advance(9 * MINUTE_MS, 5_000);
    service.gateway.routes.send.script = null;
    await service.advance(3 * MINUTE_MS, 5_000);
    expect(texts(service)[0]).toContain("(há 1 min)");
    expect(service.messages.map(({ text }) => text)).toEqual([
      expect.stringMatching(/\(há 1[01] min\) · enviado com (9|10) min de atraso/),
    ]);
  },
);

/** What may have put a message on the phone: from then on it keeps its text, by which it is looked for. */
const MAY_HAVE_ARRIVED = [
  {
    name: "an unclear answer",
    answer: { status: 500, json: { response: { message: "Timed Out" } } },
    isAsked: true,
  },
  {
    name: "an outage during which the gateway cannot be asked",
    answer: { status: 504, text: "" },
    isAsked: false,
  },
  {
    name: "an outage after which the gateway says that it has nothing",
    answer: { status: 504, text: "" },
    isAsked: true,
  },
];

onBothStores(
  MAY_HAVE_ARRIVED.map((row) => ({
    ...row,
    name: `a message that may have arrived, after ${row.name}, keeps its text`,
  })),
  async ({ answer, isAsked }, store) => {
    await using service = await startService({ store });
    service.gateway.keepsMessages = false;
    service.gateway.routes.send.next(answer);
    service.gateway.routes.send.script = () => (answer.status === 504 ? answer : OWN_FAILURE);
    if (!isAsked) service.gateway.routes.messages.script = () => ({ status: 504, text: "" });
    await service.post([alertOf("a", { startsAt })]);
    await service.advance((isAsked ? 10 : 30) * MINUTE_MS, 5_000);
    service.gateway.routes.send.script = null;
    await service.advance(5 * MINUTE_MS, 5_000);
    expect(service.messages).toHaveLength(1);
    expect(texts(service).length).toBeGreaterThan(3);
    expect(new Set(texts(service)).size).toBe(1);
  },
);

test("a message of several alerts is late as a whole, and has the same ones in the same order", async () => {
  await using service = await startService({ digestAfterSeconds: 1, messagesPerMinute: 30 });
  service.gateway.instances.set("ops", "close");
  const labels = ["warning", "high", "info", "high"].map((severity, at) => ({
    alertname: `Regra ${at}`,
    severity,
  }));
  service.gateway.routes.send.script = () => OWN_FAILURE;
  await service.post(labels.map((each, at) => alertOf(`f${at}`, { status: "resolved", labels: each })));
  await service.advance(10 * MINUTE_MS, 5_000);
  service.gateway.routes.send.script = null;
  service.gateway.instances.set("ops", "open");
  await service.advance(3 * MINUTE_MS, 5_000);
  expect(service.messages).toHaveLength(1);
  expect(service.messages[0]!.text).toMatch(/Mais antigo enviado com 1[0-3] min de atraso/);
  const lines = (text: string) => text.split("\n").filter((line) => /^\S+ Regra/.test(line));
  expect(lines(service.messages[0]!.text)).toHaveLength(4);
  expect(lines(texts(service)[0]!)).toEqual(lines(texts(service).at(-1)!));
});

/** What the gateway answers while nothing gets through, and which message then says so: the first that is new. */
const NOTES = [
  { name: "the first message after a refusal", answer: refusal(401, "Unauthorized"), noted: 0 },
  { name: "the first new message after an outage", answer: { status: 502, text: "Bad Gateway" }, noted: 2 },
];

onBothStores(
  NOTES.map((row) => ({ ...row, name: `${row.name} says what was e-mailed meanwhile, and no other does` })),
  async ({ answer, noted }, store) => {
    await using service = await startService({ store, email: true });
    service.gateway.routes.send.script = () => answer;
    const critical = { labels: { severity: "critical" }, status: "resolved" };
    await service.post([alertOf("a", critical)]);
    await service.post([alertOf("b", critical)]);
    await service.advance(5 * MINUTE_MS, 5_000);
    expect(service.email.accepted).toHaveLength(1);
    await service.restart();
    service.gateway.routes.send.script = null;
    await service.advance(5 * MINUTE_MS, 5_000);
    await service.post([alertOf("c", critical)]);
    const notes = service.messages.map(
      ({ text }) => /Enquanto o WhatsApp.*: (\d+ alertas? avisados? por e-mail)/.exec(text)?.[1],
    );
    expect(notes.map((text) => text === "2 alertas avisados por e-mail")).toEqual(
      [0, 1, 2].map((at) => at === noted),
    );
  },
);
