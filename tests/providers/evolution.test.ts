import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Secret } from "../../lib/platform/secret.ts";
import { type EvolutionClient, evolutionClient } from "../../lib/providers/evolution.ts";
import { type Gateway, startGateway } from "../standins/gateway.ts";
import { refusedPort } from "../standins/raw-peer.ts";
import type { Scripted } from "../standins/standin.ts";

const KEY = "canary-gateway-key";
const NUMBER = "5511900000001";
const message = { instanceName: "ops", number: NUMBER, text: "Resumo da semana" };

let gateway: Gateway;
let client: EvolutionClient;

beforeEach(async () => {
  gateway = await startGateway({ adminKey: KEY, prefix: "/gw", instances: { ops: "open", "a/b c": "open" } });
  client = clientOf(gateway.url);
});

afterEach(async () => {
  await gateway.stop();
});

function clientOf(url: string, key = KEY) {
  return evolutionClient({ baseUrl: new URL(`${url}/`), adminKey: new Secret(key), timeoutMs: 150 });
}

const failed = (code: string, stopsChannel = false) => ({ status: "failed" as const, code, stopsChannel });
const unknown = (code: string) => ({ status: "unknown" as const, code });
const refusal = (status: number, text: unknown, error = "Bad Request"): Scripted => ({
  status,
  json: { status, error, response: { message: text } },
});
const meta = (more: object): Scripted => ({
  status: 201,
  json: { message: `(#131030) ${NUMBER} not allowed`, type: "OAuthException", fbtrace_id: "x", ...more },
});

describe("evolutionClient().sendText()", () => {
  test("sends the text once, without a preview, and keeps the gateway's id", async () => {
    const outcome = await client.sendText(message);
    expect(outcome).toEqual({ status: "sent", providerMessageId: gateway.accepted[0]!.id });
    expect(gateway.ledger[0]).toMatchObject({
      path: "/gw/message/sendText/ops",
      body: { number: NUMBER, text: message.text, linkPreview: false },
    });
    expect(gateway.ledger[0]?.headers.apikey).toBe(KEY);
    expect(gateway.accepted).toHaveLength(1);
  });

  test("encodes the instance's name", async () => {
    expect(await client.sendText({ ...message, instanceName: "a/b c" })).toMatchObject({ status: "sent" });
    expect(gateway.accepted[0]?.instance).toBe("a/b c");
  });

  test.each(["", ".", ".."])("sends nothing for the instance name %j", async (instanceName) => {
    expect(await client.sendText({ ...message, instanceName })).toEqual(failed("gateway_request_invalid"));
    expect(gateway.ledger).toHaveLength(0);
  });

  test("the gateway's own refusals, as it gives them", async () => {
    gateway.absentNumbers.add(NUMBER);
    expect(await client.sendText(message)).toEqual(failed("recipient_not_on_whatsapp"));
    expect(await client.sendText({ ...message, text: "  " })).toEqual(failed("gateway_text_missing"));
    expect(await client.sendText({ ...message, instanceName: "gone" })).toEqual(
      failed("sem_instancia_gateway"),
    );
    expect(await clientOf(gateway.url, "wrong").sendText(message)).toEqual(
      failed("gateway_unauthorized", true),
    );
    expect(await clientOf(`${gateway.url}/v9`).sendText(message)).toEqual(failed("gateway_http_404"));
    expect(gateway.accepted).toHaveLength(0);
  });

  test.each<[string, Scripted, object]>([
    ["404 instance", refusal(404, ['The "ops" instance does not exist']), failed("sem_instancia_gateway")],
    ["404 route", refusal(404, ["Cannot POST /v9/message/sendText/ops"]), failed("gateway_http_404")],
    ["404 of a proxy", { status: 404, text: "<html>" }, unknown("gateway_http_404")],
    ["404 of another shape", refusal(404, "gone"), unknown("gateway_http_404")],
    ["401", refusal(401, "Unauthorized", "Unauthorized"), failed("gateway_unauthorized", true)],
    ["401 of a proxy", { status: 401, text: "<html>" }, unknown("gateway_http_401")],
    [
      "400 body schema",
      refusal(400, [['instance requires property "text"']]),
      failed("gateway_body_invalid"),
    ],
    ["400 body format", refusal(400, [["Invalid format"]]), failed("gateway_body_invalid")],
    ["400 text missing", refusal(400, ["Text is required"]), failed("gateway_text_missing")],
    ["400 text missing, almost", refusal(400, ["Text is required "]), unknown("gateway_http_400")],
    [
      "400 not on WhatsApp",
      refusal(400, [{ jid: `${NUMBER}@s.whatsapp.net`, exists: false, number: NUMBER }]),
      failed("recipient_not_on_whatsapp"),
    ],
    [
      "400 on WhatsApp after all",
      refusal(400, [{ exists: true, number: NUMBER }]),
      unknown("gateway_http_400"),
    ],
    [
      "400 body parser",
      refusal(400, "Unexpected token", "Internal Server Error"),
      failed("gateway_body_unreadable"),
    ],
    ["400 another text", refusal(400, "Unexpected token"), unknown("gateway_http_400")],
    ["400 closed inside the send", refusal(400, ["Error: Connection Closed"]), unknown("gateway_http_400")],
    ["400 fault inside the send", refusal(400, ["TypeError: x is undefined"]), unknown("gateway_http_400")],
    [
      "400 fault after the send",
      refusal(400, ["PrismaClientKnownRequestError: x"]),
      unknown("gateway_http_400"),
    ],
    ["400 object", refusal(400, ["[object Object]"]), unknown("gateway_http_400")],
    ["400 mixed list", refusal(400, [["Invalid format"], "Error: x"]), unknown("gateway_http_400")],
    ["400 empty list", refusal(400, []), unknown("gateway_http_400")],
    ["400 of a proxy", { status: 400, text: "<html>" }, unknown("gateway_http_400")],
    ["413", { status: 413, text: "too large" }, failed("gateway_http_413")],
    ["500 closed", refusal(500, "Connection Closed", "Internal Server Error"), unknown("gateway_http_500")],
    ["500 timed out", refusal(500, "Timed Out", "Internal Server Error"), unknown("gateway_http_500")],
    ["500 list", refusal(500, ["Error: x"], "Internal Server Error"), unknown("gateway_http_500")],
    [
      "503 licence",
      { status: 503, json: { error: "service not activated", code: "LICENSE_REQUIRED" } },
      failed("gateway_license_required", true),
    ],
    ["503 of a proxy", { status: 503, text: "<html>" }, unknown("gateway_http_503")],
    ["403", { status: 403, json: {} }, unknown("gateway_http_403")],
    ["408", refusal(408, [["Invalid format"]]), unknown("gateway_http_408")],
    ["409", refusal(409, [["Invalid format"]]), unknown("gateway_http_409")],
    ["302", { status: 302, headers: { location: "/login" } }, unknown("gateway_http_302")],
    ["502", { status: 502, text: "<html>" }, unknown("gateway_http_502")],
    ["201 without id", { status: 201, json: { status: "PENDING" } }, unknown("gateway_answer_without_id")],
    ["201 empty id", { status: 201, json: { key: { id: "" } } }, unknown("gateway_answer_without_id")],
    ["201 blank id", { status: 201, json: { key: { id: " " } } }, unknown("gateway_answer_without_id")],
    ["201 numeric id", { status: 201, json: { key: { id: 7 } } }, unknown("gateway_answer_without_id")],
    ["201 list", { status: 201, json: [] }, unknown("gateway_answer_without_id")],
    ["201 empty", { status: 201, text: "" }, unknown("gateway_answer_unreadable")],
    ["201 refused by Meta", meta({ code: 131030 }), failed("meta_131030")],
    ["201 fault of Meta", meta({ code: 131000 }), unknown("gateway_answer_without_id")],
    ["201 Meta without a code", meta({ code: "131030" }), unknown("gateway_answer_without_id")],
    ["201 Meta, another type", meta({ code: 131030, type: "x" }), unknown("gateway_answer_without_id")],
    ["429", { status: 429, json: {}, headers: { "retry-after": "4" } }, throttled(4_000)],
    ["hang", "hang", unknown("gateway_timeout")],
    ["stall", "stall_body", unknown("gateway_timeout")],
    ["drop", "drop", unknown("gateway_connection_lost")],
    ["drop unread", "drop_unread", unknown("gateway_connection_lost")],
    ["break", "break_body", unknown("gateway_connection_lost")],
    ["huge", "huge", unknown("gateway_answer_unreadable")],
    ["not JSON", "not_json", unknown("gateway_answer_unreadable")],
  ])("%s", async (_row, scripted, expected) => {
    gateway.routes.send.next(scripted);
    const outcome = await client.sendText(message);
    expect(outcome).toEqual(expected as typeof outcome);
    expect(gateway.routes.send.calls).toHaveLength(1);
    expect(JSON.stringify(outcome)).not.toContain(NUMBER);
  });

  test.each(["drop", "hang", "break_body"] as const)(
    "a text that was accepted before a %s went out once",
    async (accept) => {
      gateway.routes.send.next({ accept });
      expect(await client.sendText(message)).toMatchObject({ status: "unknown" });
      expect(gateway.accepted).toHaveLength(1);
      expect(gateway.routes.send.calls).toHaveLength(1);
    },
  );

  test("knows that nothing was sent when nobody listens", async () => {
    const nobody = clientOf(`http://127.0.0.1:${await refusedPort()}`);
    expect(await nobody.sendText(message)).toEqual(failed("gateway_unreachable"));
  });

  test("knows that nothing was sent when the run was aborted before, and not afterwards", async () => {
    expect(await client.sendText(message, AbortSignal.abort())).toEqual(failed("gateway_aborted"));
    const shutdown = new AbortController();
    gateway.routes.send.script = () => {
      shutdown.abort();
      return { accept: "hang" };
    };
    expect(await client.sendText(message, shutdown.signal)).toEqual(unknown("gateway_aborted"));
  });
});

function throttled(retryAfterMs: number) {
  return { status: "throttled" as const, code: "gateway_http_429", retryAfterMs };
}

const NOT_OPEN = {
  open: false as const,
  code: "sem_instancia_gateway",
  stopsChannel: false,
  timedOut: false,
};

describe("evolutionClient().checkInstance()", () => {
  test.each([
    ["open", true],
    ["close", false],
    ["connecting", false],
    [null, false],
  ])("the state %p is open: %p", async (state, expected) => {
    gateway.instances.set("ops", state);
    expect(await client.checkInstance("ops")).toEqual(expected ? { open: true } : NOT_OPEN);
    expect(gateway.ledger[0]).toMatchObject({ method: "GET", path: "/gw/instance/connectionState/ops" });
    expect(gateway.unexpected).toHaveLength(0);
  });

  test.each<[string, Scripted]>([
    ["500", { status: 500, json: { instance: { state: "open" } } }],
    ["302", { status: 302, json: { instance: { state: "open" } } }],
    ["no instance", { status: 200, json: { state: "open" } }],
    ["another spelling", { status: 200, json: { instance: { state: "OPEN" } } }],
    ["text", { status: 200, text: "open" }],
    ["drop", "drop"],
    ["break", "break_body"],
    ["huge", "huge"],
    ["not JSON", "not_json"],
  ])("is not open for an unreadable answer: %s", async (_row, scripted) => {
    gateway.routes.state.next(scripted);
    expect(await client.checkInstance("ops")).toEqual(NOT_OPEN);
  });

  test("is not open for an instance that does not exist, and for a gateway that is away", async () => {
    expect(await client.checkInstance("gone")).toEqual(NOT_OPEN);
    expect(await client.checkInstance("..")).toEqual(NOT_OPEN);
    expect(await clientOf(`http://127.0.0.1:${await refusedPort()}`).checkInstance("ops")).toEqual(NOT_OPEN);
  });

  test("says when the gateway said nothing in time", async () => {
    gateway.routes.state.next("hang");
    expect(await client.checkInstance("ops")).toEqual({ ...NOT_OPEN, timedOut: true });
  });

  test("a refused key and a missing licence stop the channel", async () => {
    const refused = { open: false, code: "gateway_unauthorized", stopsChannel: true, timedOut: false };
    expect(await clientOf(gateway.url, "wrong").checkInstance("ops")).toEqual(refused);
    gateway.routes.state.next({
      status: 503,
      json: { error: "service not activated", code: "LICENSE_REQUIRED" },
    });
    expect(await client.checkInstance("ops")).toEqual({ ...refused, code: "gateway_license_required" });
  });
});

describe("evolutionClient().listInstances()", () => {
  const unlisted = (code: string, stopsChannel = false) => ({ ok: false as const, code, stopsChannel });

  test("names what the key may see, and keeps nothing else of the rows", async () => {
    const all = await client.listInstances();
    expect(all).toEqual({ ok: true, names: ["ops", "a/b c"] });
    expect(gateway.ledger[0]).toMatchObject({ method: "GET", path: "/gw/instance/fetchInstances" });
    const own = await clientOf(gateway.url, gateway.tokenOf("ops")).listInstances();
    expect(own).toEqual({ ok: true, names: ["ops"] });
    gateway.instances.clear();
    expect(await client.listInstances()).toEqual({ ok: true, names: [] });
  });

  test("a refused key and a missing licence stop the channel", async () => {
    const wrong = await clientOf(gateway.url, "wrong").listInstances();
    expect(wrong).toEqual(unlisted("gateway_unauthorized", true));
    gateway.routes.instances.next({ status: 503, json: { code: "LICENSE_REQUIRED" } });
    expect(await client.listInstances()).toEqual(unlisted("gateway_license_required", true));
  });

  test.each<[string, Scripted, string]>([
    ["502", { status: 502, text: "<html>" }, "gateway_http_502"],
    ["302", { status: 302, headers: { location: "/login" } }, "gateway_http_302"],
    ["404", { status: 404, text: "<html>" }, "gateway_http_404"],
    ["401 of a proxy", { status: 401, text: "<html>" }, "gateway_http_401"],
    ["no list", { status: 200, json: { name: "ops" } }, "gateway_answer_unreadable"],
    [
      "a row without a name",
      { status: 200, json: [{ name: "ops" }, { id: 1 }] },
      "gateway_answer_unreadable",
    ],
    ["a row with an empty name", { status: 200, json: [{ name: "" }] }, "gateway_answer_unreadable"],
    ["a row of an older version", { status: 200, json: [{ instance: {} }] }, "gateway_answer_unreadable"],
    ["not JSON", "not_json", "gateway_answer_unreadable"],
    ["huge", "huge", "gateway_answer_unreadable"],
    ["hang", "hang", "gateway_timeout"],
    ["break", "break_body", "gateway_connection_lost"],
  ])("knows no names after an unreadable answer: %s", async (_row, scripted, code) => {
    gateway.routes.instances.next(scripted);
    expect(await client.listInstances()).toEqual(unlisted(code));
  });

  test("knows no names while the gateway is away", async () => {
    const nobody = clientOf(`http://127.0.0.1:${await refusedPort()}`);
    expect(await nobody.listInstances()).toEqual(unlisted("gateway_unreachable"));
  });

  test("tells the log neither the key nor a token", async () => {
    const records: unknown[] = [];
    const onCall = (record: unknown) => records.push(record);
    const logged = evolutionClient({ baseUrl: new URL(gateway.url), adminKey: new Secret(KEY), onCall });
    const listed = await logged.listInstances();
    expect(records).toHaveLength(1);
    expect(JSON.stringify([records, listed])).not.toContain(KEY);
    expect(JSON.stringify([records, listed])).not.toContain(gateway.tokenOf("ops"));
  });
});
