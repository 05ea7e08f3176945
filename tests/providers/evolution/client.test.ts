import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import {
  EVOLUTION_SEND_TIMEOUT_MS,
  EVOLUTION_STATE_TIMEOUT_MS,
  evolutionClient,
} from "../../../lib/providers/evolution/client.ts";
import { isEndless, limitMsFor, play } from "../../cases/answer-case.ts";
import {
  INSTANCES_ANSWERS,
  META_CODES,
  metaError,
  NUMBER,
  refusal,
  SEND_ANSWERS,
  STATE_ANSWERS,
} from "../../cases/gateway-answers.ts";
import { type Gateway, startGateway } from "../../standins/gateway.ts";

const KEY = "canary-gateway-key";
const message = { instanceName: "ops", number: NUMBER, text: "Resumo da semana" };

let gateway: Gateway;
beforeEach(async () => {
  gateway = await startGateway({ adminKey: KEY, prefix: "/gw", instances: { ops: "open", "a/b c": "open" } });
});
afterEach(async () => await gateway.stop());

function clientOf(changes: { url?: string; key?: string; timeoutMs?: number } = {}) {
  const { url = gateway.url, key = KEY, ...limit } = changes;
  return evolutionClient({ baseUrl: new URL(`${url}/`), adminKey: new Secret(key), ...limit });
}

const failed = (code: string, stopsChannel = false) => ({ status: "failed" as const, code, stopsChannel });
const unknown = (code: string) => ({ status: "unknown" as const, code });

describe("evolutionClient().sendText()", () => {
  test("sends the text once, without a preview, and keeps the gateway's id", async () => {
    const outcome = await clientOf().sendText(message);
    expect(outcome).toEqual({ status: "sent", providerMessageId: gateway.accepted[0]!.id });
    expect(gateway.ledger[0]).toMatchObject({
      path: "/gw/message/sendText/ops",
      body: { number: NUMBER, text: message.text, linkPreview: false },
    });
    expect(gateway.ledger[0]?.headers.apikey).toBe(KEY);
    expect(gateway.accepted).toHaveLength(1);
  });

  test("encodes the instance's name, and sends nothing to one that no path can name", async () => {
    expect(await clientOf().sendText({ ...message, instanceName: "a/b c" })).toMatchObject({
      status: "sent",
    });
    expect(gateway.accepted[0]?.instance).toBe("a/b c");
    for (const instanceName of ["", ".", ".."])
      expect(await clientOf().sendText({ ...message, instanceName })).toEqual(
        failed("gateway_request_invalid"),
      );
    expect(gateway.ledger).toHaveLength(1);
  });

  test.each(SEND_ANSWERS)("is answered with: $name", async ({ answer, becomes }) => {
    const url = await play(gateway, gateway.routes.send, answer);
    const outcome = await clientOf({ url, timeoutMs: limitMsFor(answer) }).sendText(message);
    expect(outcome).toEqual(becomes);
    expect(gateway.routes.send.calls).toHaveLength(answer === "nobody_listens" ? 0 : 1);
    expect(gateway.accepted).toHaveLength(typeof answer === "object" && "accept" in answer ? 1 : 0);
    expect(JSON.stringify(outcome)).not.toContain(NUMBER);
    // The instance's state can only explain a 400 or 500 that proves nothing.
    const isAsked = becomes.status === "unknown" && /_http_[45]00$/.test(becomes.code) && !becomes.channel;
    expect(gateway.routes.state.calls).toHaveLength(isAsked ? 1 : 0);
  });

  test("a failure of a gateway without its database is known to be before a send or after it", async () => {
    gateway.hasDatabase = false;
    const notSent = { status: "throttled", code: "gateway_database_failed", retryAfterMs: 10_000 } as const;
    expect(await clientOf().sendText(message)).toEqual(notSent);
    expect(await clientOf().sendText({ ...message, instanceName: "gone" })).toEqual(notSent);
    expect(await clientOf().checkInstance("ops")).toEqual({ status: "open" });
    expect(await clientOf().listInstances()).toEqual(failed("gateway_database_failed"));
    const own = clientOf({ key: gateway.tokenOf("ops") });
    expect(await own.sendText(message)).toEqual(failed("gateway_unauthorized", true));
    gateway.integrations.set("ops", "WHATSAPP-BUSINESS");
    expect(await clientOf().sendText(message)).toEqual(unknown("gateway_http_400"));
    expect(gateway.accepted).toHaveLength(1);
  });

  test("waits longer than the gateway for WhatsApp, and leaves room in a claim of five minutes", () => {
    expect(EVOLUTION_SEND_TIMEOUT_MS).toBeGreaterThan(60_000);
    expect(EVOLUTION_SEND_TIMEOUT_MS + EVOLUTION_STATE_TIMEOUT_MS).toBeLessThan(100_000);
  });

  test("knows that nothing was sent when the run was aborted before, and not afterwards", async () => {
    expect(await clientOf().sendText(message, AbortSignal.abort())).toEqual(failed("gateway_aborted"));
    const shutdown = new AbortController();
    gateway.routes.send.script = () => {
      shutdown.abort();
      return { accept: "hang" };
    };
    expect(await clientOf().sendText(message, shutdown.signal)).toEqual(unknown("gateway_aborted"));
  });
});

describe("evolutionClient().sendText() through an instance of Meta's", () => {
  const rows = META_CODES.flatMap(([verdict, codes, becomes]) =>
    codes.map((code) => ({ code, verdict, becomes: becomes(`meta_${code}`) })),
  );

  test.each(rows)("Meta's $code $verdict", async ({ code, becomes }) => {
    gateway.integrations.set("ops", "WHATSAPP-BUSINESS");
    gateway.metaError = metaError({ code }).json as object;
    expect(await clientOf().sendText(message)).toEqual(becomes);
    expect(gateway.accepted).toHaveLength(0);
    expect(gateway.routes.state.calls).toHaveLength(0);
  });

  test("takes nothing for sent without an id, and no code that is not listed for a refusal", async () => {
    const proving = META_CODES.filter(([verdict]) => verdict !== "proves nothing");
    const listed = new Set(proving.flatMap(([, codes]) => codes));
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
        const outcome = await clientOf().sendText(message);
        expect(outcome.status).not.toBe("sent");
        if (outcome.status === "unknown" || outcome.status === "sent") return;
        const code = Number(/^meta_(\d+)$/.exec(outcome.code)?.[1]);
        expect(listed.has(code) || (code >= 200 && code <= 299)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });
});

describe("evolutionClient() asks for the instance's state", () => {
  test.each(STATE_ANSWERS)("a check answered with: $name", async ({ answer, becomes }) => {
    const url = await play(gateway, gateway.routes.state, answer);
    const check = await clientOf({ url, timeoutMs: limitMsFor(answer) }).checkInstance("ops");
    const { isProved = false, stopsChannel = false, ...fault } = becomes === "open" ? {} : becomes;
    const closed = { status: "not_open", ...fault, isProved, stopsChannel, timedOut: isEndless(answer) };
    expect(check).toEqual(becomes === "open" ? { status: "open" } : (closed as typeof check));
    const asked = gateway.ledger.map(({ method, path }) => `${method} ${path}`);
    const question = "GET /gw/instance/connectionState/ops";
    // A question is repeatable: where a connection that was kept turns out to be closed, the runtime asks again.
    expect(new Set(asked)).toEqual(new Set(answer === "nobody_listens" ? [] : [question]));
  });

  test.each(STATE_ANSWERS.filter(({ answer }) => answer !== "nobody_listens"))(
    "a check after a failed send names the channel's state as the gateway itself does: $name",
    async ({ answer, becomes }) => {
      gateway.routes.send.next(refusal(500, "Timed Out"));
      gateway.routes.state.next(answer as Exclude<typeof answer, "nobody_listens">);
      const limit = isEndless(answer) ? { timeoutMs: 2_000 } : {};
      const outcome = await clientOf(limit).sendText(message);
      const { isProved, stopsChannel: _, ...channel } = becomes === "open" ? {} : becomes;
      expect(outcome).toEqual({
        ...unknown("gateway_http_500"),
        ...(isProved && { channel }),
      } as typeof outcome);
      expect(gateway.routes.send.calls).toHaveLength(1);
    },
  );

  test("a check after a send to a known number that failed with a 400 names the closed instance", async () => {
    expect(await clientOf().sendText(message)).toMatchObject({ status: "sent" });
    gateway.instances.set("ops", "close");
    const channel = { code: "sem_instancia_gateway", cause: "instance_close", isPassing: true };
    const outcome = await clientOf().sendText(message);
    expect(outcome).toMatchObject({ status: "unknown", code: "gateway_http_400", channel });
  });

  test("an instance of Meta's is open whatever its row says", async () => {
    gateway.integrations.set("ops", "WHATSAPP-BUSINESS");
    gateway.instances.set("ops", "close");
    expect(await clientOf().checkInstance("ops")).toEqual({ status: "open" });
  });

  test("a check does not wait for its answer when the run is stopped meanwhile", async () => {
    const shutdown = new AbortController();
    gateway.routes.send.next(refusal(500, "Timed Out"));
    gateway.routes.state.script = () => {
      shutdown.abort();
      return "hang";
    };
    expect(await clientOf().sendText(message, shutdown.signal)).toEqual(unknown("gateway_http_500"));
  });
});

describe("evolutionClient().listInstances()", () => {
  test.each(INSTANCES_ANSWERS)("is answered with: $name", async ({ answer, becomes }) => {
    const url = await play(gateway, gateway.routes.instances, answer);
    const listed = await clientOf({ url, timeoutMs: limitMsFor(answer) }).listInstances();
    expect(listed).toEqual(becomes);
    expect(JSON.stringify(listed)).not.toContain("canary");
  });

  test("names what the key may see", async () => {
    expect(await clientOf().listInstances()).toEqual({ status: "ok", names: ["ops", "a/b c"] });
    expect(gateway.ledger[0]).toMatchObject({ method: "GET", path: "/gw/instance/fetchInstances" });
    const own = clientOf({ key: gateway.tokenOf("ops") });
    expect(await own.listInstances()).toEqual({ status: "ok", names: ["ops"] });
  });

  test("logs neither the key nor a token", async () => {
    const records: unknown[] = [];
    const onCall = (record: unknown) => records.push(record);
    const logged = evolutionClient({ baseUrl: new URL(gateway.url), adminKey: new Secret(KEY), onCall });
    const listed = await logged.listInstances();
    expect(records).toHaveLength(1);
    expect(JSON.stringify([records, listed])).not.toContain(KEY);
    expect(JSON.stringify([records, listed])).not.toContain(gateway.tokenOf("ops"));
  });
});
