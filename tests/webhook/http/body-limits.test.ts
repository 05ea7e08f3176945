/** How long a body may wait for memory, and how long its sender may take, by the public port's application. */
import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { createApp } from "../../../lib/webhook/http/app.ts";
import { authenticator } from "../../../lib/webhook/http/authenticate.ts";
import { silentLog } from "../../support/silent-log.ts";
import { SECRET } from "../support/settings.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const nothing = () => {};
const app = () =>
  createApp({
    authenticate: authenticator({ secret: new Secret(SECRET), previousSecret: null }),
    take: async () => [],
    metrics: { request: nothing, rejected: nothing, previousSecret: nothing },
    refusals: { answered: nothing, rejected: nothing },
    log: silentLog,
    isStopping: () => false,
    monotonicMs: () => 0,
  });

const MIB = 1_048_576;

/** A post of so many bytes; without `isWhole` its last byte never comes. */
function post(bytes: number, { isWhole }: { isWhole: boolean }): Request {
  const text = '{"alerts":[]}'.padEnd(isWhole ? bytes : bytes - 1, " ");
  return announced(bytes, (controller) => {
    controller.enqueue(new TextEncoder().encode(text));
    if (isWhole) controller.close();
  });
}

/** A post that says it has so many bytes, of which those come that `start` gives. */
function announced(
  bytes: number,
  start: (controller: ReadableStreamDefaultController<Uint8Array>) => void,
): Request {
  const body = new ReadableStream<Uint8Array>({ start });
  const headers = { "x-webhook-secret": SECRET, "content-length": String(bytes) };
  return new Request("http://localhost/webhook", { method: "POST", headers, body });
}

/** The status of an answer, null as long as there is none. */
function statusOf(answer: Promise<Response>): { status: number | null } {
  const seen: { status: number | null } = { status: null };
  void answer.then(({ status }) => {
    seen.status = status;
  });
  return seen;
}

/** Lets what can go on without time go on. */
async function settle(): Promise<void> {
  for (let at = 0; at < 50; at += 1) await Promise.resolve();
}

test("a body waits for memory for 15 seconds, then gets 503; a small one never does", async () => {
  const { fetch } = app();
  const held = [8, 8, 8].map((size) => statusOf(fetch(post(size * MIB, { isWhole: false }))));
  const waiting = statusOf(fetch(post(70 * 1024, { isWhole: true })));
  await settle();
  jest.advanceTimersByTime(14_999);
  await settle();
  expect([waiting.status, held.map(({ status }) => status)]).toEqual([null, [null, null, null]]);
  expect((await fetch(post(65_536, { isWhole: true }))).status).toBe(200);
  jest.advanceTimersByTime(1);
  await settle();
  expect(waiting.status).toBe(503);
});

test("a sender has 30 seconds for its body, then gets 408, and its memory is free for others", async () => {
  const { fetch } = app();
  const held = [8, 8, 8].map((size) => statusOf(fetch(post(size * MIB, { isWhole: false }))));
  await settle();
  jest.advanceTimersByTime(20_000);
  const waiting = statusOf(fetch(post(70 * 1024, { isWhole: true })));
  await settle();
  jest.advanceTimersByTime(9_999);
  await settle();
  expect([waiting.status, held.map(({ status }) => status)]).toEqual([null, [null, null, null]]);
  jest.advanceTimersByTime(1);
  await settle();
  expect([waiting.status, held.map(({ status }) => status)]).toEqual([200, [408, 408, 408]]);
});

test("memory for which a sender waits until its time is over is free for others", async () => {
  const { fetch } = app();
  const hold = () => [8, 8, 8].map((size) => statusOf(fetch(post(size * MIB, { isWhole: false }))));
  const pass = async (ms: number) => {
    await settle();
    jest.advanceTimersByTime(ms);
    await settle();
  };
  let send = (_bytes: number) => {};
  const slow = statusOf(
    fetch(
      announced(8 * MIB, (controller) => {
        send = (bytes) => controller.enqueue(new Uint8Array(bytes));
      }),
    ),
  );
  await pass(5_000);
  const first = hold();
  await pass(20_000);
  send(70 * 1024);
  await pass(5_000);
  expect(slow.status).toBe(408);
  await pass(5_000);
  expect(first.map(({ status }) => status)).toEqual([408, 408, 408]);
  const then = hold();
  await pass(29_999);
  expect(then.map(({ status }) => status)).toEqual([null, null, null]);
});
