import { afterEach, expect, test } from "bun:test";
import type { LookUpResult } from "../../../../lib/webhook/delivery/attempts/attempt.ts";
import { type DispatcherFixture, startDispatcher } from "../../support/dispatcher-fixture.ts";
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
