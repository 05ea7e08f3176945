import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Secret } from "../../../../lib/platform/secrets/secret.ts";
import { messageFinder } from "../../../../lib/providers/evolution/find-messages.ts";
import { messageLookUp } from "../../../../lib/webhook/delivery/attempts/look-up.ts";
import type { DueRow } from "../../../../lib/webhook/state/contract.ts";
import { type Gateway, startGateway } from "../../../standins/gateway.ts";
import type { Scripted } from "../../../standins/standin.ts";
import { sampleAlert } from "../../support/sample-alert.ts";
import { MINUTE_MS, START_MS } from "../../support/state-fixture.ts";

const KEY = "canary-gateway-key";
const PHONE = "5511987654321";
const TEXT = "🔴 *Disco Raiz Baixo* · main";
const NOW_MS = START_MS + 60 * MINUTE_MS;
const NOT_FOUND = { status: "not_found" } as const;

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ adminKey: KEY });
});
beforeEach(() => {
  gateway.kept.length = 0;
  gateway.routes.messages.script = null;
});
afterAll(async () => await gateway.stop());

function keep(id: string, sentAtMs: number, text = "Another"): void {
  const remoteJid = `${PHONE}@s.whatsapp.net`;
  gateway.kept.push({ instance: "ops", remoteJid, id, text, sentAt: Math.floor(sentAtMs / 1_000) });
}

/** A message of ours that proves that the gateway keeps them, and a flood for an hour, one each two seconds. */
function flood(): void {
  keep("ours", START_MS - MINUTE_MS);
  for (let at = 0; at < 1_800; at += 1) keep(`3EB1${at}`, START_MS + 2_000 * at);
}

async function lookUp(unclear: number) {
  const row = {
    id: 1,
    kind: "message",
    alert: sampleAlert(),
    attempts: unclear,
    waitedMs: 0,
    triedMs: 0,
    isRepeat: false,
    claimedAtMs: null,
    issueUrl: null,
    text: TEXT,
    isUnsettled: false,
    unclear,
    firstBegunAtMs: START_MS,
    members: [],
  } as Partial<DueRow> as DueRow;
  const look = messageLookUp({
    find: messageFinder({ baseUrl: new URL(gateway.url), adminKey: new Secret(KEY), timeoutMs: 1_000 }),
    findInstance: async () => ({ status: "found", name: "ops" }),
    phone: PHONE,
    heldReferences: async (_kind, ids) => new Set(ids.filter((id) => id === "ours")),
    nowMs: () => NOW_MS,
  });
  return await look(row, new AbortController().signal);
}

/** Orders an answer for one of the questions that are asked from now on, counted from one. */
function answerQuestion(which: number, answer: Scripted): void {
  let asked = 0;
  gateway.routes.messages.script = () => {
    asked += 1;
    return asked === which ? answer : undefined;
  };
}

describe("messageLookUp() of a time with more messages than the gateway gives at once", () => {
  // The whole time is the first question, then come the parts near its ends.
  test.each<[string, number, Scripted]>([
    ["first", 2, { status: 500, json: { response: { message: "Internal" } } }],
    ["first", 2, "not_json"],
    ["latest", 3, { status: 500, json: { response: { message: "Internal" } } }],
    ["latest", 3, "not_json"],
  ])("proves nothing when the %s part of it is not known (question %d: %p)", async (_part, which, fault) => {
    flood();
    keep("3EB0A", START_MS + 30 * MINUTE_MS, TEXT);
    answerQuestion(which, fault);
    expect(await lookUp(3)).toEqual(NOT_FOUND);
  });

  test("proves nothing when one of its parts holds too many, too", async () => {
    flood();
    for (let at = 0; at < 250; at += 1) keep(`3EB2${at}`, START_MS + MINUTE_MS);
    expect(await lookUp(3)).toEqual(NOT_FOUND);
  });

  test.each<[string, number, number]>([
    ["latest attempt, where the first part", 2, NOW_MS - MINUTE_MS],
    ["first attempt, where the latest part", 3, START_MS + 1_000],
  ])("finds the message of the %s is not known", async (_which, question, sentAtMs) => {
    flood();
    keep("3EB0A", sentAtMs, TEXT);
    answerQuestion(question, "not_json");
    expect(await lookUp(1)).toEqual({ status: "delivered", reference: "3EB0A", url: null });
  });

  test("finds the message of the first attempt of a row that was sent too often without a clear answer", async () => {
    flood();
    keep("3EB0A", START_MS + 1_000, TEXT);
    expect(await lookUp(3)).toEqual({ status: "delivered", reference: "3EB0A", url: null });
  });
});
