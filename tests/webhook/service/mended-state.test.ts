/** Alerts that were sent from memory while the state kept nothing, and that are posted again once it keeps alerts. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { State } from "../../../lib/webhook/state/contract.ts";
import type { AcceptedText } from "../../standins/gateway.ts";
import type { Scripted } from "../../standins/standin.ts";
import { until } from "../../support/until.ts";
import { alertOf, type Service, startService } from "../support/service-fixture.ts";
import { type TestClock, testClock } from "../support/test-clock.ts";

const MINUTE_MS = 60_000;
const ALERTS = ["a", "b", "c"].map((name) => alertOf({ fingerprint: name, labels: { alertname: name } }));

let service: Service;
let clock: TestClock;
let whole: Partial<State> = {};
beforeEach(async () => {
  clock = testClock(Date.UTC(2026, 10, 16, 14), { hanging: () => service?.gateway.hanging ?? 0 });
  service = await startService({ clock });
});
afterEach(() => service.stop());

/** Takes everything that writes away from the state, as a full disk does. */
function breakState(): void {
  const { begin, takeUp, settle, accept, check, hold, prune, rememberIssues } = service.state;
  whole = { begin, takeUp, settle, accept, check, hold, prune, rememberIssues };
  const full = () => Promise.reject(new Error("disk full"));
  const accepts: State["accept"] = async (requests) => requests.map(() => ({ refused: "state_unavailable" }));
  const broken = Object.fromEntries(Object.keys(whole).map((name) => [name, full]));
  Object.assign(service.state, broken, { accept: accepts });
}

const mendState = () => void Object.assign(service.state, whole);

async function post(alerts = ALERTS): Promise<{ status: number; body: unknown }> {
  const answer = service.post({ alerts });
  await clock.advance(30_000);
  return await answer;
}

/** How often each alert is on the phone. */
const copies = () =>
  ["a", "b", "c"].map(
    (name) => service.gateway.accepted.filter(({ text }) => text.includes(`*${name}*`)).length,
  );

test("what the gateway took of a post is not sent again with the rest of it", async () => {
  breakState();
  const refused: Scripted = { status: 413, json: { status: 413, error: "Payload Too Large" } };
  service.gateway.routes.send.scriptByBody = ({ body }) =>
    (body as { text: string }).text.includes("*c*") ? refused : undefined;
  expect((await post()).status).toBe(503);
  expect(copies()).toEqual([1, 1, 0]);
  mendState();
  service.gateway.routes.send.scriptByBody = null;
  expect((await post()).status).toBe(200);
  await clock.advance(2 * MINUTE_MS);
  expect(copies()).toEqual([1, 1, 1]);
  const { id: reference } = service.gateway.accepted.find(({ text }) => text.includes("*a*")) as AcceptedText;
  expect((await service.state.latest("a")).message).toMatchObject({ status: "delivered", reference });
});

for (const [what, way] of [
  ["a proxy answered after it had passed it on", { accept: { status: 504, text: "Gateway Timeout" } }],
  ["the connection broke after the gateway had taken it", { accept: "drop" }],
] as const)
  test(`${what}: the gateway is asked before it is sent again`, async () => {
    breakState();
    service.gateway.routes.send.next(way as Scripted);
    const [alert] = ALERTS;
    expect((await post([alert!])).status).toBe(503);
    mendState();
    expect((await post([alert!])).status).toBe(200);
    await clock.advance(2 * MINUTE_MS);
    expect(copies()).toEqual([1, 0, 0]);
    expect((await service.state.latest("a")).message?.status).toBe("delivered");
  });

for (const [what, call] of [
  ["the gateway took", "settle"],
  ["it may have taken", "takeUp"],
] as const)
  test(`what ${what} is not sent again when the state keeps its alert and fails before it hears more`, async () => {
    breakState();
    const refused: Scripted = { status: 413, json: { status: 413, error: "Payload Too Large" } };
    const unanswered: Scripted = { accept: { status: 504, text: "Gateway Timeout" } };
    service.gateway.routes.send.scriptByBody = ({ body }) => {
      if ((body as { text: string }).text.includes("*c*")) return refused;
      return call === "settle" ? undefined : unanswered;
    };
    expect((await post()).status).toBe(503);
    await clock.advance(MINUTE_MS);
    mendState();
    service.state[call] = () => Promise.reject(new Error("disk full"));
    service.gateway.routes.send.scriptByBody = null;
    const posted = service.post({ alerts: ALERTS });
    await clock.advance(4_000);
    mendState();
    await clock.advance(3 * MINUTE_MS);
    expect((await posted).status).toBe(200);
    expect(copies()).toEqual([1, 1, 1]);
    for (const name of ["a", "b", "c"])
      expect((await service.state.latest(name)).message?.status).toBe("delivered");
  });

test("three sends without a clear answer are told to the state: no fourth, and the row is in doubt", async () => {
  service.gateway.keepsMessages = false;
  service.gateway.routes.send.script = () => ({ accept: { status: 500, json: {} } });
  breakState();
  const [alert] = ALERTS;
  for (let posts = 0; posts < 3; posts += 1) expect((await post([alert!])).status).toBe(503);
  mendState();
  expect((await post([alert!])).status).toBe(200);
  await clock.advance(MINUTE_MS);
  expect(copies()).toEqual([3, 0, 0]);
  expect((await service.state.latest("a")).message?.status).toBe("in_doubt");
});

test("what is still on its way from memory is not sent from the state meanwhile", async () => {
  breakState();
  // The gateway takes it, and does not answer.
  service.gateway.routes.send.next({ accept: "hang" });
  const first = service.post({ alerts: ALERTS.slice(0, 1) });
  await until("the gateway has taken it", () => copies()[0] === 1);
  mendState();
  expect((await post(ALERTS)).status).toBe(200);
  expect((await first).status).toBe(200);
  await clock.advance(2 * MINUTE_MS);
  expect(copies()).toEqual([1, 1, 1]);
});

for (const [what, again] of [
  ["with others", ["c", "d"]],
  ["alone", ["c"]],
] as const)
  test(`what waits for its turn in memory is told by the state that begins to keep it: posted ${what}`, async () => {
    await service.stop();
    service = await startService({ clock, messagesPerMinute: 6 });
    breakState();
    const first = service.post({ alerts: ALERTS });
    await until("two are on their way", () => copies()[1] === 1);
    mendState();
    const second = post(again.map((name) => alertOf({ fingerprint: name, labels: { alertname: name } })));
    expect((await second).status).toBe(200);
    const { status, body } = await first;
    expect([status, body.alerts.map(({ durable = true }) => durable)]).toEqual([200, [false, false, true]]);
    await clock.advance(2 * MINUTE_MS);
    expect(copies()).toEqual([1, 1, 1]);
    expect(service.tracker.issues).toHaveLength(2 + again.length);
  });

test("the gateway is also asked, and believed, while the state cannot say which messages other alerts have", async () => {
  breakState();
  service.state.heldReferences = () => Promise.reject(new Error("database away"));
  service.gateway.routes.send.next({ accept: { status: 504, text: "Gateway Timeout" } });
  const [alert] = ALERTS;
  expect((await post([alert!])).status).toBe(503);
  await clock.advance(10_000);
  expect((await post([alert!])).status).toBe(200);
  expect(copies()).toEqual([1, 0, 0]);
});

for (const [what, fault] of [
  ["does not come", { accept: "hang" }],
  ["breaks off, as all others do", { accept: "drop" }],
] as const)
  test(`an issue whose answer ${what} is the same one when the state keeps the alert`, async () => {
    breakState();
    service.tracker.routes.graphql.script = () => fault;
    const [alert] = ALERTS;
    expect(await post([alert!])).toMatchObject({ status: 200, body: { alerts: [{ issue: "failed" }] } });
    service.tracker.routes.graphql.script = null;
    mendState();
    const [issue] = service.tracker.issues;
    expect((await post([alert!])).status).toBe(200);
    await clock.advance(MINUTE_MS);
    expect((await service.state.latest("a")).issue).toMatchObject({ status: "delivered", url: issue!.url });
    const duplicate = { issue: "duplicate", issueId: issue!.id };
    expect(await post([alert!])).toMatchObject({ status: 200, body: { alerts: [duplicate] } });
    expect(service.tracker.issues).toEqual([issue!]);
  });

test("what is known at the gateway is not sent again when the state fails while it is asked which messages it has", async () => {
  for (const fault of [
    { accept: { status: 504, text: "Gateway Timeout" } },
    { accept: { status: 500, json: {} } },
  ] as Scripted[]) {
    service.gateway.routes.send.next(fault);
    const before = copies()[0]!;
    const { heldReferences } = service.state;
    const failed = Promise.withResolvers<void>();
    service.state.heldReferences = async () => {
      service.state.heldReferences = heldReferences;
      failed.resolve();
      throw new Error("database restarts");
    };
    expect((await post(ALERTS.slice(0, 1))).status).toBe(200);
    await clock.advance(MINUTE_MS);
    await failed.promise;
    await clock.advance(MINUTE_MS);
    expect(copies()[0]).toBe(before + 1);
    expect((await service.state.latest("a")).message?.status).toBe("delivered");
  }
});
