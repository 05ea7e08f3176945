/** Generated bodies and mutilated requests over real sockets, at a listening socket handed over as in production. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { request, speak } from "../../platform/support/raw-http.ts";
import { PROBE_SECRET } from "../support/app-probe.ts";
import { badPayload } from "../support/bad-payloads.ts";
import { startProbes, WAYS, type Way } from "../support/probe-ways.ts";

let probes: Awaited<ReturnType<typeof startProbes>>;

beforeAll(async () => {
  probes = await startProbes();
});

afterAll(() => probes.stop());

const HEADERS = [`X-Webhook-Secret: ${PROBE_SECRET}`, "Content-Type: application/json"];
const AT_ONCE = 16;
const handedOver = WAYS.filter((way) => way.includes("handed over"));

/** Sends each on a connection of its own, several at a time; returns the answers. */
async function sayAll(way: Way, requests: readonly Uint8Array[], half = false) {
  const waiting = requests.entries();
  const answers: { at: number; status: number; ended: boolean; text: string }[] = [];
  const sender = async () => {
    for (const [at, bytes] of waiting) {
      const { status, ended, text } = await speak(probes.ports[way], [bytes], undefined, undefined, half);
      answers.push({ at, status, ended, text });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
  return answers;
}

async function stillAnswers(way: Way): Promise<void> {
  const alert = '{"status":"resolved","labels":{"alertname":"A"}}';
  expect((await speak(probes.ports[way], [request("POST /webhook", HEADERS, alert)])).status).toBe(200);
}

describe.each(handedOver)("the webhook on %s", (way) => {
  test("answers thousands of bad payloads, none of them with a 5xx", async () => {
    const bodies = fc.sample(badPayload, way.startsWith("Bun") ? 4_000 : 1_000);
    const requests = bodies.map((body) => request("POST /webhook", HEADERS, body as string | Uint8Array));
    const answers = await sayAll(way, requests);
    const odd = answers.filter(({ status, ended }) => ![200, 400, 422].includes(status) || !ended);
    expect(odd.map(({ at, status }) => [bodies[at], status])).toEqual([]);
    await stillAnswers(way);
  });

  test("answers mutilated requests with a refusal or not at all, and closes their connections", async () => {
    const whole = request(
      "POST /webhook",
      [...HEADERS, "Connection: keep-alive"],
      '{"status":"x","labels":{}}',
    );
    const noise = fc.uint8Array({ minLength: 1, maxLength: 4 });
    const mutilated = fc
      .tuple(fc.nat(whole.byteLength), fc.nat(8), noise)
      .map(([at, cut, bytes]) => Buffer.concat([whole.subarray(0, at), bytes, whole.subarray(at + cut)]));
    const requests = fc.sample(mutilated, 1_000);
    const answers = await sayAll(way, requests, true);
    const odd = answers.filter(({ status, ended }) => (status >= 500 && status !== 505) || !ended);
    expect(odd.map(({ at, text }) => [requests[at]?.toString("latin1"), text])).toEqual([]);
    await stillAnswers(way);
  });
});
