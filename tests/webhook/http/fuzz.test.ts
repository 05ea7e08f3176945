/** Generated bodies and mutilated requests, over raw sockets. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { badPayload } from "../support/bad-payloads.ts";
import { OWN, post, rawService, SECRET } from "../support/raw-service.ts";
import { startService } from "../support/start-service.ts";

const raw = rawService(() => startService({ secret: SECRET }));
const AT_ONCE = 16;

/** Sends each on a connection of its own, several at a time; returns the answers in their order. */
async function sayAll(requests: readonly Uint8Array[], half = false) {
  const waiting = requests.entries();
  const answers: { status: number; ended: boolean; text: string }[] = [];
  const sender = async () => {
    for (const [at, bytes] of waiting) answers[at] = await raw.say(bytes, half);
  };
  await raw.patiently(Promise.all(Array.from({ length: AT_ONCE }, sender)));
  return answers;
}

test("thousands of bad payloads are answered, none of them with a 5xx", async () => {
  const bodies = fc.sample(badPayload, 4_000);
  const requests = bodies.map((body) => post([OWN], body as string | Uint8Array));
  const answers = await sayAll(requests);
  const odd = answers.flatMap(({ status, ended }, at) =>
    [200, 400, 422].includes(status) && ended ? [] : [[bodies[at], status]],
  );
  expect(odd).toEqual([]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400, 422]));
  expect((await raw.patiently(raw.say(post()))).status).toBe(200);
});

test("mutilated requests get a refusal or nothing, and their connections are closed", async () => {
  const whole = post([OWN, "Connection: keep-alive"], '{"status":"x","labels":{}}');
  const noise = fc.uint8Array({ minLength: 1, maxLength: 4 });
  const mutilated = fc
    .tuple(fc.nat(whole.byteLength), fc.nat(8), noise)
    .map(([at, cut, bytes]) => Buffer.concat([whole.subarray(0, at), bytes, whole.subarray(at + cut)]));
  const requests = fc.sample(mutilated, 1_000);
  const answers = await sayAll(requests, true);
  const odd = answers.flatMap(({ status, ended, text }, at) =>
    (status >= 500 && status !== 505) || !ended ? [[requests[at]?.toString("latin1"), text]] : [],
  );
  expect(odd).toEqual([]);
  expect((await raw.patiently(raw.say(post()))).status).toBe(200);
});
