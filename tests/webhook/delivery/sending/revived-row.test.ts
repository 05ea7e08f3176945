import { afterEach, expect, test } from "bun:test";
import type { LookUpResult, Retry } from "../../../../lib/webhook/delivery/attempts/attempt.ts";
import { type DispatcherFixture, startDispatcher } from "../../support/dispatcher-fixture.ts";
import { retry } from "../../support/retry.ts";
import { resolvedAlert } from "../../support/sample-alert.ts";
import { MINUTE_MS, SECOND_MS } from "../../support/state-fixture.ts";

const UNCLEAR = retry("gateway_http_500", { peerDown: true, unclear: { knownAfterMs: 5_000 } });
const LOST: Retry = { ...UNCLEAR, unclear: { knownAfterMs: 5_000, isLost: true } };

let run: DispatcherFixture;
afterEach(async () => await run.close());

test("broken connections of before a row was tried again prove nothing of its later sends", async () => {
  let sends = 0;
  let answer = LOST;
  let known: LookUpResult = { status: "not_found" };
  run = await startDispatcher({
    lookMs: 5 * SECOND_MS,
    async message() {
      sends += 1;
      return answer;
    },
    lookUp: async () => known,
  });
  const inDoubt = async () => (await run.state.stats()).message.inDoubt;
  await run.accept(resolvedAlert());
  await run.advance(60 * MINUTE_MS);
  expect([sends, await inDoubt()]).toEqual([3, 1]);

  // What the peer answers in an unclear way it may have sent and not written down.
  answer = UNCLEAR;
  known = { status: "absent" };
  expect(await run.state.retryDead(null)).toBe(1);
  await run.advance(60 * MINUTE_MS);
  expect([sends, await inDoubt()]).toEqual([6, 1]);
});
