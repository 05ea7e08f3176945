import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { type EvolutionClient, evolutionClient } from "../../../lib/providers/evolution/client.ts";
import type { ChannelFault } from "../../../lib/providers/send-outcome.ts";
import { type Gateway, startGateway } from "../../standins/gateway.ts";
import { endOf } from "../../standins/given-up.ts";
import { refusedPort } from "../../standins/raw-peer.ts";
import type { Scripted } from "../../standins/standin.ts";

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

function clientOf(url: string, key = KEY, timeoutMs?: number) {
  const limit = timeoutMs === undefined ? {} : { timeoutMs };
  return evolutionClient({ baseUrl: new URL(`${url}/`), adminKey: new Secret(key), ...limit });
}

/** Makes a call, which is given up where the gateway gives no answer. */
const ended = <Result>(scripted: Scripted, call: (client: EvolutionClient) => Promise<Result>) =>
  endOf(gateway, scripted, (limitMs) => call(clientOf(gateway.url, KEY, limitMs)));

const failed = (code: string, stopsChannel = false) => ({ status: "failed" as const, code, stopsChannel });
const unknown = (code: string) => ({ status: "unknown" as const, code });
const outage = (code: string) => ({ ...unknown(code), isOutage: true as const });
const doubt = (code: string, channel: ChannelFault) => ({ ...unknown(code), channel });
const refusal = (status: number, text: unknown, error = "Bad Request"): Scripted => ({
  status,
  json: { status, error, response: { message: text } },
});
const databaseFailure = (query: string, form: (text: string) => unknown = (text) => text): Scripted =>
  refusal(500, form(`\nInvalid \`${query}()\` invocation in\n/main.js:1:2\n\nCan't reach database server`));
const databaseAway = {
  status: "throttled" as const,
  code: "gateway_database_failed",
  retryAfterMs: 10_000,
};
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

  test("a gateway without its database sends nothing by phone, and may have sent by Meta", async () => {
    gateway.hasDatabase = false;
    expect(await client.sendText(message)).toEqual(databaseAway);
    expect(await client.sendText({ ...message, instanceName: "gone" })).toEqual(databaseAway);
    expect(await client.checkInstance("ops")).toEqual({ status: "open" });
    expect(await client.checkInstance("gone")).toEqual(notOpen("gateway_database_failed"));
    expect(await client.listInstances()).toEqual({ ...failed("gateway_database_failed") });
    const own = clientOf(gateway.url, gateway.tokenOf("ops"));
    expect(await own.sendText(message)).toEqual(failed("gateway_unauthorized", true));
    expect(gateway.accepted).toHaveLength(0);
    gateway.integrations.set("ops", "WHATSAPP-BUSINESS");
    expect(await client.sendText(message)).toEqual(unknown("gateway_http_400"));
    expect(gateway.accepted).toHaveLength(1);
  });

  test.each<[string, Scripted, object]>([
    ["404 instance", refusal(404, ['The "ops" instance does not exist']), failed("sem_instancia_gateway")],
    ["404 route", refusal(404, ["Cannot POST /v9/message/sendText/ops"]), failed("gateway_http_404")],
    ["404 of a proxy", { status: 404, text: "<html>" }, outage("gateway_http_404")],
    [
      "404 instance, and more behind it",
      refusal(404, ['The "ops" instance does not exist on this node, sent by another']),
      unknown("gateway_http_404"),
    ],
    [
      "404 instance, and more before it",
      refusal(404, ['Sent, but: The "b" instance does not exist']),
      unknown("gateway_http_404"),
    ],
    ["404 of another shape", refusal(404, "gone"), unknown("gateway_http_404")],
    ["401", refusal(401, "Unauthorized", "Unauthorized"), failed("gateway_unauthorized", true)],
    ["401 of a proxy", { status: 401, text: "<html>" }, outage("gateway_http_401")],
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
    [
      "500 closed before the send",
      refusal(500, "Connection Closed", "Internal Server Error"),
      { ...unknown("gateway_http_500"), isOutage: true },
    ],
    ["500 list, closed", refusal(500, ["Error: Connection Closed"]), unknown("gateway_http_500")],
    ["500 timed out", refusal(500, "Timed Out", "Internal Server Error"), unknown("gateway_http_500")],
    ["500 list", refusal(500, ["Error: x"], "Internal Server Error"), unknown("gateway_http_500")],
    ["500 the number could not be looked up", databaseFailure("prisma.contact.findMany"), databaseAway],
    ["500 in development", databaseFailure("this.prismaRepository.isOnWhatsapp.findMany"), databaseAway],
    ["500 of the guard", databaseFailure("prisma.instance.findMany", (text) => [text]), databaseAway],
    ["500 the row of the message", databaseFailure("prisma.message.create"), unknown("gateway_http_500")],
    [
      "500 the same, which names another table later",
      databaseFailure("prisma.message.create", (text) => `${text} prisma.contact.findMany()`),
      unknown("gateway_http_500"),
    ],
    [
      "500 a query that is only told of",
      databaseFailure("prisma.contact.findMany", (text) => `Error: ${text}`),
      unknown("gateway_http_500"),
    ],
    [
      "500 a query among others",
      databaseFailure("prisma.contact.findMany", (text) => [text, "sent"]),
      unknown("gateway_http_500"),
    ],
    [
      "400 after the number was looked up",
      refusal(400, ["PrismaClientKnownRequestError: \nInvalid `prisma.contact.findMany()` invocation:\n"]),
      unknown("gateway_http_400"),
    ],
    [
      "503 licence",
      { status: 503, json: { error: "service not activated", code: "LICENSE_REQUIRED" } },
      failed("gateway_license_required", true),
    ],
    ["503 of a proxy", { status: 503, text: "<html>" }, outage("gateway_http_503")],
    ["403", { status: 403, json: {} }, outage("gateway_http_403")],
    ["408", refusal(408, [["Invalid format"]]), unknown("gateway_http_408")],
    ["409", refusal(409, [["Invalid format"]]), unknown("gateway_http_409")],
    ["302", { status: 302, headers: { location: "/login" } }, outage("gateway_http_302")],
    ["502", { status: 502, text: "<html>" }, outage("gateway_http_502")],
    ["504 of a proxy", { status: 504, text: "<html>" }, outage("gateway_http_504")],
    ["504 in the gateway's own form", refusal(504, ["Error: x"]), unknown("gateway_http_504")],
    ["201 without id", { status: 201, json: { status: "PENDING" } }, unknown("gateway_answer_without_id")],
    ["201 empty id", { status: 201, json: { key: { id: "" } } }, unknown("gateway_answer_without_id")],
    ["201 blank id", { status: 201, json: { key: { id: " " } } }, unknown("gateway_answer_without_id")],
    ["201 numeric id", { status: 201, json: { key: { id: 7 } } }, unknown("gateway_answer_without_id")],
    ["201 list", { status: 201, json: [] }, unknown("gateway_answer_without_id")],
    ["201 empty", { status: 201, text: "" }, unknown("gateway_answer_unreadable")],
    ["201 refused by Meta", meta({ code: 131030 }), failed("meta_131030")],
    ["201 fault of Meta", meta({ code: 131000 }), unknown("meta_131000")],
    ["201 Meta, a code as text", meta({ code: "190" }), failed("meta_190", true)],
    ["201 Meta, a subcode beside it", meta({ code: 190, error_subcode: 463 }), failed("meta_190", true)],
    ["201 Meta, a subcode alone", meta({ error_subcode: 463 }), unknown("gateway_answer_without_id")],
    [
      "201 Meta, as its own API nests it",
      { status: 201, json: { error: { message: "x", type: "OAuthException", code: 130429 } } },
      metaThrottled(130429, 6_000),
    ],
    ["201 Meta, no such phone number", meta({ type: "GraphMethodException", code: 100 }), failed("meta_100")],
    ["201 Meta, a code of words", meta({ code: "19O" }), unknown("gateway_answer_without_id")],
    ["201 Meta, a negative code", meta({ code: -1 }), unknown("gateway_answer_without_id")],
    ["201 Meta, a fraction", meta({ code: 190.5 }), unknown("gateway_answer_without_id")],
    ["201 Meta, another type", meta({ code: 131030, type: "x" }), unknown("gateway_answer_without_id")],
    [
      "201 Meta, almost a type of its own",
      meta({ code: 131030, type: "OAuthExceptions" }),
      unknown("gateway_answer_without_id"),
    ],
    [
      "201 Meta, a type with more before it",
      meta({ code: 131030, type: "no OAuthException" }),
      unknown("gateway_answer_without_id"),
    ],
    ["201 Meta's error beside a key", meta({ code: 190, key: {} }), unknown("gateway_answer_without_id")],
    [
      "201 Meta's error beside an id",
      meta({ code: 190, key: { id: "wamid.A=" } }),
      { status: "sent", providerMessageId: "wamid.A=" },
    ],
    [
      "400 with Meta's refusal of the account in it",
      refusal(400, [{ message: "x", type: "OAuthException", code: 190 }]),
      doubt("gateway_http_400", { code: "meta_190" }),
    ],
    [
      "400 with Meta's refusal of the message in it",
      refusal(400, { message: "x", type: "OAuthException", code: 131026 }),
      unknown("gateway_http_400"),
    ],
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
    const outcome = await ended(scripted, (client) => client.sendText(message));
    expect(outcome).toEqual(expected as typeof outcome);
    expect(gateway.routes.send.calls).toHaveLength(1);
    expect(JSON.stringify(outcome)).not.toContain(NUMBER);
  });

  test.each(["drop", "hang", "break_body"] as const)(
    "a text that was accepted before a %s went out once",
    async (accept) => {
      gateway.routes.send.next({ accept });
      const outcome = await ended({ accept }, (client) => client.sendText(message));
      expect(outcome).toMatchObject({ status: "unknown" });
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

function metaThrottled(code: number, retryAfterMs: number) {
  return { status: "throttled" as const, code: `meta_${code}`, retryAfterMs };
}

/** The contract's table, and what the documentation adds to its rows. */
const META_CODES: Record<"account" | "brief" | "long" | "message" | "unclear", number[]> = {
  account: [190, 10, 200, 201, 230, 298, 299, 368, 131031, 0, 3, 33, 131005, 131037, 131042, 131045, 133010],
  brief: [130429, 131056],
  long: [4, 80007, 131048],
  message: [
    ...[100, 130472, 130497, 131008, 131009, 131021, 131026, 131030, 131047, 131049, 131050, 131051, 131052],
    ...[131053, 132000, 132001, 132005, 132007, 132012, 132015, 132016, 132068, 132069, 135000],
  ],
  unclear: [1, 2, 131000, 131016, 131057, 133004, 5, 199, 300, 999_999, 9_999_999],
};

describe("evolutionClient().sendText() through a business instance", () => {
  beforeEach(() => void gateway.integrations.set("ops", "WHATSAPP-BUSINESS"));
  const play = async (code: unknown) => {
    gateway.metaError = { message: `(#${code}) ${NUMBER}`, type: "OAuthException", code, fbtrace_id: "x" };
    return await client.sendText(message);
  };

  test.each(META_CODES.account)("Meta's %i refuses the account", async (code) => {
    expect(await play(code)).toEqual(failed(`meta_${code}`, true));
  });
  test.each(META_CODES.brief)("Meta's %i is worth repeating soon", async (code) => {
    expect(await play(code)).toEqual(metaThrottled(code, 6_000));
  });
  test.each(META_CODES.long)("Meta's %i is worth repeating later", async (code) => {
    expect(await play(code)).toEqual(metaThrottled(code, 30_000));
  });
  test.each(META_CODES.message)("Meta's %i refuses this message", async (code) => {
    expect(await play(code)).toEqual(failed(`meta_${code}`));
  });
  test.each(META_CODES.unclear)("Meta's %i proves nothing", async (code) => {
    expect(await play(code)).toEqual(unknown(`meta_${code}`));
  });

  afterEach(() => {
    expect(gateway.accepted).toHaveLength(0);
    // The answer was complete: the gateway is not asked about the instance.
    expect(gateway.routes.state.calls).toHaveLength(0);
  });
});

test("evolutionClient().sendText() takes nothing for sent without an id, and no unlisted code for a refusal", async () => {
  const { unclear: _, ...proving } = META_CODES;
  const listed = new Set(Object.values(proving).flat());
  const answers = fc.oneof(
    fc.record({
      code: fc.oneof(fc.nat(400), fc.integer({ min: 130_000, max: 136_000 }), fc.nat(9_999_999)),
      type: fc.constant("OAuthException"),
    }),
    fc.record({ code: fc.jsonValue(), type: fc.jsonValue(), error: fc.jsonValue() }),
    fc.jsonValue(),
  );
  await fc.assert(
    fc.asyncProperty(answers, async (json) => {
      gateway.routes.send.next({ status: 201, json });
      const outcome = await client.sendText(message);
      expect(outcome.status).not.toBe("sent");
      if (outcome.status === "unknown" || outcome.status === "sent") return;
      const code = Number(/^meta_(\d+)$/.exec(outcome.code)?.[1]);
      expect(listed.has(code) || (code >= 200 && code <= 299)).toBe(true);
    }),
    { numRuns: 150 },
  );
});

describe("evolutionClient().sendText() to an instance that cannot send", () => {
  const notOpen = (cause: string) => ({ code: "sem_instancia_gateway", cause });

  test.each([
    ["close", "instance_close", { isOutage: true }],
    ["connecting", "instance_connecting", { isOutage: true }],
    [null, "instance_not_loaded", {}],
  ] as const)("%p: the message stays in doubt, the channel is named", async (state, cause, more) => {
    gateway.instances.set("ops", state);
    const fault = { ...notOpen(cause), isPassing: true as const };
    expect(await client.sendText(message)).toEqual({ ...doubt("gateway_http_500", fault), ...more });
    expect(gateway.ledger.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /gw/message/sendText/ops",
      "GET /gw/instance/connectionState/ops",
    ]);
    expect(gateway.ledger.map(({ status }) => status)).toEqual([500, 200]);
    expect(gateway.accepted).toHaveLength(0);
  });

  test("a number that the gateway knows fails inside the send, which is a 400", async () => {
    expect(await client.sendText(message)).toMatchObject({ status: "sent" });
    gateway.instances.set("ops", "close");
    expect(await client.sendText(message)).toEqual(
      doubt("gateway_http_400", { ...notOpen("instance_close"), isPassing: true }),
    );
  });

  test("one that is open adds nothing: `open` is no proof", async () => {
    gateway.routes.send.next(refusal(400, ["Error: Connection Closed"]), refusal(500, "Timed Out"));
    expect(await client.sendText(message)).toEqual(unknown("gateway_http_400"));
    expect(await client.sendText(message)).toEqual(unknown("gateway_http_500"));
    expect(gateway.routes.state.calls).toHaveLength(2);
  });

  test.each<[string, Scripted, { code: string; cause?: string } | undefined]>([
    ["is gone meanwhile", refusal(404, ['The "ops" instance does not exist']), notOpen("instance_missing")],
    ["is not ours", refusal(401, "Unauthorized"), { code: "gateway_unauthorized" }],
    [
      "has no licence",
      { status: 503, json: { code: "LICENSE_REQUIRED" } },
      { code: "gateway_license_required" },
    ],
    ["was refused", stateAnswer("refused"), notOpen("instance_refused")],
    ["has a state of another word", stateAnswer("OPEN"), undefined],
    ["has neither name nor state", { status: 200, json: { instance: {} } }, undefined],
    ["is a page", "not_json", undefined],
    ["fails", refusal(500, "Internal"), undefined],
    ["hangs", "hang", undefined],
    ["drops", "drop", undefined],
    ["breaks off", "break_body", undefined],
  ])("the question that follows %s", async (_row, state, channel) => {
    gateway.routes.send.next(refusal(500, "Timed Out"));
    gateway.routes.state.next(state);
    const expected = channel === undefined ? {} : { channel };
    const outcome = await ended(state, (client) => client.sendText(message));
    expect(outcome).toEqual({ ...unknown("gateway_http_500"), ...expected });
    expect(gateway.routes.state.calls).toHaveLength(1);
  });

  test.each<[string, Scripted]>([
    ["a refusal that proves itself", refusal(400, [["Invalid format"]])],
    ["a 502", { status: 502, text: "<html>" }],
    ["a database that failed", databaseFailure("prisma.contact.findMany")],
    ["a 201 without an id", { status: 201, json: {} }],
    ["a drop", "drop"],
    ["a hang", "hang"],
  ])("is not asked about after %s", async (_row, scripted) => {
    gateway.routes.send.next(scripted);
    await ended(scripted, (client) => client.sendText(message));
    expect(gateway.routes.state.calls).toHaveLength(0);
  });

  test("a run that is given up meanwhile does not wait for the question", async () => {
    const shutdown = new AbortController();
    gateway.routes.send.next(refusal(500, "Timed Out"));
    gateway.routes.state.script = () => {
      shutdown.abort();
      return "hang";
    };
    expect(await client.sendText(message, shutdown.signal)).toEqual(unknown("gateway_http_500"));
  });
});

function stateAnswer(state: string): Scripted {
  return { status: 200, json: { instance: { instanceName: "ops", state } } };
}

const notOpen = (cause: string, isProved = false) => ({
  status: "not_open" as const,
  code: "sem_instancia_gateway",
  cause,
  isProved,
  stopsChannel: false,
  timedOut: false,
});

const passing = (cause: string, isProved = false) => ({
  ...notOpen(cause, isProved),
  isPassing: true as const,
});

describe("evolutionClient().checkInstance()", () => {
  test.each([
    ["open", { status: "open" as const }],
    ["close", passing("instance_close", true)],
    ["connecting", passing("instance_connecting", true)],
    ["refused", notOpen("instance_refused", true)],
    [null, passing("instance_not_loaded", true)],
  ])("the state %p", async (state, expected) => {
    gateway.instances.set("ops", state);
    expect(await client.checkInstance("ops")).toEqual(expected);
    expect(gateway.ledger[0]).toMatchObject({ method: "GET", path: "/gw/instance/connectionState/ops" });
    expect(gateway.unexpected).toHaveLength(0);
  });

  test("a business instance is open whatever its row says", async () => {
    gateway.integrations.set("ops", "WHATSAPP-BUSINESS");
    gateway.instances.set("ops", "close");
    expect(await client.checkInstance("ops")).toEqual({ status: "open" });
  });

  test.each<[string, Scripted, string, typeof notOpen?]>([
    ["500", { status: 500, json: { instance: { state: "open" } } }, "gateway_http_500"],
    ["302", { status: 302, json: { instance: { state: "open" } } }, "gateway_http_302"],
    ["502", { status: 502, text: "<html>" }, "gateway_http_502", passing],
    ["no instance", { status: 200, json: { state: "open" } }, "gateway_answer_unreadable"],
    ["another spelling", stateAnswer("OPEN"), "gateway_answer_unreadable"],
    ["text", { status: 200, text: "open" }, "gateway_answer_unreadable"],
    ["drop", "drop", "gateway_connection_lost", passing],
    ["break", "break_body", "gateway_connection_lost", passing],
    ["huge", "huge", "gateway_answer_unreadable"],
    ["not JSON", "not_json", "gateway_answer_unreadable"],
  ])("is not open for an unreadable answer: %s", async (_row, scripted, cause, as = notOpen) => {
    gateway.routes.state.next(scripted);
    expect(await client.checkInstance("ops")).toEqual(as(cause));
  });

  test("is not open for an instance that does not exist, and for a gateway that is away", async () => {
    expect(await client.checkInstance("gone")).toEqual(notOpen("instance_missing", true));
    expect(await client.checkInstance("..")).toEqual(notOpen("gateway_request_invalid"));
    const nobody = clientOf(`http://127.0.0.1:${await refusedPort()}`);
    expect(await nobody.checkInstance("ops")).toEqual(passing("gateway_unreachable"));
  });

  test("says when the gateway said nothing in time", async () => {
    gateway.routes.state.next("hang");
    const state = await ended("hang", (client) => client.checkInstance("ops"));
    expect(state).toEqual({ ...notOpen("gateway_timeout"), timedOut: true });
  });

  test("a refused key and a missing licence stop the channel", async () => {
    const refused = {
      status: "not_open" as const,
      code: "gateway_unauthorized",
      isProved: true,
      stopsChannel: true,
      timedOut: false,
    };
    const wrongKey = clientOf(gateway.url, "wrong");
    expect(await wrongKey.checkInstance("ops")).toEqual(refused);
    gateway.isLicensed = false;
    expect(await client.checkInstance("ops")).toEqual({ ...refused, code: "gateway_license_required" });
    // The licence is looked at first.
    expect(await wrongKey.checkInstance("gone")).toMatchObject({ code: "gateway_license_required" });
  });
});

describe("evolutionClient().listInstances()", () => {
  const unlisted = (code: string, stopsChannel = false) => ({
    status: "failed" as const,
    code,
    stopsChannel,
  });

  test("names what the key may see, and keeps nothing else of the rows", async () => {
    const all = await client.listInstances();
    expect(all).toEqual({ status: "ok", names: ["ops", "a/b c"] });
    expect(gateway.ledger[0]).toMatchObject({ method: "GET", path: "/gw/instance/fetchInstances" });
    const own = await clientOf(gateway.url, gateway.tokenOf("ops")).listInstances();
    expect(own).toEqual({ status: "ok", names: ["ops"] });
    gateway.instances.clear();
    expect(await client.listInstances()).toEqual({ status: "ok", names: [] });
  });

  test("a refused key and a missing licence stop the channel", async () => {
    const wrong = await clientOf(gateway.url, "wrong").listInstances();
    expect(wrong).toEqual(unlisted("gateway_unauthorized", true));
    gateway.isLicensed = false;
    expect(await client.listInstances()).toEqual(unlisted("gateway_license_required", true));
    const elsewhere = clientOf(`${gateway.url}/v9`, "wrong");
    expect(await elsewhere.listInstances()).toEqual(unlisted("gateway_license_required", true));
    expect(await elsewhere.sendText(message)).toEqual(failed("gateway_license_required", true));
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
    expect(await ended(scripted, (client) => client.listInstances())).toEqual(unlisted(code));
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
