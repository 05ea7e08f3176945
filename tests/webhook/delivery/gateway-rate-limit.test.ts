/** How long sending waits for a gateway that asks for patience. */

import { expect } from "bun:test";
import type { Scripted } from "../../standins/standin.ts";
import { alertOf, onBothStores, startService } from "../support/start-service.ts";

const limited = (seconds: number): Scripted => ({
  status: 429,
  json: {},
  headers: { "retry-after": `${seconds}` },
});
const OUTAGE: Scripted = { status: 502, text: "Bad Gateway" };
const OF_META: Scripted = {
  status: 201,
  json: { message: "(#131048) no", type: "OAuthException", code: 131_048, fbtrace_id: "A" },
};

/** What the gateway answers to the first sends, and from when on, in seconds, the messages go out. */
const CASES = [
  { name: "a 429 from the gateway pauses sending until Retry-After", answers: [limited(30)], fromSecond: 30 },
  {
    name: "a 429 that asks for an hour pauses sending for five minutes at most",
    answers: [limited(3_600)],
    fromSecond: 300,
  },
  { name: "Meta's limit under a 201 pauses sending for half a minute", answers: [OF_META], fromSecond: 30 },
  {
    name: "no answer that comes after a 429 makes its pause shorter",
    answers: [limited(60), OUTAGE, limited(1)],
    fromSecond: 60,
  },
  {
    name: "the pause of a 429 also lasts for what is posted meanwhile, when a part of it is over",
    answers: [limited(20), limited(40)],
    fromSecond: 40,
  },
];

onBothStores(CASES, async ({ answers, fromSecond }, store) => {
  await using service = await startService({ store });
  service.gateway.routes.send.next(...answers);
  await service.post(answers.map((_, at) => alertOf(`first${at}`, { status: "resolved" })));
  await service.advance(10_000);
  const { body } = await service.post([alertOf("late", { severity: "critical", status: "resolved" })]);
  expect(body.alerts[0]).toMatchObject({ whatsapp: "queued" });
  expect(service.sends).toHaveLength(answers.length);
  // It is a pause, no refusal: the lane is not paused.
  expect((await service.health()).paused.message).toBeNull();
  await service.advance((fromSecond - 11) * 1_000, 5_000);
  expect(service.messages).toEqual([]);
  await service.advance(60_000);
  expect(service.messages.length).toBe(answers.length + 1);
  expect(Math.min(...service.messages.map(({ second }) => second))).toBe(fromSecond);
});

onBothStores(
  "the pause of a message's own Retry-After lasts over a restart for it, and others go out at once",
  async (store) => {
    await using service = await startService({ store });
    service.gateway.routes.send.next(limited(120));
    await service.post([alertOf("limited", { status: "resolved" })]);
    await service.restart();
    await service.post([alertOf("other", { status: "resolved" })]);
    await service.advance(200_000, 1_000);
    expect(service.messages.map(({ name, second }) => [name, second])).toEqual([
      ["other", 0],
      ["limited", 120],
    ]);
  },
);
