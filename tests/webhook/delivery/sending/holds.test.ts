/** Why a channel holds: kept over a restart, set and ended from outside, found out with one row. */
import { afterEach, expect, test } from "bun:test";
import type { Attempt } from "../../../../lib/webhook/delivery/attempts/attempt.ts";
import { type DispatcherFixture, startDispatcher } from "../../support/dispatcher-fixture.ts";
import { retry } from "../../support/retry.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import { MINUTE_MS, SECOND_MS } from "../../support/state-fixture.ts";

let run: DispatcherFixture;
afterEach(async () => await run.close());

const refusal = retry("gateway_unauthorized", { stopsChannel: true, peerDown: true });
const CLOSED = { code: "sem_instancia_gateway", cause: "instance_close" };
const alerts = (count: number) =>
  Array.from({ length: count }, (_, n) => resolvedAlert({ fingerprint: `f${n}` }));

function refusing() {
  const gateway = { tries: 0, answer: refusal as Awaited<ReturnType<Attempt>> };
  const message: Attempt = async () => {
    gateway.tries += 1;
    return gateway.answer;
  };
  const takes = () => {
    gateway.answer = { status: "delivered", reference: null, url: null };
  };
  return { gateway, message, takes };
}

test("a refusal is found out again with one row, each minute at the latest, and at once after a start", async () => {
  const { gateway, message, takes } = refusing();
  run = await startDispatcher({ message });
  await run.accept(...alerts(5));
  await run.advance(30 * MINUTE_MS);
  const { tries } = gateway;
  await run.advance(10 * MINUTE_MS);
  expect(gateway.tries - tries).toBeGreaterThanOrEqual(10);
  expect(gateway.tries - tries).toBeLessThanOrEqual(21);

  const before = gateway.tries;
  await run.restart();
  await run.advance(0);
  expect(gateway.tries).toBe(before + 1);
  takes();
  await run.advance(MINUTE_MS);
  expect(run.phone).toHaveLength(5);
  expect((await run.state.holds()).message).toBeNull();
});

test("probe() finds it out at once", async () => {
  const { gateway, message, takes } = refusing();
  run = await startDispatcher({ message });
  await run.accept(...alerts(3));
  await run.advance(30 * MINUTE_MS);
  takes();
  const before = gateway.tries;
  await run.dispatcher.probe();
  await run.advance(0);
  expect(gateway.tries).toBe(before + 3);
  expect(run.dispatcher.stops.message).toBeNull();
});

test("hold() stops a channel without a single try, for as long as it is said again, and open() lets it go on at once", async () => {
  run = await startDispatcher();
  await run.dispatcher.hold("message", CLOSED);
  expect((await run.state.holds()).message).toMatchObject({ code: CLOSED.code });
  await run.accept(...alerts(4), sampleAlert({ fingerprint: "issue" }));
  for (let minutes = 0; minutes < 30; minutes += 1) {
    await run.advance(MINUTE_MS);
    await run.dispatcher.hold("message", CLOSED);
  }
  expect(run.phone).toHaveLength(0);
  expect(run.issues).toHaveLength(1);
  expect(run.dispatcher.stops).toEqual({ message: CLOSED.code, issue: null, comment: null });

  await run.dispatcher.open("message");
  await run.advance(0);
  expect(run.phone.length).toBeGreaterThanOrEqual(4);
  expect((await run.state.holds()).message).toBeNull();
});

test("a hold that is not said again lets one row find out", async () => {
  const { gateway, message } = refusing();
  run = await startDispatcher({ message });
  await run.dispatcher.hold("message", CLOSED);
  await run.accept(...alerts(4));
  await run.advance(80 * SECOND_MS);
  expect(gateway.tries).toBe(0);
  await run.advance(10 * SECOND_MS);
  expect(gateway.tries).toBe(1);
  // The newer reason stands.
  expect(run.dispatcher.stops.message).toBe(refusal.code);
  expect((await run.state.holds()).message).toMatchObject({ code: refusal.code });
});

test("a comment has a sender of its own, after the issue and not held with messages", async () => {
  run = await startDispatcher();
  await run.dispatcher.hold("message", CLOSED);
  await run.accept(sampleAlert());
  await run.advance(5 * SECOND_MS);
  await run.accept(resolvedAlert());
  await run.advance(5 * SECOND_MS);
  expect([run.phone.length, run.issues.length, run.comments.length]).toEqual([0, 1, 1]);
});
