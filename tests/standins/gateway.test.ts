import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type Gateway, startGateway } from "./gateway.ts";

const KEY = "canary-gateway-key";

let gateway: Gateway;
beforeEach(async () => {
  gateway = await startGateway({ adminKey: KEY });
});
afterEach(async () => await gateway.stop());

async function call(path: string, { key = KEY, body }: { key?: string; body?: string } = {}) {
  const headers = { apikey: key, "content-type": "application/json" };
  const init = body === undefined ? { headers } : { method: "POST", headers, body };
  const response = await fetch(gateway.url + path, init);
  return { status: response.status, json: await response.json() };
}

const TEXT = JSON.stringify({ number: "5511900000001", text: "Oi" });
const said = ({ status, json }: Awaited<ReturnType<typeof call>>) => [status, json.response?.message];
const send = (options: { key?: string; body?: string; instance?: string } = {}) =>
  call(`/message/sendText/${options.instance ?? "ops"}`, { body: TEXT, ...options });

describe("startGateway() looks first at", () => {
  test("the body's JSON, then the licence, the route, the instance, the key, the body's schema", async () => {
    gateway.isLicensed = false;
    expect(said(await send({ body: "{", key: "wrong", instance: "gone" }))[0]).toBe(400);
    for (const path of [
      "/message/sendText/gone",
      "/instance/connectionState/ops",
      "/nowhere",
      "/instance/fetchInstances",
    ])
      expect(await call(path, { key: "wrong" })).toMatchObject({
        status: 503,
        json: { code: "LICENSE_REQUIRED" },
      });
    gateway.isLicensed = true;
    expect(said(await call("/nowhere", { key: "wrong" }))).toEqual([404, ["Cannot GET /nowhere"]]);
    expect(said(await send({ key: "wrong", instance: "gone" }))).toEqual([
      404,
      ['The "gone" instance does not exist'],
    ]);
    expect(said(await send({ key: "wrong", body: "{}" }))).toEqual([401, "Unauthorized"]);
    expect((await send({ body: "{}" })).status).toBe(400);
    expect(gateway.accepted).toHaveLength(0);
  });
});

describe("startGateway() sends nothing through", () => {
  test.each(["close", "connecting"])("a phone whose state is %s", async (state) => {
    await send();
    gateway.instances.set("ops", state);
    const other = JSON.stringify({ number: "5511900000002", text: "Oi" });
    expect(said(await send({ body: other }))).toEqual([500, "Connection Closed"]);
    // Known from the first send: missed only inside the second one.
    expect(said(await send())).toEqual([400, ["Error: Connection Closed"]]);
    expect(gateway.accepted).toHaveLength(1);
  });

  test("an instance that is not loaded, whose state it leaves out", async () => {
    gateway.instances.set("ops", null);
    expect(said(await send())[0]).toBe(500);
    const { json } = await call("/instance/connectionState/ops");
    expect(json).toEqual({ instance: { instanceName: "ops" } });
    expect(gateway.accepted).toHaveLength(0);
  });

  test("an account that Meta refuses, which has the status of a success", async () => {
    gateway.integrations.set("ops", "WHATSAPP-BUSINESS");
    gateway.metaError = { message: "(#190) expired", type: "OAuthException", code: 190 };
    expect(await send()).toEqual({ status: 201, json: gateway.metaError });
    expect(gateway.accepted).toHaveLength(0);
    gateway.metaError = null;
    expect((await send()).json.key.id).toMatch(/^wamid\./);
    expect(gateway.accepted).toHaveLength(1);
  });
});
