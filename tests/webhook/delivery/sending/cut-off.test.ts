import { afterEach, expect, test } from "bun:test";
import type { EvolutionClient } from "../../../../lib/providers/evolution/client.ts";
import type { LookUpResult } from "../../../../lib/webhook/delivery/attempts/attempt.ts";
import { messageAttempt } from "../../../../lib/webhook/delivery/attempts/send-alert.ts";
import { type DispatcherFixture, startDispatcher } from "../../support/dispatcher-fixture.ts";
import { retry } from "../../support/retry.ts";
import { resolvedAlert } from "../../support/sample-alert.ts";
import { MINUTE_MS, SECOND_MS } from "../../support/state-fixture.ts";

let run: DispatcherFixture;
afterEach(async () => await run.close());

test("a send that a kill cut off stays in doubt while the peer cannot be asked, and is not repeated when it was taken", async () => {
  let sends = 0;
  let known: LookUpResult = { status: "unanswered", code: "gateway_unreachable" };
  run = await startDispatcher({
    async message(_row, signal) {
      sends += 1;
      if (sends > 1) return { status: "delivered", reference: "repeated", url: null };
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      return await new Promise(() => {});
    },
    lookUp: async () => known,
  });
  const [accepted] = await run.accept(resolvedAlert());
  await run.advance(SECOND_MS);
  await run.kill();
  await run.advance(8 * MINUTE_MS);
  expect([sends, (await run.state.stats()).message.queued]).toEqual([1, 1]);

  known = { status: "delivered", reference: "taken", url: null };
  await run.advance(6 * MINUTE_MS);
  const { message } = await run.state.latest(accepted!.alert.fingerprint);
  expect(message).toMatchObject({ status: "delivered", reference: "taken" });
  expect(sends).toBe(1);
});

const NOT_YET = { status: "not_found" } as const;
const AWAY = { status: "unanswered", code: "gateway_unreachable" } as const;
test.each([
  ["kill", NOT_YET],
  ["kill", AWAY],
  ["restart", NOT_YET],
  ["restart", AWAY],
] as const)(
  "a send that a %s cut off while the gateway waited for WhatsApp is not repeated before it can have ended: %j at first",
  async (way, first) => {
    let sends = 0;
    const sendText: EvolutionClient["sendText"] = (_message, signal) => {
      sends += 1;
      const aborted = { status: "unknown", code: "gateway_aborted" } as const;
      return new Promise((resolve) => signal!.addEventListener("abort", () => resolve(aborted)));
    };
    const findInstance = async () => ({ status: "found" as const, name: "ops" });
    run = await startDispatcher({
      message: messageAttempt({ gateway: { sendText }, findInstance, phone: "5511912345678" }),
      // It waits for a minute at most, and writes down what it sends after that.
      async lookUp() {
        if (run.nowMs < 62 * SECOND_MS) return run.nowMs < 5 * SECOND_MS ? first : NOT_YET;
        return { status: "delivered", reference: "taken", url: null };
      },
    });
    const [accepted] = await run.accept(resolvedAlert());
    await run.advance(SECOND_MS);
    await run[way]();
    await run.advance(2 * MINUTE_MS);
    const { message } = await run.state.latest(accepted!.alert.fingerprint);
    expect([message, sends]).toMatchObject([{ status: "delivered", reference: "taken" }, 1]);
  },
);

test("nor is it in doubt before that, when it was the third", async () => {
  let sends = 0;
  let isTaken = false;
  run = await startDispatcher({
    async message(_row, signal) {
      sends += 1;
      if (sends < 3) return retry("gateway_http_500", { unclear: { knownAfterMs: 5_000 } });
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      return await new Promise(() => {});
    },
    lookUp: async () => (isTaken ? { status: "delivered", reference: "taken", url: null } : NOT_YET),
  });
  const [accepted] = await run.accept(resolvedAlert());
  await run.advance(MINUTE_MS);
  expect(sends).toBe(3);
  await run.kill();
  await run.advance(MINUTE_MS);
  isTaken = true;
  await run.advance(MINUTE_MS);
  const { message } = await run.state.latest(accepted!.alert.fingerprint);
  expect([message, sends]).toMatchObject([{ status: "delivered", reference: "taken" }, 3]);
});
