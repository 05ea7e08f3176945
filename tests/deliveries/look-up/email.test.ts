/** E-mails with an unknown result, looked up at a provider that keeps what a real run sent through it. */
import { describe, expect, test } from "bun:test";
import type { Scripted } from "../../standins/standin.ts";
import { CANARIES } from "../../support/canaries.ts";
import { MONDAY } from "../../support/seed.ts";
import { limitOf, lookUpFixture } from "../support/look-up-fixture.ts";

const fixture = lookUpFixture({ sendsOnly: true });
const at = (seconds: number) => new Date(Date.parse(MONDAY) + seconds * 1000);

/** One e-mail with an unknown result, and what the provider keeps of it. */
async function oneUnknown(spec = {}) {
  const { weekly, leaveUnknown, lookUp } = fixture();
  const [one] = await leaveUnknown(["email"], [spec]);
  const { accepted } = weekly.email;
  expect(accepted).toHaveLength(1);
  return { id: one!.ids[0]!, owner: one!.owner, weekly, lookUp, accepted, email: accepted[0]! };
}

describe("look-up of an e-mail", () => {
  test("finds the one that carries the delivery's tag, and changes nothing", async () => {
    const { id, weekly, lookUp, email } = await oneUnknown();
    email.lastEvent = "delivered";
    expect(await lookUp()).toMatchObject([
      {
        id,
        channel: "email",
        status: "found",
        code: null,
        providerMessageId: email.id,
        sentAt: "2026-11-23T11:00:03Z",
        providerStatus: "delivered",
        state: "unknown",
        settled: false,
      },
    ]);
    expect(weekly.email.routes.send.calls).toHaveLength(1);
    expect(weekly.email.unexpected).toEqual([]);
  });

  test("finds it although the owner's address is another one by now, or is written in another case", async () => {
    const { owner, weekly, lookUp, email } = await oneUnknown();
    await weekly.db.sql`update users set email = 'new@else.example' where id = ${owner.userId}`;
    expect(await lookUp()).toMatchObject([{ status: "found" }]);
    email.to = ["Owner1@CLIENT1.example".replace(/1/g, owner.email!.match(/\d+/)![0])];
    expect(await lookUp()).toMatchObject([{ status: "found" }]);
  });

  test.each([
    [-3, "evidence_outside_time"],
    [-1.9, null],
    [0, null],
    [600, null],
    [600.001, "evidence_outside_time"],
    [3600, "evidence_outside_time"],
  ])("judges one that was created %d seconds after the dispatch: %p", async (seconds, code) => {
    const { lookUp, email } = await oneUnknown();
    email.at = at(seconds);
    expect(await lookUp()).toMatchObject([{ status: code === null ? "found" : "not_unique", code }]);
  });

  test.each([-601, 3601])("reads none that was created %d seconds after the dispatch", async (seconds) => {
    const { weekly, lookUp, email } = await oneUnknown();
    email.at = at(seconds);
    expect(await lookUp()).toMatchObject([{ status: "not_found", code: "email_not_found" }]);
    expect(weekly.email.routes.email.calls).toEqual([]);
  });

  test("does not take another's tag, no tag or another recipient for it", async () => {
    const { weekly, lookUp, email } = await oneUnknown();
    const { tags, to } = email;
    for (const other of [[{ name: "delivery_id", value: crypto.randomUUID() }], [], undefined]) {
      Object.assign(email, { tags: other });
      expect(await lookUp({ settleAs: "ana" })).toMatchObject([{ status: "not_found", settled: false }]);
    }
    weekly.email.routes.email.calls.length = 0;
    Object.assign(email, { tags, to: ["someone@else.example"] });
    expect(await lookUp()).toMatchObject([{ status: "not_found" }]);
    expect(weekly.email.routes.email.calls).toEqual([]);
    Object.assign(email, { to });
    expect(await lookUp()).toMatchObject([{ status: "found" }]);
  });

  test.each([
    ["failed", false],
    ["canceled", false],
    ["suppressed", false],
    ["bounced", true],
    ["delivery_delayed", true],
  ])("an e-mail that the provider took and that is %s then is settled: %p", async (lastEvent, settled) => {
    const { lookUp, email } = await oneUnknown();
    email.lastEvent = lastEvent;
    const code = settled ? null : "evidence_not_sent";
    expect(await lookUp({ settleAs: "ana" })).toMatchObject([{ status: "found", code, settled }]);
  });

  test("settles nothing when two carry the tag", async () => {
    const { lookUp, accepted, email } = await oneUnknown();
    accepted.push({ ...email, id: crypto.randomUUID(), at: at(5) });
    expect(await lookUp({ settleAs: "ana" })).toMatchObject([
      { status: "not_unique", code: "evidence_several", settled: false },
    ]);
  });

  test("leaves out the e-mail of another delivery, without reading it", async () => {
    const { leaveUnknown, lookUp, weekly } = fixture();
    const email = "same@client.example";
    const [one, other] = await leaveUnknown(["email"], [{ email }, { email }]);
    const [first, second] = weekly.email.accepted;
    const idOf = (tag: typeof first) => tag!.tags![0]!.value;
    const held = [one!, other!].find(({ ids }) => ids[0] === idOf(first))!;
    await weekly.db.sql`
      select public.reconcile_weekly_performance_delivery(
        ${held.ids[0]!}::uuid, 'sent', ${first!.id}, 'seen in the log', 'ana')`;
    expect(await lookUp()).toMatchObject([{ status: "found", providerMessageId: second!.id }]);
    expect(weekly.email.routes.email.calls).toHaveLength(1);
  });

  test("goes through a long list, and ends where the time of the dispatch is passed", async () => {
    const { weekly, lookUp, accepted, email } = await oneUnknown();
    const other = (seconds: number) => ({
      ...email,
      id: crypto.randomUUID(),
      to: ["x@y.example"],
      at: at(seconds),
    });
    for (let i = 0; i < 250; i += 1) accepted.push(other(7_200 + i), other(-7_200 - i));
    expect(await lookUp()).toMatchObject([{ status: "found" }]);
    expect(weekly.email.routes.list.calls.map(({ path }) => path.replace(/after=.*/, "after"))).toEqual([
      "/emails?limit=100",
      "/emails?limit=100&after",
      "/emails?limit=100&after",
    ]);
  });

  test("reads the list to its end where the provider does not show the newest first", async () => {
    const { weekly, lookUp, accepted, email } = await oneUnknown();
    for (let i = 0; i < 250; i += 1)
      accepted.push({ ...email, id: crypto.randomUUID(), to: ["x@y.example"], at: at(-7_200 - i) });
    weekly.email.listsOldestFirst = true;
    expect(await lookUp()).toMatchObject([{ status: "found" }]);
    expect(weekly.email.routes.list.calls).toHaveLength(3);
  });

  test("proves nothing about a time that the list did not reach", async () => {
    const { weekly, lookUp, accepted, email } = await oneUnknown();
    for (let i = 0; i < 150; i += 1)
      accepted.push({ ...email, id: crypto.randomUUID(), to: ["x@y.example"], at: at(7_200 + i) });
    weekly.email.routes.list.script = ({ path }) =>
      path.includes("after") ? { status: 503, json: { name: "service_unavailable" } } : undefined;
    expect(await lookUp()).toMatchObject([{ status: "could_not_be_asked", code: "email_http_503" }]);
  });

  test("waits as the provider asks when it is asked too fast", async () => {
    const { weekly, lookUp } = await oneUnknown();
    const tooFast: Scripted = {
      status: 429,
      json: { statusCode: 429, name: "rate_limit_exceeded", message: "Too many requests" },
      headers: { "retry-after": "0" },
    };
    weekly.email.routes.list.next(tooFast, tooFast);
    weekly.email.routes.email.next(tooFast);
    expect(await lookUp()).toMatchObject([{ status: "found" }]);
    expect(weekly.email.routes.list.calls).toHaveLength(3);
  });
});

describe("a provider that does not answer the question", () => {
  const refusal = (status: number, name: string): Scripted => ({
    status,
    json: { statusCode: status, name, message: "no" },
  });
  const kinds: [string, Scripted, string][] = [
    ["403 for the key", refusal(403, "invalid_api_key"), "email_api_key_invalid"],
    ["500", refusal(500, "internal_server_error"), "email_http_500"],
    ["no answer in time", "hang", "email_timeout"],
    ["an answer of another form", { status: 200, json: { data: [{ id: 1 }] } }, "email_answer_unreadable"],
  ];

  test.each(kinds)("%s instead of the list: could not be asked", async (_name, scripted, code) => {
    const { lookUp, weekly } = await oneUnknown();
    weekly.email.routes.list.script = () => scripted;
    expect(await lookUp({ settleAs: "ana", ...limitOf(scripted) })).toMatchObject([
      { status: "could_not_be_asked", code, settled: false, state: "unknown" },
    ]);
  });

  test.each([...kinds, ["404", refusal(404, "not_found"), "not_found"] as [string, Scripted, string]])(
    "%s instead of an e-mail: could not be asked",
    async (_name, scripted, code) => {
      const { lookUp, weekly } = await oneUnknown();
      weekly.email.routes.email.script = () => scripted;
      expect(await lookUp({ settleAs: "ana", ...limitOf(scripted) })).toMatchObject([
        { status: "could_not_be_asked", code, settled: false },
      ]);
    },
  );

  test("keeps its list from a key that may only send", async () => {
    const { lookUp } = await oneUnknown();
    expect(await lookUp({ emailKey: CANARIES.EMAIL_API_KEY })).toMatchObject([
      { status: "could_not_be_asked", code: "restricted_api_key" },
    ]);
  });

  test("takes nothing for proved while one that fits could not be read", async () => {
    const { lookUp, weekly, accepted, email } = await oneUnknown();
    accepted.push({ ...email, id: crypto.randomUUID(), at: at(5), tags: [] });
    weekly.email.routes.email.script = ({ path }) => (path.endsWith(email.id) ? undefined : "drop");
    expect(await lookUp()).toMatchObject([{ status: "could_not_be_asked", code: "email_connection_lost" }]);
  });

  test("has no settings: could not be asked", async () => {
    const { lookUp } = await oneUnknown();
    expect(await lookUp({ dependencies: { email: null } })).toMatchObject([
      { status: "could_not_be_asked", code: "email_not_configured" },
    ]);
  });
});
