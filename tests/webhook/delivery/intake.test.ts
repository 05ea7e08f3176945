/** How posts are committed and answered when the store or the dispatcher misbehaves, which no service does on demand. */
import { describe, expect, test } from "bun:test";
import type { Alert } from "../../../lib/webhook/alert/alert.ts";
import { type Deliveries, placedIn } from "../../../lib/webhook/delivery/alert-answer.ts";
import type { Acceptance } from "../../../lib/webhook/delivery/degraded-mode.ts";
import { Intake } from "../../../lib/webhook/delivery/intake.ts";
import { createWebhookMetrics } from "../../../lib/webhook/metrics/metrics.ts";
import type { State } from "../../../lib/webhook/store/outbox.ts";
import { silentLog } from "../../support/silent-log.ts";
import { sampleAlert } from "../support/sample-alert.ts";
import { testClock } from "../support/test-clock.ts";

const STATE = {} as State;
const IDLE: Deliveries = { look: async () => {}, inFlight: () => null };

type Accept = (posts: readonly (readonly Alert[])[]) => Promise<Acceptance[]>;

/** Keeps everything. */
const keep: Accept = async (posts) =>
  posts.map((alerts) => ({
    placed: alerts.map((alert) =>
      placedIn(STATE, { alert, messageRow: 1, isRepeat: false, issue: { status: "not_firing" } }),
    ),
  }));

function intakeWith(accept: Accept, dispatcher: Deliveries = IDLE) {
  const clock = testClock(0);
  const intake = new Intake({
    degradedMode: { accept, answered() {} },
    dispatcher,
    metrics: createWebhookMetrics({ version: "test" }),
    log: silentLog,
    monotonicMs: clock.nowMs,
    sleep: clock.sleep,
  });
  return { intake, clock };
}

const alerts = (count: number): Alert[] => Array.from({ length: count }, () => sampleAlert());

describe("Intake", () => {
  test("a commit that throws refuses its posts, and the next posts are taken", async () => {
    let calls = 0;
    const { intake } = intakeWith(async (posts) => {
      calls += 1;
      if (calls === 1) throw new Error("a fault");
      return await keep(posts);
    });
    expect(await Promise.all([intake.take(alerts(1), 0), intake.take(alerts(2), 0)])).toEqual([null, null]);
    expect(await intake.take(alerts(1), 0)).toHaveLength(1);
    await intake.stop();
    expect(await intake.take(alerts(1), 0)).toBeNull();
  });

  const forever = new Promise<never>(() => {});
  test.each<[string, Deliveries]>([
    ["looks for rows", { look: () => forever, inFlight: () => null }],
    ["sends", { look: async () => {}, inFlight: () => forever }],
  ])("is answered five seconds after the commit while the dispatcher %s", async (_what, dispatcher) => {
    const { intake, clock } = intakeWith(keep, dispatcher);
    let isAnswered = false;
    const answer = intake.take(alerts(1), 0).finally(() => {
      isAnswered = true;
    });
    await clock.advance(4_999);
    expect(isAnswered).toBe(false);
    await clock.advance(1);
    expect(await answer).toMatchObject([{ whatsapp: "queued" }]);
  });

  test("posts that wait are committed together in their order, up to a thousand alerts", async () => {
    const sizes: number[][] = [];
    const { intake } = intakeWith(async (posts) => {
      sizes.push(posts.map(({ length }) => length));
      return await keep(posts);
    });
    await Promise.all([1, 1_500, 1, 600, 600, 1].map((count) => intake.take(alerts(count), 0)));
    expect(sizes).toEqual([[1], [1_500], [1, 600], [600, 1]]);
  });

  test("a post whose commit is late is answered after 22 seconds, and is not sent again by us", async () => {
    const { intake, clock } = intakeWith(() => forever);
    const answer = intake.take(alerts(1), 0);
    await clock.advance(22_000);
    expect(await answer).toBeNull();
  });

  test("a small post waits for one large post, not for all that came before it", async () => {
    const sizes: number[][] = [];
    const { intake } = intakeWith(async (posts) => {
      sizes.push(posts.map(({ length }) => length));
      return await keep(posts);
    });
    await Promise.all([1_500, 1_600, 1_700, 1, 2].map((count) => intake.take(alerts(count), 0)));
    expect(sizes).toEqual([[1_500], [1, 2], [1_600], [1_700]]);
  });

  test("of more posts than can wait the last are refused at once", async () => {
    const opened = Promise.withResolvers<void>();
    const { intake } = intakeWith(async (posts) => {
      await opened.promise;
      return await keep(posts);
    });
    const posts = Array.from({ length: 11_000 }, () => intake.take(alerts(1), 0));
    expect(await posts.at(-1)!).toBeNull();
    opened.resolve();
    const answers = await Promise.all(posts);
    expect(answers.filter((answer) => answer === null)).toHaveLength(1_000);
  });
});
