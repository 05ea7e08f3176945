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
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      if (isWhole) controller.close();
    },
  });
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
