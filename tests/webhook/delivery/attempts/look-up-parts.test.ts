import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Scripted } from "../../../standins/standin.ts";
import { LOOKED_UP_TEXT, type LookUpFixture, startLookUpFixture } from "../../support/look-up-fixture.ts";
import { MINUTE_MS, START_MS } from "../../support/state-fixture.ts";

const NOW_MS = START_MS + 60 * MINUTE_MS;
const NOT_FOUND = { status: "not_found" } as const;
const FOUND = { status: "delivered", reference: "3EB0A", url: null } as const;

let fixture: LookUpFixture;
beforeAll(async () => {
  fixture = await startLookUpFixture();
});
beforeEach(() => fixture.reset());
afterAll(async () => await fixture.stop());

const lookUp = async (unclear: number) => await fixture.lookUp({ unclear }, { nowMs: NOW_MS });

/** A message of ours that proves that the gateway keeps them, and a flood for an hour, one each two seconds. */
function flood(): void {
  fixture.keep("ours", START_MS - MINUTE_MS);
  for (let at = 0; at < 1_800; at += 1) fixture.keep(`3EB1${at}`, START_MS + 2_000 * at);
}

const keepSought = (sentAtMs: number) => fixture.keep("3EB0A", sentAtMs, { text: LOOKED_UP_TEXT });

describe("messageLookUp() of a time with more messages than the gateway gives at once", () => {
  // The whole time is the first question, then come the parts near its ends.
  test.each<[string, number, Scripted]>([
    ["first", 2, { status: 500, text: "" }],
    ["first", 2, "not_json"],
    ["latest", 3, { status: 500, text: "" }],
    ["latest", 3, "not_json"],
  ])("proves nothing when the %s part of it is not known (question %d: %p)", async (_part, which, fault) => {
    flood();
    keepSought(START_MS + 30 * MINUTE_MS);
    fixture.answerQuestion(which, fault);
    expect(await lookUp(3)).toEqual(NOT_FOUND);
  });

  test("proves nothing when one of its parts holds too many, too", async () => {
    flood();
    for (let at = 0; at < 250; at += 1) fixture.keep(`3EB2${at}`, START_MS + MINUTE_MS);
    expect(await lookUp(3)).toEqual(NOT_FOUND);
  });

  test.each<[string, number, number]>([
    ["latest attempt, where the first part", 2, NOW_MS - MINUTE_MS],
    ["first attempt, where the latest part", 3, START_MS + 1_000],
  ])("finds the message of the %s is not known", async (_which, question, sentAtMs) => {
    flood();
    keepSought(sentAtMs);
    fixture.answerQuestion(question, "not_json");
    expect(await lookUp(1)).toEqual(FOUND);
  });

  test.each([START_MS + 30_000, NOW_MS - 30_000])(
    "finds the message of %d where more are near it than the gateway gives at once",
    async (sentAtMs) => {
      flood();
      keepSought(sentAtMs);
      for (let at = 0; at < 600; at += 1) fixture.keep(`3EB2${at}`, sentAtMs - 20_000 + 100 * at);
      expect(await lookUp(1)).toEqual(FOUND);
    },
  );

  test("finds the message of the first attempt of a row that was sent too often without a clear answer", async () => {
    flood();
    keepSought(START_MS + 1_000);
    expect(await lookUp(3)).toEqual(FOUND);
  });
});
