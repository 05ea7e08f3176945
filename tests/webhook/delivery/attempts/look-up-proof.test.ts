import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  JIDS,
  type LookUpFixture,
  startLookUpFixture,
  LOOKED_UP_TEXT as text,
} from "../../support/look-up-fixture.ts";
import { MINUTE_MS, START_MS } from "../../support/state-fixture.ts";

const NOT_FOUND = { status: "not_found" } as const;
const ABSENT = { status: "absent" } as const;

let fixture: LookUpFixture;
beforeAll(async () => {
  fixture = await startLookUpFixture();
});
beforeEach(() => fixture.reset());
afterAll(async () => await fixture.stop());

describe("messageLookUp() when the state cannot say whose messages are known", () => {
  const nowMs = START_MS + MINUTE_MS;
  const heldReferences = async () => await Promise.reject(new Error("away"));

  test("leaves open whether a message is that of another row", async () => {
    fixture.keep("3EB0A", START_MS, { text });
    expect(await fixture.lookUp({}, { nowMs, heldReferences })).toEqual({ status: "undecided" });
  });

  test("does not prove that a message is absent", async () => {
    fixture.keep("ours", START_MS);
    expect(await fixture.lookUp({ unclear: 3 }, { nowMs })).toEqual(ABSENT);
    expect(await fixture.lookUp({ unclear: 3 }, { nowMs, heldReferences })).toEqual(NOT_FOUND);
  });
});

describe("messageLookUp() of a row that was sent too often, among several of ours", () => {
  const heldReferences = async (_kind: unknown, ids: readonly string[]) =>
    new Set(ids.filter((id) => id.startsWith("ours")));
  const lookUp = async () =>
    await fixture.lookUp({ unclear: 3 }, { nowMs: START_MS + MINUTE_MS, heldReferences });
  const early = () => fixture.keep("ours-early", START_MS - 58 * MINUTE_MS);
  const late = () => fixture.keep("ours-late", START_MS);

  test.each([
    ["as they were sent", [early, late]],
    ["the other way round", [late, early]],
  ])("goes by the latest of them, whether they come %s", async (_order, keeps) => {
    // A message with this text of before: only as far back as the early one could it be the row's own.
    fixture.keep("3EB0A", START_MS - 62 * MINUTE_MS, { text });
    early();
    expect(await lookUp()).toEqual(NOT_FOUND);
    fixture.reset();
    fixture.keep("3EB0A", START_MS - 62 * MINUTE_MS, { text });
    for (const keep of keeps) keep();
    expect(await lookUp()).toEqual(ABSENT);
  });
});

describe("messageLookUp() of a row that was sent too often, when our clock is two hours ahead", () => {
  const nowMs = START_MS + 95 * MINUTE_MS;
  const lookUp = async () => await fixture.lookUp({ unclear: 3 }, { nowMs });
  const hoursBehindMs = START_MS - 120 * MINUTE_MS;

  test.each([...JIDS])("proves nothing where the message lies at %s", async (remoteJid) => {
    fixture.keep("3EB0A", hoursBehindMs, { text, remoteJid });
    fixture.keep("ours", START_MS - 30 * MINUTE_MS);
    expect(await lookUp()).toEqual(NOT_FOUND);
  });

  // Two questions, one for each form of the number, about the time since the first attempt, then two about before it.
  test.each([3, 4])("proves nothing when question %d is not answered", async (question) => {
    fixture.keep("ours", START_MS - 30 * MINUTE_MS);
    expect(await lookUp()).toEqual(ABSENT);
    fixture.answerQuestion(question, { status: 500, text: "" });
    expect(await lookUp()).toEqual(NOT_FOUND);
  });
});

describe("messageLookUp() of a row that was sent too often, when our clock was set back since", () => {
  // The row's message, and for how long after it the row was tried, until one of ours was delivered.
  const sentAtMs = START_MS - 240 * MINUTE_MS;
  const triedMs = 60 * MINUTE_MS;
  const lookUp = async () =>
    await fixture.lookUp({ unclear: 3, triedMs }, { nowMs: START_MS - 180 * MINUTE_MS });

  test.each<[string, number]>([
    ["when the row was tried last", triedMs],
    ["while it waits for its next attempt", triedMs + 6 * MINUTE_MS],
    ["then, where the clocks differ", triedMs + 7 * MINUTE_MS],
  ])("proves nothing with a message of ours of %s", async (_when, laterMs) => {
    fixture.keep("3EB0A", sentAtMs, { text });
    fixture.keep("ours", sentAtMs + laterMs);
    expect(await lookUp()).toEqual(NOT_FOUND);
  });
});

test("messageLookUp() counts from the latest message of ours", async () => {
  // Reckoned from the early one, the row's message could be as old as another one with its text.
  fixture.keep("3EB0B", START_MS - 80 * MINUTE_MS, { text });
  fixture.keep("ours-early", START_MS - 50 * MINUTE_MS);
  fixture.keep("ours", START_MS - 5 * MINUTE_MS);
  const heldReferences = async (_kind: string, ids: readonly string[]) =>
    new Set(ids.filter((id) => id.startsWith("ours")));
  const nowMs = START_MS + 40 * MINUTE_MS;
  expect(await fixture.lookUp({ unclear: 3 }, { nowMs, heldReferences })).toEqual(ABSENT);
});
