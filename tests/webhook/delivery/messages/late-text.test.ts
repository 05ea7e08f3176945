/** A message that could not be sent at first says so when it arrives. */
import { afterEach, expect, test } from "bun:test";
import type {
  Attempt,
  AttemptResult,
  LookUpResult,
  Retry,
} from "../../../../lib/webhook/delivery/attempts/attempt.ts";
import { type DispatcherFixture, startDispatcher } from "../../support/dispatcher-fixture.ts";
import { retry } from "../../support/retry.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import { MINUTE_MS, SECOND_MS, START_MS } from "../../support/state-fixture.ts";

const REFUSED = retry("sem_instancia_gateway", { stopsChannel: true });
const TAKEN = { status: "delivered", reference: "id", url: null } as const;
const startsAt = new Date(START_MS - MINUTE_MS).toISOString();

let run: DispatcherFixture;
let answer: AttemptResult;
let tried: string[];
afterEach(async () => await run.close());

async function start(changes: Parameters<typeof startDispatcher>[0] = {}): Promise<void> {
  tried = [];
  const message: Attempt = async ({ text }) => {
    tried.push(text ?? "");
    return answer;
  };
  run = await startDispatcher({ message, ...changes });
}

test("one that was refused for ten minutes says how old it is, and what went by e-mail meanwhile", async () => {
  answer = REFUSED;
  await start();
  const [first] = await run.accept(sampleAlert({ startsAt }));
  const [other] = await run.accept(resolvedAlert({ fingerprint: "other" }));
  expect(tried[0]).toContain("(há 1 min)");
  await run.advance(9 * MINUTE_MS);
  await run.state.recordEmailed([first!.messageRow, other!.messageRow]);
  answer = TAKEN;
  await run.advance(2 * MINUTE_MS);
  expect(run.phone.map(({ row }) => row)).toEqual([first!.messageRow, other!.messageRow]);
  const [text, next] = run.phone.map((sent) => sent.text) as [string, string];
  expect(text).toMatch(/\(há 1[01] min\) · enviado com (9|10) min de atraso/);
  expect(text).toContain("Enquanto o WhatsApp não recebia: 2 alertas avisados por e-mail");
  expect(next).not.toContain("Enquanto");
});

test("the first one that is delivered tells what went by e-mail, also when an older one is refused again", async () => {
  answer = { ...REFUSED, code: "gateway_http_400", stopsChannel: false };
  await start();
  const [first] = await run.accept(resolvedAlert());
  await run.state.recordEmailed([first!.messageRow]);
  await run.advance(MINUTE_MS);
  expect(tried.at(-1)).toContain("1 alerta avisado por e-mail");
  answer = TAKEN;
  await run.accept(resolvedAlert({ fingerprint: "other" }));
  await run.advance(10 * MINUTE_MS);
  expect(run.phone.map(({ text }) => text.includes("Enquanto o WhatsApp"))).toEqual([true, false]);
});

test("one that may be on the phone keeps its text: it is looked for by it", async () => {
  answer = { ...REFUSED, stopsChannel: false, unclear: { knownAfterMs: 5_000 } };
  await start();
  await run.accept(sampleAlert({ startsAt }));
  await run.advance(SECOND_MS);
  answer = { ...REFUSED, stopsChannel: false };
  await run.advance(10 * MINUTE_MS);
  expect(tried.length).toBeGreaterThan(3);
  expect(new Set(tried).size).toBe(1);
});

const OUTAGE: Retry = { ...REFUSED, stopsChannel: false, unanswered: { knownAfterMs: 5_000 } };

test("one of an outage keeps its text until the gateway says that it has none of it, and then says how late it is", async () => {
  answer = OUTAGE;
  let found: LookUpResult = { status: "unanswered", code: "gateway_http_502" };
  await start({ lookUp: async () => found });
  const [first] = await run.accept(sampleAlert({ startsAt }));
  await run.state.recordEmailed([first!.messageRow]);
  await run.advance(10 * MINUTE_MS);
  expect(tried.length).toBeGreaterThan(3);
  expect(new Set(tried).size).toBe(1);
  found = { status: "not_found" };
  answer = TAKEN;
  await run.advance(10 * MINUTE_MS);
  expect(run.phone.map(({ text }) => text)).toEqual([
    expect.stringMatching(/enviado com \d+ min de atraso[\s\S]*1 alerta avisado por e-mail/),
  ]);
  expect(await run.state.detour()).toEqual({ emailed: 0, givenUp: 0 });
});

test("one that was passed on less than a minute ago keeps its text, though the gateway does not have it yet", async () => {
  answer = OUTAGE;
  await start({ lookUp: async () => ({ status: "not_found" }) });
  await run.accept(sampleAlert({ startsAt: new Date(START_MS - 30 * SECOND_MS).toISOString() }));
  await run.advance(40 * SECOND_MS);
  expect(tried.length).toBeGreaterThan(2);
  expect(new Set(tried).size).toBe(1);
});

test("one of several alerts is late as a whole, and tells the same ones in the same order", async () => {
  answer = REFUSED;
  await start({ digestAfterSeconds: 1 });
  const alerts = ["warning", "high", "info", "high"].map((severity, at) =>
    resolvedAlert({ fingerprint: `f${at}`, name: `Regra ${at}`, labels: { instance: `i${at}` }, severity }),
  );
  await run.accept(...alerts);
  await run.advance(10 * MINUTE_MS);
  answer = TAKEN;
  await run.advance(2 * MINUTE_MS);
  expect(run.phone).toHaveLength(1);
  const { text } = run.phone[0]!;
  expect(text).toMatch(/Mais antigo enviado com 1[01] min de atraso/);
  const lines = (of: string) => of.split("\n").filter((line) => /^\S+ Regra/.test(line));
  expect(lines(text)).toHaveLength(4);
  expect(lines(text)).toEqual(lines(tried[0]!));
  expect((await run.state.stats()).message.queued).toBe(0);
});
