import { afterEach, beforeEach, expect, test } from "bun:test";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { messageFinder } from "../../../lib/providers/evolution/find-messages.ts";
import { type Gateway, startGateway } from "../../standins/gateway.ts";

const KEY = "canary-gateway-key";
const JID = "5511987654321@s.whatsapp.net";
const FROM = Date.parse("2026-11-23T11:00:00Z");
const question = { instanceName: "ops", remoteJid: JID, fromMs: FROM + 250, toMs: FROM + 60_000 };

let gateway: Gateway;
beforeEach(async () => {
  gateway = await startGateway({ adminKey: KEY });
});
afterEach(async () => await gateway.stop());

const find = (more: object = {}, timeoutMs = 1_000) =>
  messageFinder({ baseUrl: new URL(gateway.url), adminKey: new Secret(KEY), timeoutMs })({
    ...question,
    ...more,
  });
const keep = (id: string, seconds: number, more: object = {}) =>
  gateway.kept.push({
    instance: "ops",
    remoteJid: JID,
    id,
    text: "Oi",
    sentAt: FROM / 1000 + seconds,
    ...more,
  });

test("messageFinder() finds what was sent to one recipient within the time, both bounds included", async () => {
  keep("BEFORE", -1);
  keep("FIRST", 0);
  keep("LAST", 60, { statuses: ["SERVER_ACK"] });
  keep("AFTER", 61);
  keep("OTHER", 5, { remoteJid: "5511900000000@s.whatsapp.net" });
  keep("THEIRS", 5, { fromMe: false });
  expect(await find()).toEqual({
    status: "answered",
    messages: [
      { id: "LAST", remoteJid: JID, text: "Oi", sentAtMs: FROM + 60_000, statuses: ["SERVER_ACK"] },
      { id: "FIRST", remoteJid: JID, text: "Oi", sentAtMs: FROM, statuses: [] },
    ],
  });
  expect(gateway.ledger.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "POST /chat/findMessages/ops",
  ]);
});

test("messageFinder() drops what does not fit, where the gateway ignores the filters", async () => {
  const row = (id: string, key: object, messageTimestamp: number | string) => ({
    key: { remoteJid: JID, fromMe: true, id, ...key },
    messageTimestamp,
    message: { extendedTextMessage: { text: "Oi" } },
  });
  const records = [
    row("RIGHT", {}, `${FROM / 1000 + 1}`),
    row("EARLY", {}, FROM / 1000 - 1),
    row("OTHER", { remoteJid: "1@s.whatsapp.net" }, FROM / 1000 + 1),
    row("THEIRS", { fromMe: false }, FROM / 1000 + 1),
  ];
  gateway.routes.messages.next({
    status: 200,
    json: { messages: { total: 4, pages: 1, currentPage: 1, records } },
  });
  expect(await find()).toMatchObject({ status: "answered", messages: [{ id: "RIGHT", text: "Oi" }] });
});

test("messageFinder() finds every one of 200 messages, whatever their order within a second, and no more", async () => {
  for (let i = 0; i < 200; i += 1) keep(`M${i}`, i % 4);
  const found = await find();
  expect(found.status === "answered" && new Set(found.messages.map(({ id }) => id)).size).toBe(200);
  keep("ONE_MORE", 1);
  expect(await find()).toEqual({ status: "failed", code: "gateway_messages_too_many", fault: "question" });
});

test("messageFinder() tells a refusal of us from one of the question, and both from silence", async () => {
  expect(await find({ instanceName: "gone" })).toMatchObject({
    code: "sem_instancia_gateway",
    fault: "question",
  });
  const other = messageFinder({ baseUrl: new URL(gateway.url), adminKey: new Secret("wrong") });
  expect(await other(question)).toMatchObject({ code: "gateway_unauthorized", fault: "refused" });
  gateway.isLicensed = false;
  expect(await find()).toMatchObject({ code: "gateway_license_required", fault: "refused" });
  gateway.isLicensed = true;
  gateway.instances.set("ops", null);
  expect(await find()).toMatchObject({ code: "gateway_http_500", fault: "silent" });
  gateway.instances.set("ops", "open");
  gateway.hasDatabase = false;
  expect(await find()).toMatchObject({ code: "gateway_database_failed", fault: "silent" });
  gateway.routes.messages.next("not_json");
  expect(await find()).toMatchObject({ code: "gateway_answer_unreadable", fault: "silent" });
  expect(await find({ instanceName: ".." })).toMatchObject({
    code: "gateway_request_invalid",
    fault: "silent",
  });
});

const answer = (json: object, status = 200) => {
  gateway.routes.messages.next({ status, json });
};
const row = (id: string, text: string) => ({
  key: { remoteJid: JID, fromMe: true, id },
  messageTimestamp: FROM / 1000 + 1,
  message: { conversation: text },
});

test("messageFinder() takes no page for whole that says more than it holds", async () => {
  const records = [row("A", "Oi"), row("B", "Oi")];
  answer({ messages: { total: 3, pages: 1, records } });
  expect(await find()).toEqual({ status: "failed", code: "gateway_messages_too_many", fault: "question" });
  answer({ messages: { total: 2, pages: 1, records } });
  expect(await find()).toMatchObject({ status: "answered", messages: [{ id: "A" }, { id: "B" }] });
});

test("messageFinder() takes an answer that is too large for one of too many messages", async () => {
  const large = { messages: { total: 1, pages: 1, records: [row("A", "x".repeat(9 * 1_048_576))] } };
  answer(large);
  expect(await find({}, 20_000)).toEqual({
    status: "failed",
    code: "gateway_messages_too_many",
    fault: "question",
  });
  answer(large, 500);
  expect(await find({}, 20_000)).toMatchObject({ status: "failed", fault: "silent" });
});
