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

  test("a body that is not declared as JSON as if there were none", async () => {
    const nothing = [400, [['instance requires property "number"', 'instance requires property "text"']]];
    expect(said(await send({ type: "text/plain" }))).toEqual(nothing);
    expect(said(await send({ body: "[]" }))).toEqual(nothing);
    expect(said(await send({ body: '{"number":5511900000001,"text":"Oi"}' }))).toEqual([
      400,
      [["Invalid format"]],
    ]);
  });
});

describe("startGateway() keeps", () => {
  const find = (query: object) => call("/chat/findMessages/ops", { body: JSON.stringify(query) });

  test("a message under the number as it takes it, with or without the digit", async () => {
    const jids: string[] = [];
    for (const number of [
      "5511987654321",
      "5531987654321",
      "5531912345678",
      "5215512345678",
      "541112345678",
    ]) {
      const { json } = await send({ body: JSON.stringify({ number, text: "Oi" }) });
      jids.push(json.key.remoteJid.split("@")[0]);
    }
    expect(jids).toEqual(["5511987654321", "553187654321", "5531912345678", "525512345678", "541112345678"]);
  });

  test("nothing of a text that its database does not take, which it has sent", async () => {
    for (const text of ["a\0b", "a\ud800b"]) {
      const { status, json } = await send({ body: JSON.stringify({ number: "5511900000001", text }) });
      expect([status, json.response.message[0]]).toEqual([400, expect.stringContaining("message.create()")]);
    }
    expect([gateway.accepted.length, gateway.kept.length]).toEqual([2, 0]);
  });

  test("messages of one second in no order, so that pages do not add up to all", async () => {
    for (let i = 0; i < 30; i += 1) gateway.kept.push(rowOf(`M${String(i).padStart(2, "0")}`));
    const pages = [1, 2].map((page) => find({ where: {}, page, offset: 20 }));
    const ids = (await Promise.all(pages)).flatMap(({ json }) =>
      json.messages.records.map(({ key }: { key: { id: string } }) => key.id),
    );
    expect([ids.length, new Set(ids).size < 30]).toEqual([30, true]);
    const whole = (await find({ where: {}, page: 1, offset: 200 })).json.messages;
    expect([whole.total, whole.pages, whole.records.length]).toEqual([30, 1, 30]);
  });

  test.each([
    [{ where: [] }, "where is not of a type(s) object"],
    [{ where: { key: "x" } }, "where.key is not of a type(s) object"],
    [{ where: { key: { remoteJid: "" } } }, "The property cannot be empty"],
  ])("nothing for the question %j", async (query, problem) => {
    expect(said(await find(query))).toEqual([400, [[problem]]]);
  });
});

function rowOf(id: string) {
  return {
    instance: "ops",
    remoteJid: "5511900000001@s.whatsapp.net",
    id,
    text: "Oi",
    sentAt: 1_795_400_000,
  };
}
