import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type Gateway, startGateway } from "./gateway.ts";

const KEY = "canary-gateway-key";

let gateway: Gateway;
beforeEach(async () => {
  gateway = await startGateway({ adminKey: KEY });
});
afterEach(async () => await gateway.stop());

type Call = { key?: string; body?: string; type?: string };

async function call(path: string, { key = KEY, body, type = "application/json" }: Call = {}) {
  const headers = { apikey: key, "content-type": type };
  const init = body === undefined ? { headers } : { method: "POST", headers, body };
  const response = await fetch(gateway.url + path, init);
  return { status: response.status, json: await response.json() };
}

const TEXT = JSON.stringify({ number: "5511900000001", text: "Oi" });
const said = ({ status, json }: Awaited<ReturnType<typeof call>>) => [status, json.response?.message];
const send = (options: Call & { instance?: string } = {}) =>
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
