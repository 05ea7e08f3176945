import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { LookUpResult } from "../../../../lib/webhook/delivery/attempts/attempt.ts";
import { messageLookUp } from "../../../../lib/webhook/delivery/attempts/look-up.ts";
import type { Gateway, KeptRow } from "../../../standins/gateway.ts";
import { endOf } from "../../../standins/given-up.ts";
import type { Scripted } from "../../../standins/standin.ts";
import { until } from "../../../support/until.ts";
import {
  type LookUpFixture,
  PHONE,
  lookedUpRow as row,
  startLookUpFixture,
  LOOKED_UP_TEXT as TEXT,
} from "../../support/look-up-fixture.ts";
import { MINUTE_MS, START_MS } from "../../support/state-fixture.ts";

let fixture: LookUpFixture;
let gateway: Gateway;
let nowMs: number;
let held: Set<string>;
beforeAll(async () => {
  fixture = await startLookUpFixture();
  gateway = fixture.gateway;
});
beforeEach(() => {
  nowMs = START_MS + MINUTE_MS;
  held = new Set();
  fixture.reset();
});
afterAll(async () => await fixture.stop());

const lookUp = (timeoutMs?: number) =>
  fixture.lookUpWith(
    {
      heldReferences: async (kind, ids) =>
        new Set(kind === "message" ? ids.filter((id) => held.has(id)) : []),
      nowMs: () => nowMs,
    },
    timeoutMs,
  );

function keep(changes: Partial<KeptRow> = {}): void {
  const sentAt = Math.floor(START_MS / 1_000) + 1;
  const remoteJid = `${PHONE}@s.whatsapp.net`;
  gateway.kept.push({ instance: "ops", remoteJid, id: "3EB0A", text: TEXT, sentAt, ...changes });
}

const ask = (look = lookUp(), which = row()) => look(which, new AbortController().signal);
const NOT_FOUND = { status: "not_found" } as const;
const FOUND = { status: "delivered", reference: "3EB0A", url: null } as const;

describe("messageLookUp()", () => {
  test.each<[string, Partial<KeptRow>]>([
    ["the very message", {}],
    ["one to the number without its extra digit", { remoteJid: "551187654321@s.whatsapp.net" }],
    ["one that the gateway's clock puts a little earlier", { sentAt: Math.floor(START_MS / 1_000) - 30 }],
    ["one that a clock hours ahead of ours puts late", { sentAt: Math.floor(START_MS / 1_000) + 23 * 3_600 }],
    ["one that WhatsApp took", { statuses: ["ERROR", "SERVER_ACK"] }],
  ])("finds %s", async (_what, kept) => {
    keep({ id: "another", text: "Another" });
    keep(kept);
    expect(await ask()).toEqual(FOUND);
  });

  test.each<[string, Partial<KeptRow>]>([
    ["another text", { text: `${TEXT} ` }],
    ["another number", { remoteJid: "5511999999999@s.whatsapp.net" }],
    ["a message of long before", { sentAt: Math.floor(START_MS / 1_000) - 120 }],
    ["a message that was received", { fromMe: false }],
    ["a message that WhatsApp gave back", { statuses: ["PENDING", "ERROR"] }],
  ])("does not take %s", async (_what, kept) => {
    keep(kept);
    expect(await ask()).toEqual(NOT_FOUND);
  });

  test("takes no message that another row has, nor one that another row is just being given", async () => {
    keep();
    held.add("3EB0A");
    expect(await ask()).toEqual(NOT_FOUND);
    held.clear();
    const look = lookUp();
    expect(await ask(look)).toEqual(FOUND);
    expect(await ask(look, row({ id: 2 }))).toEqual(NOT_FOUND);
    // The same row again, when its end could not be recorded.
    expect(await ask(look)).toEqual(FOUND);
    keep({ id: "3EB0B" });
    expect(await ask(look, row({ id: 2 }))).toEqual({ ...FOUND, reference: "3EB0B" });
  });

  test.each<[string, number]>([
    ["of the first attempt", START_MS + 20_000],
    ["of the latest attempt", START_MS + 58 * MINUTE_MS],
  ])("finds the message %s among more than the gateway gives at once", async (_what, sentAtMs) => {
    nowMs = START_MS + 60 * MINUTE_MS;
    keep({ sentAt: Math.floor(sentAtMs / 1_000) });
    // A flood, at the usual pace of one message each two seconds.
    for (let at = 0; at < 1_800; at += 1)
      keep({ id: `3EB1${at}`, text: "Another", sentAt: START_MS / 1_000 + 2 * at });
    expect(await ask()).toEqual(FOUND);
  });

  test.each<[Scripted, LookUpResult]>([
    ["hang", NOT_FOUND],
    ["not_json", NOT_FOUND],
    ["drop", { status: "unanswered", code: "gateway_connection_lost" }],
    [
      { status: 502, text: "" },
      { status: "unanswered", code: "gateway_http_502" },
    ],
    [
      {
        status: 500,
        json: { response: { message: "\nInvalid `prisma.message.count()` invocation:\n\n\nCan't reach" } },
      },
      { status: "unanswered", code: "gateway_database_failed" },
    ],
    [{ status: 500, json: { response: { message: "Internal" } } }, NOT_FOUND],
  ])("proves nothing when the gateway cannot be asked (%p), and asks no further", async (fault, answer) => {
    keep();
    const asked = gateway.routes.messages.calls.length;
    gateway.routes.messages.script = () => fault;
    expect(await endOf(gateway, fault, (limitMs) => ask(lookUp(limitMs)))).toEqual(answer);
    expect(gateway.routes.messages.calls.length - asked).toBe(1);
  });

  test.each<[string, LookUpResult]>([
    ["gateway_unreachable", { status: "unanswered", code: "gateway_unreachable" }],
    ["sem_instancia_gateway", NOT_FOUND],
  ])("asks nothing without an instance (%s)", async (code, answer) => {
    const look = messageLookUp({
      find: () => Promise.reject(new Error("Asked without an instance")),
      findInstance: async () => ({ status: "failed", code, stopsChannel: false }),
      phone: PHONE,
      heldReferences: async () => new Set(),
      nowMs: () => nowMs,
    });
    expect(await ask(look)).toEqual(answer);
  });

  test("asks nothing about a row of which it is not known when it was sent", async () => {
    keep();
    const asked = gateway.routes.messages.calls.length;
    expect(await ask(lookUp(), row({ unclear: 3, firstBegunAtMs: null }))).toEqual(NOT_FOUND);
    expect(gateway.routes.messages.calls.length).toBe(asked);
  });

  test("has asked nothing when the service ends meanwhile: the next one asks, before a row is left in doubt", async () => {
    keep();
    gateway.routes.messages.script = () => "hang";
    const ends = new AbortController();
    const asking = lookUp()(row({ unclear: 3 }), ends.signal);
    await until("the gateway is asked", () => gateway.hanging > 0);
    ends.abort();
    const aborted = { status: "unanswered", code: "gateway_aborted" } as const;
    expect(await asking).toEqual(aborted);
    expect(await lookUp()(row({ unclear: 3 }), ends.signal)).toEqual(aborted);
  });
});

describe("messageLookUp() of a row that was sent too often without a clear answer", () => {
  const doubtful = row({ unclear: 3 });
  const ofUs = (minutesBefore: number) => {
    const sentAt = Math.floor(START_MS / 1_000) - 60 * minutesBefore;
    keep({ id: "3EB0F", text: "Another", sentAt });
    held.add("3EB0F");
  };

  test.each([0, 3, 50, 20 * 60])(
    "says that it is absent when the gateway keeps a message of ours, %d minutes older",
    async (minutes) => {
      ofUs(minutes);
      expect(await ask(lookUp(), doubtful)).toEqual({ status: "absent" });
      // What is sent again anyhow costs no questions more.
      expect(await ask()).toEqual(NOT_FOUND);
    },
  );

  test("proves nothing when the gateway keeps nothing of ours, or of another day", async () => {
    expect(await ask(lookUp(), doubtful)).toEqual(NOT_FOUND);
    keep({ id: "by hand", text: "Another" });
    expect(await ask(lookUp(), doubtful)).toEqual(NOT_FOUND);
    ofUs(25 * 60);
    expect(await ask(lookUp(), doubtful)).toEqual(NOT_FOUND);
  });

  test("proves nothing when another row has a message with the same text", async () => {
    ofUs(1);
    keep();
    held.add("3EB0A");
    expect(await ask(lookUp(), doubtful)).toEqual(NOT_FOUND);
  });

  test.each<[string, number]>([
    ["before the first attempt", 22 * 60],
    ["since the first attempt", 30],
  ])(
    "proves nothing with a message of ours of %s, when our clock is two hours ahead",
    async (_when, minutes) => {
      nowMs = START_MS + 95 * MINUTE_MS;
      // By the gateway's clock the row's own message is two hours older than its first attempt.
      keep({ sentAt: Math.floor(START_MS / 1_000) - 2 * 3_600 + 1 });
      ofUs(minutes);
      expect(await ask(lookUp(), doubtful)).toEqual(NOT_FOUND);
    },
  );

  test("proves nothing when our clock was set back by hours since the first attempt", async () => {
    nowMs = START_MS - 3 * 60 * MINUTE_MS;
    keep({ sentAt: Math.floor(START_MS / 1_000) - 3 * 3_600 });
    // Delivered an hour later.
    ofUs(2 * 60);
    expect(await ask(lookUp(), { ...doubtful, triedMs: 60 * MINUTE_MS })).toEqual(NOT_FOUND);
  });

  test("finds it also where the gateway's clock is far off", async () => {
    ofUs(1);
    keep({ sentAt: Math.floor(START_MS / 1_000) - 40 * 60 });
    expect(await ask(lookUp(), doubtful)).toEqual(FOUND);
  });

  test("proves nothing of a time with more messages than the gateway gives at once", async () => {
    nowMs = START_MS + 60 * MINUTE_MS;
    ofUs(1);
    for (let at = 0; at < 1_800; at += 1)
      keep({ id: `3EB1${at}`, text: "Another", sentAt: START_MS / 1_000 + 2 * at });
    expect(await ask(lookUp(), doubtful)).toEqual(NOT_FOUND);
  });
});

test("messageLookUp() keeps the last thousand ids for their rows while the state does not have them", async () => {
  const sentAtMs = START_MS + 1_000;
  const text = (at: number) => `${TEXT} ${at}`;
  const look = messageLookUp({
    find: async ({ remoteJid }) => {
      const messages = Array.from({ length: 1_001 }, (_, at) => ({
        ...{ id: `3EB${at}`, remoteJid: remoteJid ?? "", text: text(at), sentAtMs, statuses: [] },
      }));
      return { status: "answered", messages };
    },
    findInstance: async () => ({ status: "found", name: "ops" }),
    phone: PHONE,
    heldReferences: async () => new Set(),
    nowMs: () => nowMs,
  });
  const found = async (id: number, at: number) => (await ask(look, row({ id, text: text(at) }))).status;
  for (let at = 0; at < 1_000; at += 1) expect(await found(at, at)).toBe("delivered");
  expect([await found(0, 0), await found(5_000, 0)]).toEqual(["delivered", "not_found"]);
  expect(await found(1_000, 1_000)).toBe("delivered");
  expect([await found(5_000, 0), await found(5_001, 2)]).toEqual(["delivered", "not_found"]);
});

describe("messageLookUp() of a row that an outage left unanswered", () => {
  const unanswered = row({ unclear: 0, unansweredForMs: 40_000 });
  const asked = () => gateway.routes.messages.calls.length;

  test.each(["5511987654321@s.whatsapp.net", "551187654321@s.whatsapp.net", PHONE])(
    "finds it under %s with one question",
    async (remoteJid) => {
      keep({ id: "another", text: "Another", remoteJid });
      keep({ id: "elsewhere", remoteJid: "5511999999999@s.whatsapp.net" });
      keep({ remoteJid });
      const before = asked();
      expect(await ask(lookUp(), unanswered)).toEqual(FOUND);
      expect(asked() - before).toBe(1);
    },
  );

  test.each<[string, Partial<KeptRow>]>([
    ["of another row", { id: "held" }],
    ["with another text", { text: `${TEXT} ` }],
    ["to another number", { remoteJid: "5511999999999@s.whatsapp.net" }],
    ["that WhatsApp gave back", { statuses: ["ERROR"] }],
    ["of long before", { sentAt: START_MS / 1_000 - 120 }],
  ])("takes no message %s, and asks no further", async (_what, kept) => {
    held.add("held");
    keep(kept);
    const before = asked();
    expect(await ask(lookUp(), unanswered)).toEqual(NOT_FOUND);
    expect(asked() - before).toBe(1);
  });

  test("looks at the time of its attempts alone, hours later and after a flood", async () => {
    nowMs = START_MS + 5 * 60 * MINUTE_MS;
    keep();
    for (let at = 0; at < 2_000; at += 1)
      keep({ id: `3EB1${at}`, text: "Another", sentAt: START_MS / 1_000 + 600 + 2 * at });
    const hoursAgo = { ...unanswered, unansweredForMs: nowMs - START_MS - 30_000 };
    expect(await ask(lookUp(), hoursAgo)).toEqual(FOUND);
  });

  test.each<[string, number, LookUpResult]>([
    ["more than a minute before the first attempt", -61, NOT_FOUND],
    ["a minute before it, by a clock that is behind", -60, FOUND],
    ["of the first attempt", 1, FOUND],
    ["between the attempts", 1_800, FOUND],
    ["of the latest attempt", 3_600, FOUND],
    ["five minutes after its end, by a clock that is ahead", 3_900, FOUND],
    ["later than that", 3_901, NOT_FOUND],
  ])("takes one %s for what it is", async (_when, seconds, answer) => {
    nowMs = START_MS + 62 * MINUTE_MS;
    keep({ sentAt: Math.floor(START_MS / 1_000) + seconds });
    expect(await ask(lookUp(), { ...unanswered, unansweredForMs: 2 * MINUTE_MS })).toEqual(answer);
  });

  test.each<[Scripted, string]>([
    ["hang", "gateway_timeout"],
    ["drop", "gateway_connection_lost"],
    [{ status: 504, text: "" }, "gateway_http_504"],
    [{ status: 403, text: "" }, "gateway_http_403"],
    ["not_json", "gateway_answer_unreadable"],
  ])("is not known when the gateway cannot be asked (%p), which costs one question", async (fault, code) => {
    keep();
    gateway.routes.messages.script = () => fault;
    const before = asked();
    const end = await endOf(gateway, fault, (limitMs) => ask(lookUp(limitMs), unanswered));
    expect(end).toEqual({ status: "unanswered", code });
    expect(asked() - before).toBe(1);
  });

  test.each(["5511987654321@s.whatsapp.net", "551187654321@s.whatsapp.net", PHONE])(
    "finds it under %s also where others send so much that it does not come in one page",
    async (remoteJid) => {
      keep({ remoteJid });
      for (let at = 0; at < 200; at += 1)
        keep({ id: `3EB1${at}`, remoteJid: "5511999999999@s.whatsapp.net" });
      expect(await ask(lookUp(), unanswered)).toEqual(FOUND);
    },
  );

  test("finds it where more goes to the same number than comes in one page", async () => {
    keep();
    for (let at = 0; at < 600; at += 1)
      keep({ id: `3EB1${at}`, text: "Another", sentAt: START_MS / 1_000 - 30 + at / 10 });
    expect(await ask(lookUp(), unanswered)).toEqual(FOUND);
  });

  test("is not known where so much goes to the same number in one second that it does not come in one page", async () => {
    for (let at = 0; at < 201; at += 1) keep({ id: `3EB1${at}`, text: "Another" });
    const code = "gateway_messages_too_many";
    expect(await ask(lookUp(), unanswered)).toEqual({ status: "unanswered", code });
  });

  test("is not known while no instance is", async () => {
    const look = messageLookUp({
      find: () => Promise.reject(new Error("Asked without an instance")),
      findInstance: async () => ({ status: "failed", code: "gateway_unreachable", stopsChannel: false }),
      phone: PHONE,
      heldReferences: async () => new Set(),
      nowMs: () => nowMs,
    });
    expect(await ask(look, unanswered)).toEqual({ status: "unanswered", code: "gateway_unreachable" });
  });
});
