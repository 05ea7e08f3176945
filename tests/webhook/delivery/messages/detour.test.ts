/** What went the other way is told by one message, once. */
import { afterEach, expect, test } from "bun:test";
import type { Attempt } from "../../../../lib/webhook/delivery/attempts/attempt.ts";
import { type DispatcherFixture, startDispatcher } from "../../support/dispatcher-fixture.ts";
import { retry } from "../../support/retry.ts";
import { resolvedAlert } from "../../support/sample-alert.ts";
import { MINUTE_MS, SECOND_MS } from "../../support/state-fixture.ts";

let run: DispatcherFixture;
afterEach(async () => await run.close());

const told = () => run.phone.filter(({ text }) => text.includes("Enquanto o WhatsApp"));
const alerts = (...names: string[]) => names.map((fingerprint) => resolvedAlert({ fingerprint }));

async function emailed(...names: string[]): Promise<void> {
  const rows = (await run.state.accept([alerts(...names)])).flatMap((outcome) =>
    "accepted" in outcome ? outcome.accepted.map(({ messageRow }) => messageRow) : [],
  );
  await run.state.recordEmailed(rows);
}

test("the first message that is made then tells it, and only that one, also when several go out at once", async () => {
  run = await startDispatcher();
  await emailed("a", "b");
  await run.accept(...alerts("c", "d", "e"));
  await run.advance(10 * SECOND_MS);
  expect(run.phone).toHaveLength(5);
  expect(told().map(({ text }) => /\d+ alertas? avisados? por e-mail/.exec(text)?.[0])).toEqual([
    "2 alertas avisados por e-mail",
  ]);
  expect(await run.state.detour()).toEqual({ emailed: 0, givenUp: 0 });
  await run.accept(...alerts("f"));
  await run.advance(SECOND_MS);
  expect(told()).toHaveLength(1);
});

test("it is forgotten only when a message that tells it is delivered", async () => {
  let isDown = true;
  const message: Attempt = async () => {
    if (!isDown) return { status: "delivered", reference: null, url: null };
    return retry("gateway_unreachable", { peerDown: true });
  };
  run = await startDispatcher({ message });
  await emailed("a");
  await run.accept(...alerts("b"));
  await run.advance(5 * MINUTE_MS);
  expect(await run.state.detour()).toMatchObject({ emailed: 1 });
  isDown = false;
  await run.advance(5 * MINUTE_MS);
  expect(run.phone).toHaveLength(2);
  expect(told()).toHaveLength(1);
  expect(await run.state.detour()).toMatchObject({ emailed: 0 });
});

test("a message that a proxy may have passed on tells it alone, also when its text is made anew", async () => {
  let isDown = true;
  const seen: string[] = [];
  const message: Attempt = async ({ text, alert }) => {
    seen.push(text ?? "");
    if (!isDown || alert.fingerprint === "c") return { status: "delivered", reference: null, url: null };
    return retry("gateway_http_504", { unanswered: { knownAfterMs: 35_000 } });
  };
  run = await startDispatcher({ message });
  await emailed("a");
  run.phone.length = 0;
  await run.accept(...alerts("b"));
  await run.advance(MINUTE_MS);
  await run.accept(...alerts("c"));
  await run.advance(10 * MINUTE_MS);
  expect(told()).toEqual([]);
  expect(new Set(seen.filter((text) => text.includes("Enquanto o WhatsApp"))).size).toBeGreaterThan(1);
  isDown = false;
  await run.advance(10 * MINUTE_MS);
  expect(told()).toHaveLength(1);
  expect(await run.state.detour()).toMatchObject({ emailed: 0 });
});
