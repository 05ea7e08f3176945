import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Secret } from "../../../../lib/platform/secrets/secret.ts";
import { evolutionClient } from "../../../../lib/providers/evolution/client.ts";
import type { Attempt } from "../../../../lib/webhook/delivery/attempts/attempt.ts";
import { messageAttempt } from "../../../../lib/webhook/delivery/attempts/send-alert.ts";
import { type Gateway, startGateway } from "../../../standins/gateway.ts";
import { dueRow } from "../../support/due-row.ts";
import { retry } from "../../support/retry.ts";

const KEY = "canary-gateway-key";
const ROW = dueRow({ text: "text" });

let gateway: Gateway;
let attempt: Attempt;
let forgotten: number;
beforeAll(async () => {
  gateway = await startGateway({ adminKey: KEY });
  const client = evolutionClient({ baseUrl: new URL(gateway.url), adminKey: new Secret(KEY) });
  const forget = () => {
    forgotten += 1;
  };
  const findInstance = async () => ({ status: "found" as const, name: "ops", forget });
  attempt = messageAttempt({ gateway: client, findInstance, phone: "5511912345678" });
});
beforeEach(() => {
  forgotten = 0;
  gateway.hasDatabase = true;
  gateway.instances.clear();
  gateway.instances.set("ops", "open");
});
afterAll(async () => await gateway.stop());

const send = () => attempt(ROW, new AbortController().signal);
const unclear = { knownAfterMs: 5_000 };

describe("messageAttempt()", () => {
  test.each<[number, object]>([
    ...[190, 10, 200, 250, 299, 368, 131031, 0, 131005, 131042, 133010].map((code): [number, object] => [
      code,
      { stopsChannel: true },
    ]),
    ...[130429, 131056].map((code): [number, object] => [code, { peerDown: true, retryAfterMs: 6_000 }]),
    ...[4, 80007, 131048].map((code): [number, object] => [code, { peerDown: true, retryAfterMs: 30_000 }]),
    ...[131026, 131030, 100, 131047].map((code): [number, object] => [code, {}]),
    ...[1, 2, 131000, 131016, 987_654].map((code): [number, object] => [code, { peerDown: true, unclear }]),
  ])("Meta's %i", async (code, more) => {
    gateway.routes.send.next({ status: 201, json: { message: "no", type: "OAuthException", code } });
    expect(await send()).toEqual(retry(`meta_${code}`, more));
    expect(forgotten).toBe(0);
  });

  test.each([
    [150, 150_000],
    [300, 300_000],
    [3_600, 300_000],
  ])(
    "a proxy that asks for %i s of patience gets %i ms: an alert waits no hour at its word",
    async (asked, ms) => {
      gateway.routes.send.next({ status: 429, json: {}, headers: { "retry-after": String(asked) } });
      expect(await send()).toEqual(retry("gateway_http_429", { peerDown: true, retryAfterMs: ms }));
    },
  );

  test("a gateway without its database has sent nothing: there is no doubt", async () => {
    gateway.hasDatabase = false;
    const expected = retry("gateway_database_failed", { peerDown: true, retryAfterMs: 10_000 });
    for (let again = 0; again < 5; again += 1) expect(await send()).toEqual(expected as never);
    expect(gateway.accepted).toEqual([]);
  });

  test.each([
    ["close", "instance_close", { unanswered: { knownAfterMs: 5_000 } }],
    ["connecting", "instance_connecting", { unanswered: { knownAfterMs: 5_000 } }],
    [null, "instance_not_loaded", { unclear }],
  ])(
    "an instance whose state is %p stops the channel, and its name is looked for again",
    async (state, cause, more) => {
      gateway.instances.set("ops", state);
      const expected = retry("sem_instancia_gateway", { cause, peerDown: true, stopsChannel: true, ...more });
      expect(await send()).toEqual(expected as never);
      expect(forgotten).toBe(1);
    },
  );

  test.each([
    [502, 5_000],
    [503, 5_000],
    [504, 35_000],
  ])("a proxy's bare %i is an outage, after which the message can be found in %i ms", async (status, ms) => {
    gateway.routes.send.next({ accept: { status, text: "<html>Away</html>" } });
    const expected = retry(`gateway_http_${status}`, { peerDown: true, unanswered: { knownAfterMs: ms } });
    expect(await send()).toEqual(expected as never);
    const own = { status, error: "x", response: { message: ["Error: x"] } };
    gateway.routes.send.next({ accept: { status, json: own } });
    expect(await send()).toEqual(retry(`gateway_http_${status}`, { peerDown: true, unclear }));
  });

  test.each([
    ["breaks off", "gateway_connection_lost", "<html>"],
    ["is too large", "gateway_answer_unreadable", "x".repeat(1_100_000)],
  ])(
    "a proxy's 504 whose page %s is an outage after which the message is looked for, too",
    async (_how, code, page) => {
      const server = createServer((request, response) => {
        request.resume();
        request.on("end", () => {
          response.writeHead(504, { "content-length": String(Math.max(1_000, page.length)) });
          response.write(page, () => (page.length < 1_000 ? request.socket.destroy() : response.end()));
        });
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      try {
        const { port } = server.address() as AddressInfo;
        const baseUrl = new URL(`http://127.0.0.1:${port}`);
        const findInstance = async () => ({ status: "found" as const, name: "ops" });
        const client = evolutionClient({ baseUrl, adminKey: new Secret(KEY) });
        const result = await messageAttempt({ gateway: client, findInstance, phone: "5511912345678" })(
          ROW,
          new AbortController().signal,
        );
        const unanswered = { knownAfterMs: 35_000 };
        expect(result).toEqual(retry(code, { peerDown: true, unanswered }));
      } finally {
        server.close();
      }
    },
  );

  test.each([301, 401, 403, 404, 405, 407])("a proxy's bare %i passed nothing on", async (status) => {
    gateway.routes.send.next({ status, text: "No" });
    expect(await send()).toEqual(retry(`gateway_http_${status}`, { peerDown: true }));
  });

  test("a connection that was closed before the send is no doubt, though the state is open", async () => {
    gateway.routes.send.next({ status: 500, json: { response: { message: "Connection Closed" } } });
    const unanswered = { knownAfterMs: 5_000 };
    expect(await send()).toEqual(retry("gateway_connection_closed", { peerDown: true, unanswered }));
  });

  test("an instance that is open, or of which nothing can be learnt, stops nothing", async () => {
    const failure = { status: 500, json: { response: { message: "Timed Out" } } };
    gateway.routes.send.next(failure, failure);
    expect(await send()).toEqual(retry("gateway_http_500", { peerDown: true, unclear }));
    gateway.routes.state.next("not_json");
    expect(await send()).toEqual(retry("gateway_http_500", { peerDown: true, unclear }));
    expect(forgotten).toBe(0);
  });
});
