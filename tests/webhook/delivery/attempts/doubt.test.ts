/** Sends whose end is not known: a service that is killed, and what is looked up before a repetition. */
import { afterEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type {
  Attempt,
  AttemptResult,
  LookUpResult,
  Retry,
} from "../../../../lib/webhook/delivery/attempts/attempt.ts";
import { decideSettlement } from "../../../../lib/webhook/delivery/sending/settlement.ts";
import { type DispatcherFixture, startDispatcher } from "../../support/dispatcher-fixture.ts";
import { retry } from "../../support/retry.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../support/state-fixture.ts";

/** How often rows are looked for in an hour's outage, and in a day's, at whose end a row waits for so long. */
const OFTEN_MS = 10 * SECOND_MS;
const SELDOM_MS = 2.5 * MINUTE_MS;
const UNCLEAR = retry("gateway_http_500", { peerDown: true, unclear: { knownAfterMs: 5_000 } });
const TAKEN = { status: "delivered", reference: "id", url: null } as const;

describe("a gateway that keeps nothing", () => {
  let run: DispatcherFixture;
  afterEach(async () => await run.close());
  const message = async () => (await run.state.stats()).message;

  test("gets at most three sends of a row, whatever mix of kills and unclear answers there is", async () => {
    let sends = 0;
    let isDying = false;
    const attempt: Attempt = async (_row, signal) => {
      sends += 1;
      if (!isDying) return UNCLEAR;
      // The process ends before the answer, and nothing is recorded.
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      return await new Promise(() => {});
    };
    run = await startDispatcher({ message: attempt, lookMs: OFTEN_MS });
    await run.accept(resolvedAlert());
    await run.advance(SECOND_MS);
    expect(sends).toBe(1);
    isDying = true;
    await run.advance(10 * SECOND_MS);
    expect(sends).toBe(2);
    await run.kill();
    isDying = false;
    await run.advance(2 * MINUTE_MS);
    expect(sends).toBe(3);
    await run.advance(DAY_MS / 24);
    expect(sends).toBe(3);
    expect(await message()).toMatchObject({ queued: 0, dead: 0, inDoubt: 1 });

    // A person decides; then it is sent again, with the same bytes.
    expect(await run.state.retryDead(null)).toBe(1);
    await run.advance(MINUTE_MS);
    expect(sends).toBe(6);
  });

  test("is an outage to nobody: an outage is repeated for as long as it takes", async () => {
    let sends = 0;
    run = await startDispatcher({
      lookMs: OFTEN_MS,
      async message() {
        sends += 1;
        return { ...UNCLEAR, code: "gateway_http_502", unclear: null };
      },
    });
    await run.accept(resolvedAlert());
    await run.advance(30 * MINUTE_MS);
    expect(sends).toBeGreaterThan(10);
    expect(await message()).toMatchObject({ queued: 1, inDoubt: 0 });
  });

  test("and refuses us after an unclear answer counts as one unclear send, however long it lasts", async () => {
    let answer: Retry | typeof TAKEN = { ...UNCLEAR, stopsChannel: true, code: "sem_instancia_gateway" };
    run = await startDispatcher({ message: async () => answer, lookMs: OFTEN_MS });
    await run.accept(resolvedAlert());
    await run.advance(60 * MINUTE_MS);
    expect(await message()).toMatchObject({ queued: 1, inDoubt: 0 });
    answer = TAKEN;
    await run.advance(2 * MINUTE_MS);
    expect(run.phone).toHaveLength(1);
  });
});

describe("a look-up", () => {
  let run: DispatcherFixture;
  afterEach(async () => await run.close());

  test("comes before each repetition and ends it when the message is found; a stopped channel stays stopped", async () => {
    const asked: number[] = [];
    let sends = 0;
    run = await startDispatcher({
      async message() {
        sends += 1;
        return UNCLEAR;
      },
      async lookUp({ unclear }) {
        asked.push(unclear);
        return unclear === 2 ? { ...TAKEN, reference: "found" } : { status: "not_found" };
      },
    });
    const [accepted] = await run.accept(resolvedAlert());
    await run.advance(5 * MINUTE_MS);
    expect([sends, asked]).toEqual([2, [1, 2]]);
    const { message } = await run.state.latest(accepted!.alert.fingerprint);
    expect(message).toMatchObject({ status: "delivered", reference: "found" });
  });

  test("is made for no issue: the tracker knows a repetition by its id", async () => {
    let creations = 0;
    run = await startDispatcher({
      lookMs: OFTEN_MS,
      async issue() {
        creations += 1;
        return creations < 9 ? { ...UNCLEAR, code: "tracker_timeout", unclear: null } : TAKEN;
      },
      lookUp: () => Promise.reject(new Error("Asked for an issue")),
    });
    await run.accept(sampleAlert());
    await run.advance(30 * MINUTE_MS);
    expect([creations, run.issues.length]).toEqual([9, 1]);
  });
});

describe("a process that is killed while the peer takes a message", () => {
  let run: DispatcherFixture;
  afterEach(async () => await run.close());

  test("looks for it once no send can be on its way any more, and keeps no other message waiting", async () => {
    const sends: number[] = [];
    let secondsAfter = 0;
    run = await startDispatcher({
      lookMs: SECOND_MS,
      message({ id }) {
        sends.push(id);
        return sends.length === 1 ? new Promise(() => {}) : Promise.resolve({ ...TAKEN, reference: `${id}` });
      },
      // Written down four seconds after the send.
      lookUp: async () => (secondsAfter >= 4 ? { ...TAKEN, reference: "found" } : { status: "not_found" }),
    });
    const [first] = await run.accept(resolvedAlert());
    await run.advance(SECOND_MS);
    await run.kill();
    const [second] = await run.accept({ ...resolvedAlert(), fingerprint: "another" });
    await run.advance(SECOND_MS);
    expect(sends).toEqual([first!.messageRow, second!.messageRow]);
    for (secondsAfter = 1; secondsAfter < 70; secondsAfter += 1) await run.advance(SECOND_MS);
    expect(sends).toEqual([first!.messageRow, second!.messageRow]);
    const { message } = await run.state.latest(first!.alert.fingerprint);
    expect(message).toMatchObject({ status: "delivered", reference: "found" });
  });
});

describe("a connection that breaks once the message is written", () => {
  const LOST: Retry = {
    ...UNCLEAR,
    code: "gateway_connection_lost",
    unclear: { knownAfterMs: 5_000, isLost: true },
  };
  const UNANSWERED = { status: "unanswered", code: "gateway_unreachable" } as const;
  let run: DispatcherFixture;
  let sentAtMs: number[];
  let answer: AttemptResult;
  let known: LookUpResult;
  afterEach(async () => await run.close());
  const message = async () => (await run.state.stats()).message;

  async function start(): Promise<void> {
    sentAtMs = [];
    let beganMs = 0;
    run = await startDispatcher({
      lookMs: OFTEN_MS,
      async message() {
        sentAtMs.push(run.nowMs - beganMs);
        return answer;
      },
      lookUp: async () => known,
    });
    beganMs = run.nowMs;
    await run.accept(resolvedAlert());
  }

  test("is looked into until the peer can be asked, without another send", async () => {
    [answer, known] = [LOST, UNANSWERED];
    await start();
    await run.advance(9 * MINUTE_MS);
    expect(sentAtMs).toHaveLength(1);
    expect(await message()).toMatchObject({ queued: 1, inDoubt: 0 });
    known = { ...TAKEN, reference: "found" };
    await run.advance(6 * MINUTE_MS);
    expect(sentAtMs).toHaveLength(1);
    expect(await message()).toMatchObject({ queued: 0, inDoubt: 0 });
  });

  test("is sent again after ten minutes without a word, three times at most, and then waits for one", async () => {
    [answer, known] = [LOST, UNANSWERED];
    await start();
    await run.advance(40 * MINUTE_MS);
    expect(sentAtMs).toHaveLength(3);
    expect(sentAtMs[1]).toBeGreaterThan(10 * MINUTE_MS);
    expect(await message()).toMatchObject({ queued: 1, inDoubt: 0 });
    known = { status: "absent" };
    answer = { ...TAKEN, reference: "sent" };
    await run.advance(6 * MINUTE_MS);
    expect(sentAtMs).toHaveLength(4);
    expect(await message()).toMatchObject({ queued: 0, inDoubt: 0 });
  });

  test("leaves no row in doubt where the peer proves that it has it not, also for an hour", async () => {
    [answer, known] = [LOST, { status: "absent" }];
    await start();
    await run.advance(60 * MINUTE_MS);
    expect(sentAtMs.length).toBeGreaterThan(5);
    // From the third on nothing is looked up before the peer must have sent it.
    const gaps = sentAtMs.slice(3).map((atMs, at) => atMs - sentAtMs[at + 2]!);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(65 * SECOND_MS);
    answer = { ...TAKEN, reference: "sent" };
    await run.advance(6 * MINUTE_MS);
    expect(await message()).toMatchObject({ queued: 0, dead: 0, inDoubt: 0 });
  });

  test("and other unclear answers leave it in doubt: the peer may have failed to write it down", async () => {
    [answer, known] = [UNCLEAR, { status: "absent" }];
    await start();
    await run.advance(60 * MINUTE_MS);
    expect(sentAtMs).toHaveLength(3);
    expect(await message()).toMatchObject({ queued: 0, dead: 0, inDoubt: 1 });
  });
});

describe("an outage in which a proxy may have passed the message on", () => {
  const OUTAGE: Retry = {
    ...UNCLEAR,
    code: "gateway_http_504",
    unclear: null,
    unanswered: { knownAfterMs: 35_000 },
  };
  let run: DispatcherFixture;
  let answer: AttemptResult;
  let found: LookUpResult;
  let [sends, asked] = [0, 0];
  afterEach(async () => await run.close());
  const message = async () => (await run.state.stats()).message;

  async function start(options: Parameters<typeof startDispatcher>[0] = {}): Promise<void> {
    [answer, found, sends, asked] = [OUTAGE, { status: "not_found" }, 0, 0];
    run = await startDispatcher({
      async message() {
        sends += 1;
        return answer;
      },
      async lookUp() {
        asked += 1;
        return found;
      },
      ...options,
    });
  }

  test.each<LookUpResult>([{ status: "not_found" }, { status: "unanswered", code: "gateway_http_502" }])(
    "is repeated for 24 hours after one question each (%p), then dead and never in doubt",
    async (says) => {
      await start({ lookMs: SELDOM_MS });
      found = says;
      await run.accept(resolvedAlert());
      await run.advance(23 * 60 * MINUTE_MS);
      expect(await message()).toMatchObject({ queued: 1, inDoubt: 0 });
      expect(sends).toBeGreaterThan(100);
      expect(asked).toBe(sends - 1);
      await run.advance(6 * 60 * MINUTE_MS);
      expect(await message()).toMatchObject({ queued: 0, dead: 1, inDoubt: 0 });

      // Given up in an outage and revived after it, it is looked for once more before it is sent.
      found = { ...TAKEN, reference: "found" };
      const before = sends;
      expect(await run.state.retryDead(null)).toBe(1);
      await run.advance(10 * MINUTE_MS);
      expect(sends).toBe(before);
      expect(await message()).toMatchObject({ queued: 0, dead: 0, inDoubt: 0 });
    },
  );

  test("is over for a message that is found: another process looks, after refusals, before it sends", async () => {
    await start();
    const [accepted] = await run.accept(resolvedAlert());
    await run.advance(SECOND_MS);
    answer = { ...UNCLEAR, code: "gateway_unreachable", unclear: null };
    await run.advance(MINUTE_MS);
    expect(sends).toBeGreaterThanOrEqual(2);
    await run.kill();
    found = { ...TAKEN, reference: "found" };
    const before = sends;
    await run.advance(10 * MINUTE_MS);
    expect(sends).toBe(before);
    const { message: row } = await run.state.latest(accepted!.alert.fingerprint);
    expect(row).toMatchObject({ status: "delivered", reference: "found" });
  });

  test("leaves the gateway the time in which it may still send: a late copy is the only one", async () => {
    await start();
    await run.accept(resolvedAlert());
    await run.advance(34 * SECOND_MS);
    expect([sends, asked]).toEqual([1, 0]);
    found = { ...TAKEN, reference: "late" };
    await run.advance(10 * SECOND_MS);
    expect([sends, asked, (await message()).queued]).toEqual([1, 1, 0]);
  });

  test("takes no turn of the pace for what is found, and holds up no other message", async () => {
    await start({ messagesPerMinute: 4 });
    await run.accept(...["a", "b", "c", "d"].map((fingerprint) => resolvedAlert({ fingerprint })));
    await run.advance(MINUTE_MS);
    expect(sends).toBeLessThanOrEqual(4);
    answer = TAKEN;
    found = { ...TAKEN, reference: "found" };
    await run.accept(sampleAlert({ severity: "critical" }));
    const before = run.phone.length;
    await run.advance(MINUTE_MS);
    expect(run.phone.length).toBeGreaterThan(before);
  });
});

describe("decideSettlement()", () => {
  const tried = fc.record({ triedMs: fc.integer({ min: 0, max: 3 * DAY_MS }), mayEnd: fc.boolean() });
  const result = fc.record({
    status: fc.constant("retry" as const),
    code: fc.constant("code"),
    stopsChannel: fc.boolean(),
    peerDown: fc.boolean(),
    retryAfterMs: fc.option(fc.integer({ min: 0, max: MINUTE_MS })),
    unclear: fc.option(fc.record({ knownAfterMs: fc.integer({ min: 0, max: MINUTE_MS }) })),
  });
  const outage = fc.record({
    unanswered: fc.record({ knownAfterMs: fc.integer({ min: 0, max: MINUTE_MS }) }),
  });

  test("ends a row only after 24 hours of trying, and never as dead when the peer may have taken it", () => {
    fc.assert(
      fc.property(
        ...[tried, result, fc.nat({ max: 9 }), fc.nat({ max: 5 }), fc.boolean()],
        (time, answer, attempts, unclear, isRepeatable) => {
          const row = { attempts, unclear };
          const context = { tried: time, isRepeatable, random: () => 0.5 };
          const settlement = decideSettlement(row, answer, context);
          const isOver = time.triedMs >= DAY_MS && time.mayEnd && !answer.stopsChannel;
          const mayBeThere = !isRepeatable && (unclear > 0 || answer.unclear !== null);
          expect(settlement.status).toBe(isOver ? (mayBeThere ? "in_doubt" : "dead") : "retry");
          if (settlement.status !== "retry") return;
          expect(settlement.delayMs).toBeGreaterThanOrEqual(answer.unclear?.knownAfterMs ?? 0);
          if (!answer.stopsChannel)
            expect(settlement.delayMs).toBeGreaterThanOrEqual(answer.retryAfterMs ?? 1_000);
          expect(settlement.isUnclear && (isRepeatable || answer.unclear === null)).toBe(false);
          if (!isRepeatable && answer.unclear !== null && !answer.stopsChannel)
            expect(settlement.isUnclear).toBe(true);
        },
      ),
    );
  });

  test("an outage that may have passed the message on waits until it can be found, and adds no doubt", () => {
    fc.assert(
      fc.property(
        ...[tried, result, outage, fc.nat({ max: 5 }), fc.boolean()],
        (time, answer, more, unclear, isRepeatable) => {
          const row = { attempts: 1, unclear };
          const context = { tried: time, isRepeatable, random: () => 0.5 };
          const settlement = decideSettlement(row, { ...answer, ...more, unclear: null }, context);
          const without = decideSettlement(row, { ...answer, unclear: null }, context);
          expect(settlement.status).toBe(without.status);
          if (settlement.status !== "retry") return;
          expect(settlement.isUnclear).toBe(false);
          expect(settlement.isUnanswered ?? false).toBe(!isRepeatable);
          expect(settlement.delayMs).toBeGreaterThanOrEqual(more.unanswered.knownAfterMs);
        },
      ),
    );
  });
});
