import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { askMessageStatus } from "../../../lib/providers/evolution/message-status.ts";
import { PendingMessages } from "../../../lib/webhook/watch/pending-messages.ts";
import { type Gateway, startGateway } from "../../standins/gateway.ts";
import { endOf } from "../../standins/given-up.ts";
import type { Scripted } from "../../standins/standin.ts";

const KEY = "canary-gateway-key";
const DAY_MS = 86_400_000;
const signal = new AbortController().signal;

let gateway: Gateway;
/** The newest first; `young` are too young to be pending, `old` are older than a day. */
let ids: string[];
let young: string[];
let old: string[];
let between: [number, number][];
beforeEach(async () => {
  gateway = await startGateway({ adminKey: KEY });
  ids = [];
  young = [];
  old = [];
  between = [];
});
afterEach(async () => await gateway.stop());

const ask = (key = KEY, timeoutMs = 60_000) =>
  askMessageStatus({ baseUrl: new URL(gateway.url), adminKey: new Secret(key), timeoutMs });
const keep = (id: string, ...statuses: string[]) =>
  void gateway.kept.push({
    instance: "ops",
    remoteJid: "5511912345678@s.whatsapp.net",
    id,
    text: "text",
    sentAt: 1,
    statuses,
  });

describe("askMessageStatus()", () => {
  const one = (id: string) => ask()({ instanceName: "ops", id });

  test.each([
    ["SERVER_ACK", "settled"],
    ["DELIVERY_ACK", "settled"],
    ["READ", "settled"],
    ["PLAYED", "settled"],
    ["DELETED", "settled"],
    ["ERROR", "returned"],
    ["PENDING", "pending"],
    ["SOMETHING_NEW", "pending"],
  ])("%s is %s", async (said, status) => {
    keep("other", "READ");
    keep("id", said);
    expect(await one("id")).toEqual({ status } as never);
  });

  test("an error beside an acknowledgement returns nothing: the message arrived", async () => {
    keep("id", "ERROR", "DELIVERY_ACK");
    expect(await one("id")).toEqual({ status: "settled" });
  });

  test("a message with no word of WhatsApp is pending, one that the gateway does not keep is not known", async () => {
    keep("id");
    expect(await one("id")).toEqual({ status: "pending" });
    expect(await one("never")).toEqual({ status: "absent" });
  });

  test("reads no other message's status where the gateway ignores the question's id", async () => {
    const record = { key: { id: "other" }, MessageUpdate: [{ status: "READ" }] };
    gateway.routes.messages.next({ status: 200, json: { messages: { records: [record] } } });
    expect(await one("id")).toEqual({ status: "absent" });
  });

  test.each<[Scripted, string]>([
    ["hang", "gateway_timeout"],
    ["drop", "gateway_connection_lost"],
    ["not_json", "gateway_answer_unreadable"],
    [{ status: 200, json: { messages: [] } }, "gateway_answer_unreadable"],
    [{ status: 500, json: {} }, "gateway_http_500"],
  ])("%p is no answer", async (fault, code) => {
    gateway.routes.messages.next(fault);
    const status = await endOf(gateway, fault, (limitMs) =>
      ask(KEY, limitMs)({ instanceName: "ops", id: "id" }),
    );
    expect(status).toEqual({ status: "unknown", code });
  });

  test("names what the gateway refuses", async () => {
    expect(await ask("wrong")({ instanceName: "ops", id: "id" })).toEqual({
      status: "unknown",
      code: "gateway_unauthorized",
    });
  });
});

const pending = () =>
  new PendingMessages({
    state: {
      async deliveredBetween(newer, older) {
        between.push([newer, older]);
        if (older === DAY_MS) return old;
        return older < 600_000 ? [...young, ...ids] : ids;
      },
    },
    ask: () => (id, stop) => ask()({ instanceName: "ops", id }, stop),
  });

describe("PendingMessages", () => {
  test("counts what WhatsApp has not acknowledged, ten minutes to a day old", async () => {
    const messages = pending();
    expect(messages.count).toBeNull();
    ids = ["c", "b", "a"];
    keep("a", "READ");
    keep("b");
    keep("c");
    await messages.look(signal);
    expect(messages.count).toBe(2);
    expect(between).toEqual([
      [DAY_MS, 120_000],
      [DAY_MS, 600_000],
      [30 * DAY_MS, DAY_MS],
    ]);
    gateway.kept.find(({ id }) => id === "b")!.statuses = ["PENDING", "SERVER_ACK"];
    await messages.look(signal);
    expect(messages.count).toBe(1);
    ids = ["b", "a"];
    await messages.look(signal);
    expect(messages.count).toBe(0);
  });

  test("counts what WhatsApp gave back: with a restricted account the gateway takes all and nothing arrives", async () => {
    const messages = pending();
    ids = ["b", "a"];
    keep("a", "ERROR");
    keep("b", "PENDING", "ERROR");
    await messages.look(signal);
    expect(messages.count).toBe(2);
    gateway.kept.find(({ id }) => id === "b")!.statuses = ["ERROR", "READ"];
    await messages.look(signal);
    expect(messages.count).toBe(1);
  });

  test("is not known at a gateway that keeps no messages, or no acknowledgements", async () => {
    const messages = pending();
    ids = ["b", "a"];
    await messages.look(signal);
    expect(messages.count).toBeNull();
    keep("a");
    keep("b");
    await messages.look(signal);
    expect(messages.count).toBeNull();
  });

  test("still knows after a day of nothing but pending ones that acknowledgements are kept", async () => {
    const messages = pending();
    ids = ["a"];
    keep("a", "READ");
    await messages.look(signal);
    ids = ["c", "b"];
    keep("b");
    keep("c");
    await messages.look(signal);
    expect(messages.count).toBe(2);
  });

  test("asks about a settled message once, and about fifty at most in a round", async () => {
    const messages = pending();
    ids = Array.from({ length: 120 }, (_, at) => `m${at}`);
    for (const [at, id] of ids.entries()) keep(id, ...(at < 60 ? [] : ["READ"]));
    const asked = () => gateway.routes.messages.calls.length;
    const perRound: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      const before = asked();
      await messages.look(signal);
      perRound.push(asked() - before);
    }
    expect(Math.max(...perRound)).toBe(50);
    expect(messages.count).toBe(60);
    const questions = gateway.routes.messages.calls.map(({ body }) => JSON.stringify(body));
    const ofSettled = questions.filter((question) => question.includes('"m100"'));
    expect(ofSettled).toHaveLength(1);
  });

  test("asks about all pending ones in turn", async () => {
    const messages = pending();
    ids = Array.from({ length: 70 }, (_, at) => `m${at}`);
    for (const id of ids) keep(id);
    for (let round = 0; round < 5; round += 1) await messages.look(signal);
    keep("last", "READ");
    ids = [...ids, "last"];
    for (const row of gateway.kept) row.statuses = ["READ"];
    for (let round = 0; round < 3; round += 1) await messages.look(signal);
    expect(messages.count).toBe(0);
  });

  test("is not known while the gateway does not answer, nor where another process sends", async () => {
    const messages = pending();
    ids = ["b", "a"];
    keep("a", "READ");
    keep("b");
    await messages.look(signal);
    expect(messages.count).toBe(1);
    gateway.routes.messages.next("drop");
    await messages.look(signal);
    expect(messages.count).toBeNull();
    await messages.look(signal);
    expect(messages.count).toBe(1);
    messages.forget();
    expect(messages.count).toBeNull();
  });
});

describe("PendingMessages.newest", () => {
  const acknowledge = (id: string) => {
    gateway.kept.find((row) => row.id === id)!.statuses = ["SERVER_ACK"];
  };

  test("are the ones in a row that are not acknowledged, from two minutes on, until a newer one is", async () => {
    const messages = pending();
    [young, ids] = [
      ["d", "c"],
      ["b", "a"],
    ];
    keep("a", "READ");
    keep("b", "ERROR");
    keep("c");
    keep("d");
    await messages.look(signal);
    expect(messages.newest).toEqual(["d", "c", "b"]);
    expect(messages.count).toBe(1);
    young = ["e", "d", "c"];
    keep("e", "DELIVERY_ACK");
    await messages.look(signal);
    expect(messages.newest).toEqual([]);
    young = ["f", "e", "d", "c"];
    keep("f");
    await messages.look(signal);
    expect(messages.newest).toEqual(["f"]);
  });

  test("a lost acknowledgement between others, and what the gateway does not know, make no row", async () => {
    const messages = pending();
    ids = ["c", "b", "a"];
    keep("c", "READ");
    keep("b");
    keep("a", "READ");
    await messages.look(signal);
    expect(messages.newest).toEqual([]);
    young = ["z", "y", "x"];
    await messages.look(signal);
    expect(messages.newest).toEqual([]);
  });

  test("stay while the gateway does not answer, and are not known where another process sends", async () => {
    const messages = pending();
    ids = ["c", "b", "a"];
    keep("a", "READ");
    keep("b");
    keep("c");
    gateway.routes.messages.next("drop");
    await messages.look(signal);
    expect(messages.newest).toBeNull();
    await messages.look(signal);
    expect(messages.newest).toEqual(["c", "b"]);
    gateway.routes.messages.next("drop");
    await messages.look(signal);
    expect([messages.newest, messages.count]).toEqual([["c", "b"], null]);
    messages.forget();
    expect(messages.newest).toBeNull();
  });

  test("are not known at a gateway that keeps no messages, or no acknowledgements", async () => {
    const messages = pending();
    [ids, old] = [["c", "b", "a"], ["o"]];
    await messages.look(signal);
    expect(messages.newest).toBeNull();
    const other = pending();
    for (const id of [...ids, ...old]) keep(id);
    for (let look = 0; look < 3; look += 1) await other.look(signal);
    expect(other.newest).toBeNull();
    // What is older than a day is asked about once.
    const questions = gateway.routes.messages.calls.map(({ body }) => JSON.stringify(body));
    expect(questions.filter((question) => question.includes('"o"'))).toHaveLength(2);
  });

  test("stay when they are older than a day, and end with the first that is acknowledged", async () => {
    const messages = pending();
    ids = ["d", "c", "b", "a"];
    keep("a", "READ");
    for (const id of ["b", "c", "d"]) keep(id);
    await messages.look(signal);
    expect(messages.newest).toHaveLength(3);
    ids = [];
    await messages.look(signal);
    expect([messages.newest, messages.count]).toEqual([["d", "c", "b"], 0]);
    young = ["e"];
    keep("e");
    await messages.look(signal);
    expect(messages.newest).toEqual(["e", "d", "c", "b"]);
    acknowledge("e");
    await messages.look(signal);
    expect(messages.newest).toEqual([]);
  });

  test("are found again after a restart, also when the last acknowledgement is older than a day", async () => {
    [young, ids, old] = [["e"], ["d"], ["c", "b", "a"]];
    keep("a", "READ");
    for (const id of ["b", "c", "d", "e"]) keep(id);
    const messages = pending();
    await messages.look(signal);
    expect(messages.newest).toEqual(["e", "d", "c", "b"]);
    const asked = gateway.routes.messages.calls.length;
    await messages.look(signal);
    expect(messages.newest).toEqual(["e", "d", "c", "b"]);
    // Only those of the day are asked about again.
    expect(gateway.routes.messages.calls.length - asked).toBe(2);
  });

  test("need no question more than those about messages that are not settled", async () => {
    const messages = pending();
    [young, ids] = [["b"], ["a"]];
    keep("a", "READ");
    keep("b", "READ");
    for (let look = 0; look < 5; look += 1) await messages.look(signal);
    expect(gateway.routes.messages.calls).toHaveLength(2);
  });
});
