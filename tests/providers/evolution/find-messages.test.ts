import { afterEach, beforeEach, describe, expect, test } from "bun:test";
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

function find(more: object = {}, key = KEY) {
  const options = { baseUrl: new URL(gateway.url), adminKey: new Secret(key), timeoutMs: 60_000 };
  return messageFinder(options)({ ...question, ...more });
}

/** Lets the gateway keep a message that was sent so many seconds after the beginning. */
const keep = (id: string, seconds: number, more: object = {}) =>
  gateway.kept.push({
    ...{ instance: "ops", remoteJid: JID, id, text: "Oi" },
    ...{ sentAt: FROM / 1000 + seconds, ...more },
  });

/** A row of an answer. */
const row = (id: string, more: { key?: object; at?: number | string; message?: object } = {}) => ({
  key: { remoteJid: JID, fromMe: true, id, ...more.key },
  messageTimestamp: more.at ?? FROM / 1000 + 1,
  message: more.message ?? { conversation: "Oi" },
});

/** Lets the gateway answer the next question with these rows. */
function answerWith(records: object[], { total = records.length, pages = 1, status = 200 } = {}) {
  gateway.routes.messages.next({ status, json: { messages: { total, pages, currentPage: 1, records } } });
}

const TOO_MANY = { status: "failed", code: "gateway_messages_too_many", fault: "question" } as const;

describe("messageFinder()", () => {
  test("finds what was sent to one recipient within the time, both bounds included", async () => {
    keep("BEFORE", -1);
    keep("FIRST", 0);
    keep("LAST", 60, { statuses: ["SERVER_ACK"] });
    keep("AFTER", 61);
    keep("OTHER", 5, { remoteJid: "5511900000000@s.whatsapp.net" });
    keep("THEIRS", 5, { fromMe: false });
    const known = { remoteJid: JID, text: "Oi" };
    expect(await find()).toEqual({
      status: "answered",
      messages: [
        { ...known, id: "LAST", sentAtMs: FROM + 60_000, statuses: ["SERVER_ACK"] },
        { ...known, id: "FIRST", sentAtMs: FROM, statuses: [] },
      ],
    });
    expect(gateway.ledger.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /chat/findMessages/ops",
    ]);
  });

  test("drops what does not fit, where the gateway ignores the filters", async () => {
    answerWith([
      row("RIGHT", { at: `${FROM / 1000 + 1}`, message: { extendedTextMessage: { text: "Oi" } } }),
      row("EARLY", { at: FROM / 1000 - 1 }),
      row("LATE", { at: FROM / 1000 + 61 }),
      row("OTHER", { key: { remoteJid: "1@s.whatsapp.net" } }),
      row("THEIRS", { key: { fromMe: false } }),
    ]);
    expect(await find()).toMatchObject({ status: "answered", messages: [{ id: "RIGHT", text: "Oi" }] });
  });

  test("finds every one of 200 messages, whatever their order within a second, and no more", async () => {
    for (let i = 0; i < 200; i += 1) keep(`M${i}`, i % 4);
    const found = await find();
    expect(found.status === "answered" && new Set(found.messages.map(({ id }) => id)).size).toBe(200);
    keep("ONE_MORE", 1);
    expect(await find()).toEqual(TOO_MANY);
  });

  test("treats no page as complete that announces more than it contains", async () => {
    answerWith([row("A"), row("B")], { total: 3 });
    expect(await find()).toEqual(TOO_MANY);
    answerWith([row("A"), row("B")], { pages: 2 });
    expect(await find()).toEqual(TOO_MANY);
    answerWith([row("A"), row("B")]);
    expect(await find()).toMatchObject({ status: "answered", messages: [{ id: "A" }, { id: "B" }] });
  });

  test("takes an answer that is too large for one of too many messages", async () => {
    const large = [row("A", { message: { conversation: "x".repeat(9 * 1_048_576) } })];
    answerWith(large);
    expect(await find()).toEqual(TOO_MANY);
    answerWith(large, { status: 500 });
    expect(await find()).toMatchObject({ status: "failed", fault: "silent" });
  });

  test("distinguishes a refusal of us, a refusal of the query, and silence", async () => {
    const isFailed = async (code: string, fault: string, search = find()) =>
      expect(await search).toEqual({ status: "failed", code, fault } as Awaited<typeof search>);
    await isFailed("sem_instancia_gateway", "question", find({ instanceName: "gone" }));
    await isFailed("gateway_unauthorized", "refused", find({}, "wrong"));
    await isFailed("gateway_request_invalid", "silent", find({ instanceName: ".." }));
    gateway.isLicensed = false;
    await isFailed("gateway_license_required", "refused");
    gateway.isLicensed = true;
    gateway.instances.set("ops", null);
    await isFailed("gateway_http_500", "silent");
    gateway.instances.set("ops", "open");
    gateway.hasDatabase = false;
    await isFailed("gateway_database_failed", "silent");
    gateway.routes.messages.next("not_json");
    await isFailed("gateway_answer_unreadable", "silent");
  });
});
