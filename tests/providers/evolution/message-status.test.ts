import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { askMessageStatus, type MessageStatus } from "../../../lib/providers/evolution/message-status.ts";
import { type Gateway, startGateway } from "../../standins/gateway.ts";
import type { Scripted } from "../../standins/standin.ts";

const KEY = "canary-gateway-key";

let gateway: Gateway;
beforeEach(async () => {
  gateway = await startGateway({ adminKey: KEY });
});
afterEach(async () => await gateway.stop());

const ask = (id = "id", { key = KEY, timeoutMs = 60_000 } = {}) =>
  askMessageStatus({ baseUrl: new URL(gateway.url), adminKey: new Secret(key), timeoutMs })({
    instanceName: "ops",
    id,
  });

function keep(id: string, ...statuses: string[]): void {
  const remoteJid = "5511912345678@s.whatsapp.net";
  gateway.kept.push({ instance: "ops", remoteJid, id, text: "text", sentAt: 1, statuses });
}

describe("askMessageStatus()", () => {
  test.each<[said: string[], status: MessageStatus["status"]]>([
    [["SERVER_ACK"], "settled"],
    [["DELIVERY_ACK"], "settled"],
    [["READ"], "settled"],
    [["PLAYED"], "settled"],
    [["DELETED"], "settled"],
    [["ERROR"], "returned"],
    [["PENDING"], "pending"],
    [["SOMETHING_NEW"], "pending"],
    [[], "pending"],
    [["ERROR", "DELIVERY_ACK"], "settled"],
  ])("takes a message of which WhatsApp said %j for %s", async (said, status) => {
    keep("other", "READ");
    keep("id", ...said);
    expect(await ask()).toEqual({ status } as MessageStatus);
  });

  test("knows no message that the gateway does not keep, nor another one that it shows", async () => {
    expect(await ask("never")).toEqual({ status: "absent" });
    const key = { id: "other", remoteJid: "5511912345678@s.whatsapp.net", fromMe: true };
    const record = { key, messageTimestamp: 1, MessageUpdate: [{ status: "READ" }] };
    gateway.routes.messages.next({ status: 200, json: { messages: { pages: 1, records: [record] } } });
    expect(await ask()).toEqual({ status: "absent" });
  });

  test.each<[Scripted, string]>([
    ["hang", "gateway_timeout"],
    ["drop", "gateway_connection_lost"],
    ["not_json", "gateway_answer_unreadable"],
    [{ status: 200, json: { messages: [] } }, "gateway_answer_unreadable"],
    [{ status: 500, json: {} }, "gateway_http_500"],
  ])("takes %p for no answer", async (fault, code) => {
    gateway.routes.messages.next(fault);
    expect(await ask("id", fault === "hang" ? { timeoutMs: 20 } : {})).toEqual({ status: "unknown", code });
  });

  test("says that the gateway refuses the key", async () => {
    expect(await ask("id", { key: "wrong" })).toEqual({ status: "unknown", code: "gateway_unauthorized" });
  });
});
