import { describe, expect, test } from "bun:test";
import type { AttemptResult } from "../../../../lib/webhook/delivery/attempts/attempt.ts";
import type { AcceptOutcome, DueRow, TriedBefore } from "../../../../lib/webhook/state/contract.ts";
import { dueRow } from "../../support/due-row.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  openUnkept,
  REFUSED,
  UNANSWERED,
  UNCLEAR,
  type UnkeptFixture,
} from "../../support/unkept-fixture.ts";

const HALF_HOUR_MS = 30 * 60_000;
const alert = (fingerprint: string, severity = "warning") =>
  sampleAlert({ fingerprint, severity, name: fingerprint, labels: { alertname: fingerprint, severity } });
const namesOf = ({ seen }: UnkeptFixture) => seen.texts.map((text) => /\*(.+?)\*/.exec(text)![1]);

describe("UnkeptAlerts: messages", () => {
  test("answers what the gateway took, says that it is not durable, and counts it", async () => {
    const fixture = openUnkept();
    const answers = await fixture.take(alert("a"), resolvedAlert({ fingerprint: "b" }));
    expect(answers).toMatchObject([
      { fingerprint: "a", whatsapp: "sent", issue: "created", durable: false },
      { fingerprint: "b", whatsapp: "sent", issue: "not_firing", durable: false },
    ]);
    expect(fixture.seen.texts).toHaveLength(2);
    const stats = { queued: 0, dead: 0, inDoubt: 0, oldestQueuedAgeMs: null };
    const text = fixture.metrics.render({
      stats: {
        ...{ message: stats, issue: stats, comment: stats },
        ...{ queuedBytes: 0, oldestCriticalAgeMs: null, reserveBytes: null },
      },
      stops: { message: null, issue: null, comment: null },
      isLeading: true,
      movedAside: false,
      watch: { gatewayOpen: null, pendingMessages: null, newestUnacknowledged: null },
    });
    expect(text).toContain("\nopsctl_webhook_sent_from_memory_total 2\n");
    expect(text).toContain("\nopsctl_webhook_alerts_accepted_total 2\n");
  });

  test("refuses a post of which the gateway did not take everything, and does not send the rest of it twice", async () => {
    const fixture = openUnkept();
    fixture.answers.message = ({ alert: { name } }) =>
      name === "bad" ? REFUSED : { status: "delivered", reference: "id", url: null };
    expect(await fixture.take(alert("good"), alert("bad"))).toBeNull();
    fixture.answers.message = () => ({ status: "delivered", reference: "id", url: null });
    expect(await fixture.take(alert("good"), alert("bad"))).toHaveLength(2);
    expect(namesOf(fixture)).toEqual(["good", "bad", "bad"]);
    // That post has its answer: the next one is another notification.
    expect(await fixture.take(alert("good"))).toHaveLength(1);
    expect(namesOf(fixture)).toEqual(["good", "bad", "bad", "good"]);
  });

  test("no alert that was taken counts as unheard, also when it is posted again with one that was not", async () => {
    const fixture = openUnkept();
    fixture.answers.message = ({ alert: { name } }) =>
      name === "bad" ? REFUSED : { status: "delivered", reference: "id", url: null };
    const unheard = () => fixture.unheard.waiting(0).map((one) => one.alert.name);
    for (let posts = 0; posts < 2; posts += 1) {
      expect(await fixture.take(alert("good", "critical"), alert("bad", "critical"))).toBeNull();
      expect(unheard()).toEqual(["bad"]);
    }
  });

  test("forgets after 30 minutes what it sent for a post that was refused", async () => {
    const fixture = openUnkept();
    fixture.answers.message = ({ alert: { name } }) =>
      name === "bad" ? REFUSED : { status: "delivered", reference: "id", url: null };
    await fixture.take(alert("good"), alert("bad"));
    expect(fixture.unkept.knows([alert("good")])).toBe(true);
    await fixture.advance(HALF_HOUR_MS - 1);
    expect(fixture.unkept.knows([alert("good")])).toBe(true);
    await fixture.advance(1);
    expect(fixture.unkept.knows([alert("good")])).toBe(false);
    await fixture.take(alert("good"));
    expect(namesOf(fixture)).toEqual(["good", "bad", "good"]);
  });

  test("tells posts of the same alert with one message while the first is under way", async () => {
    const fixture = openUnkept();
    const { promise, resolve } = Promise.withResolvers<void>();
    fixture.answers.message = async () => {
      await promise;
      return { status: "delivered", reference: "id", url: null };
    };
    const posts = [fixture.take(alert("a")), fixture.take(alert("a"), alert("a"))];
    await fixture.settle();
    posts.push(fixture.take(alert("a")));
    resolve();
    expect((await Promise.all(posts)).map((answers) => answers?.length)).toEqual([1, 2, 1]);
    expect(fixture.seen.texts).toHaveLength(1);
    expect(fixture.seen.issues).toEqual(["a"]);
    expect(fixture.unkept.knows([alert("a")])).toBe(false);
  });

  test("a firing, its end and another firing are three messages", async () => {
    const fixture = openUnkept();
    const later = sampleAlert({ startsAt: "2026-11-16T15:00:00Z" });
    await fixture.take(sampleAlert(), resolvedAlert({ endsAt: "2026-11-16T14:30:00Z" }), later);
    expect(fixture.seen.texts).toHaveLength(3);
  });

  test("keeps to the pace, the most urgent first, and refuses what waited for 25 seconds", async () => {
    const fixture = openUnkept({ perMinute: 6, burst: 1 });
    const posts = ["warning", "info", "critical", "high", "warning"].map((severity, at) =>
      fixture.take(alert(`${severity}-${at}`, severity)),
    );
    await fixture.advance(24_999);
    expect(namesOf(fixture)).toEqual(["critical-2", "high-3", "warning-0"]);
    await fixture.advance(1);
    expect((await Promise.all(posts)).map((answers) => answers !== null)).toEqual([
      true,
      false,
      true,
      true,
      false,
    ]);
    // No request waits for them any more.
    await fixture.advance(60_000);
    expect(fixture.seen.texts).toHaveLength(3);
  });

  test("counts the time that the state has used", async () => {
    const fixture = openUnkept({ perMinute: 6, burst: 1 });
    await fixture.take(alert("first"));
    const second = fixture.unkept.take([alert("second")], 1_000_000 - 20_000);
    await fixture.advance(5_000);
    expect(await second).toBeNull();
  });

  test("tells more of a large post each time it comes, until all of it is told", async () => {
    const fixture = openUnkept({ perMinute: 60, burst: 10 });
    const alerts = Array.from({ length: 80 }, (_, at) => alert(`a${at}`));
    const statuses: boolean[] = [];
    for (let posts = 0; posts < 3; posts += 1) {
      const post = fixture.take(...alerts);
      await fixture.advance(25_000);
      statuses.push((await post) !== null);
    }
    expect(statuses).toEqual([false, false, true]);
    expect(new Set(namesOf(fixture)).size).toBe(80);
    expect(fixture.seen.texts).toHaveLength(80);
    expect(fixture.seen.issues).toHaveLength(80);
  });

  test("lets a critical alert in when too many wait, instead of the last of the others", async () => {
    const fixture = openUnkept({ perMinute: 60, burst: 1 });
    const crowd = fixture.take(...Array.from({ length: 2_000 }, (_, at) => alert(`a${at}`)));
    await fixture.settle();
    const urgent = fixture.take(alert("urgent", "critical"));
    await fixture.advance(1_000);
    expect(await urgent).toMatchObject([{ whatsapp: "sent" }]);
    await fixture.advance(25_000);
    expect(await crowd).toBeNull();
  });

  test("asks the gateway before it sends what it may have taken, and never sends it a fourth time", async () => {
    const fixture = openUnkept();
    fixture.answers.message = () => UNCLEAR;
    for (let posts = 0; posts < 6; posts += 1) {
      expect(await fixture.take(alert("a"))).toBeNull();
      await fixture.advance(120_000);
    }
    expect(fixture.seen.texts).toHaveLength(3);
    expect(new Set(fixture.seen.texts).size).toBe(1);
    expect(fixture.seen.lookedUp).toBe(5);
    fixture.answers.lookUp = true;
    expect(await fixture.take(alert("a"))).toMatchObject([{ whatsapp: "sent" }]);
    expect(fixture.seen.texts).toHaveLength(3);
  });

  test("asks the gateway once before it sends again what a proxy may have passed on, as often as it is posted", async () => {
    const fixture = openUnkept();
    fixture.answers.message = () => UNANSWERED;
    for (let posts = 0; posts < 6; posts += 1) {
      expect(await fixture.take(alert("a"))).toBeNull();
      await fixture.advance(120_000);
    }
    expect(fixture.seen.texts).toHaveLength(6);
    expect(new Set(fixture.seen.texts).size).toBe(1);
    expect(fixture.seen.lookedUp).toBe(5);
    fixture.answers.lookUp = true;
    expect(await fixture.take(alert("a"))).toMatchObject([{ whatsapp: "sent" }]);
    expect(fixture.seen.texts).toHaveLength(6);
  });

  test("asks the gateway no sooner than it has written down what it took, and sends nothing before", async () => {
    const fixture = openUnkept();
    fixture.answers.message = () => ({ ...UNANSWERED, unanswered: { knownAfterMs: 5_000 } }) as AttemptResult;
    expect(await fixture.take(alert("a"))).toBeNull();
    await fixture.advance(1_000);
    // A sender that tries again within a second, twice; what it posts besides does not wait.
    const again = [fixture.take(alert("a")), fixture.take(alert("a"))];
    fixture.answers.message = () => ({ status: "delivered", reference: "id", url: null });
    expect(await fixture.take(alert("b"))).toMatchObject([{ whatsapp: "sent" }]);
    await fixture.advance(3_999);
    expect(fixture.seen.lookedUp).toBe(0);
    fixture.answers.lookUp = true;
    await fixture.advance(1);
    expect(await Promise.all(again)).toMatchObject([[{ whatsapp: "sent" }], [{ whatsapp: "sent" }]]);
    expect(fixture.seen.lookedUp).toBe(1);
    expect(namesOf(fixture)).toEqual(["a", "b"]);
  });

  test.each([
    ["a proxy whose time was over", { ...UNANSWERED, unanswered: { knownAfterMs: 35_000 } }],
    ["a send whose answer never came", { ...UNCLEAR, unclear: { knownAfterMs: 35_000 } }],
  ] as [string, AttemptResult][])(
    "after %s a post that cannot wait for so long gets no attempt",
    async (_what, answer) => {
      const fixture = openUnkept();
      fixture.answers.message = () => answer;
      expect(await fixture.take(alert("a"))).toBeNull();
      const soon = fixture.take(alert("a"));
      await fixture.advance(25_000);
      expect(await soon).toBeNull();
      // Nobody waits for it any more.
      await fixture.advance(20_000);
      expect([fixture.seen.lookedUp, fixture.seen.texts.length]).toEqual([0, 1]);
      fixture.answers.lookUp = true;
      expect(await fixture.take(alert("a"))).toMatchObject([{ whatsapp: "sent" }]);
      expect([fixture.seen.lookedUp, fixture.seen.texts.length]).toEqual([1, 1]);
    },
  );

  test("waits for no look-up when the service ends", async () => {
    const fixture = openUnkept();
    fixture.answers.message = () => ({ ...UNANSWERED, unanswered: { knownAfterMs: 5_000 } }) as AttemptResult;
    expect(await fixture.take(alert("a"))).toBeNull();
    const again = fixture.take(alert("a"));
    await fixture.settle();
    await fixture.unkept.stop(60_000);
    expect(await again).toBeNull();
    expect(fixture.seen.texts).toHaveLength(1);
  });

  test("goes before rows of the outbox", async () => {
    // A turn each 1,050 ms: when it comes, a row is looked for first.
    const fixture = openUnkept({ perMinute: 60_000 / 1_050, burst: 1 });
    fixture.answers.begins = true;
    fixture.answers.due = [dueRow()];
    const posts = ["a", "b"].map((name) => fixture.take(alert(name)));
    await fixture.advance(1_060);
    await fixture.message.pump({ issueGraceMs: 0 });
    await fixture.advance(1_200);
    expect(fixture.seen.texts.map((text) => text === "text")).toEqual([false, false]);
    await fixture.message.pump({ issueGraceMs: 0 });
    await fixture.settle();
    expect(fixture.seen.texts.at(-1)).toBe("text");
    expect((await Promise.all(posts)).every((answers) => answers !== null)).toBe(true);
  });

  test("no row of the outbox starts before the state knows what was sent for those that it begins to keep", async () => {
    const fixture = openUnkept();
    fixture.answers.message = () => UNANSWERED;
    await fixture.take(alert("a"));
    fixture.answers.begins = true;
    fixture.answers.due = [dueRow()];
    const { promise: accepted, resolve: accept } = Promise.withResolvers<AcceptOutcome[]>();
    const handedOver = fixture.unkept.handOver([[alert("a")]], () => accepted);
    await fixture.message.pump({ issueGraceMs: 0 });
    await fixture.settle();
    expect(fixture.seen.texts).toHaveLength(1);
    const issue = { status: "not_firing" } as const;
    accept([{ accepted: [{ alert: alert("a"), messageRow: 7, isRepeat: false, issue }] }]);
    await handedOver;
    const [text] = fixture.seen.texts;
    expect(fixture.seen.takenUp).toMatchObject([[7, { text, attempts: 1, unclear: 0, unansweredForMs: 0 }]]);
    await fixture.message.pump({ issueGraceMs: 0 });
    await fixture.settle();
    expect(fixture.seen.texts.at(-1)).toBe("text");
  });

  test("one whose answer comes when the state keeps its alert already is settled there, and makes no issue", async () => {
    const fixture = openUnkept();
    const { promise: answer, resolve } = Promise.withResolvers<AttemptResult>();
    fixture.answers.message = () => answer;
    const post = fixture.take(alert("a"));
    await fixture.settle();
    await fixture.handOver(7, alert("a"));
    // Its post need not wait for the answer, and the row waits until the gateway can be asked.
    expect(await post).toMatchObject([{ whatsapp: "queued", issue: "queued" }]);
    expect(fixture.seen.takenUp).toMatchObject([[7, { attempts: 1, unclear: 1, delayMs: 65_000 }]]);
    const taken = { status: "delivered", reference: "id", url: null } as const;
    resolve(taken);
    await fixture.settle();
    expect([fixture.seen.settled, fixture.seen.issues]).toEqual([[[7, taken]], []]);
  });

  test("one that began only after the state was given its alert is left to the state that keeps it", async () => {
    const fixture = openUnkept();
    const { promise: accepted, resolve: accept } = Promise.withResolvers<AcceptOutcome[]>();
    const handedOver = fixture.unkept.handOver([[alert("a")]], () => accepted);
    const { promise: answer, resolve } = Promise.withResolvers<AttemptResult>();
    fixture.answers.message = () => answer;
    const post = fixture.take(alert("a"));
    await fixture.settle();
    const issue = { status: "not_firing" } as const;
    accept([{ accepted: [{ alert: alert("a"), messageRow: 7, isRepeat: false, issue }] }]);
    await handedOver;
    expect(fixture.seen.takenUp).toMatchObject([[7, { attempts: 1, unclear: 1, delayMs: 65_000 }]]);
    resolve(REFUSED);
    expect(await post).toMatchObject([{ whatsapp: "queued" }]);
  });

  test("an alert that is posted twice at once was tried once: the other one is told as it says itself", async () => {
    const fixture = openUnkept();
    fixture.answers.message = () => UNCLEAR;
    await fixture.take(alert("a"));
    const [one, other] = [alert("a"), alert("a")];
    const asked: (TriedBefore | undefined)[] = [];
    await fixture.unkept.handOver([[one], [other]], async (tries) => {
      // Asked again where what is written together fails.
      for (const each of [one, other, one, other]) asked.push(tries.message(each));
      return [{ refused: "state_unavailable" }, { refused: "state_unavailable" }];
    });
    expect(asked.map((tried) => tried?.attempts)).toEqual([1, undefined, 1, undefined]);
  });

  test("one whose turn comes just when the state begins to keep its alert is not sent", async () => {
    const fixture = openUnkept({ perMinute: 6, burst: 1 });
    const { promise: claim, resolve } = Promise.withResolvers<null>();
    fixture.answers.claim = claim;
    const post = fixture.take(alert("a", "critical"), alert("b"));
    await fixture.settle();
    await fixture.handOver(7, alert("a", "critical"));
    resolve(null);
    await fixture.settle();
    expect([fixture.seen.texts, fixture.seen.takenUp, fixture.seen.settled]).toEqual([[], [], []]);
    await fixture.advance(10_000);
    expect(await post).toMatchObject([{ whatsapp: "queued" }, { whatsapp: "sent", durable: false }]);
  });

  test("one whose turn comes just when its post is over is not sent", async () => {
    const fixture = openUnkept();
    const { promise: claim, resolve } = Promise.withResolvers<null>();
    fixture.answers.claim = claim;
    const post = fixture.take(alert("a"));
    await fixture.advance(25_000);
    expect(await post).toBeNull();
    resolve(null);
    await fixture.settle();
    expect(fixture.seen.texts).toEqual([]);
    expect(await fixture.take(alert("a"))).toHaveLength(1);
    expect(fixture.seen.texts).toHaveLength(1);
  });

  test("one that was taken is settled in the state that keeps its alert, and its next post is another notification", async () => {
    const fixture = openUnkept();
    fixture.answers.message = ({ alert: { name } }) =>
      name === "bad" ? REFUSED : { status: "delivered", reference: "id", url: null };
    await fixture.take(alert("good"), alert("bad"));
    await fixture.handOver(7, alert("good"));
    expect(fixture.seen.settled).toEqual([[7, { status: "delivered", reference: "id", url: null }]]);
    expect(fixture.unkept.knows([alert("good")])).toBe(false);
  });

  test("posts of the same alert that come one after the other are told with one message, though the first is over", async () => {
    const fixture = openUnkept({ perMinute: 2, burst: 1 });
    await fixture.take(alert("first"));
    const posts = [fixture.take(alert("a"))];
    await fixture.advance(20_000);
    posts.push(fixture.take(alert("a")));
    await fixture.advance(6_000);
    posts.push(fixture.take(alert("a")));
    await fixture.advance(10_000);
    expect((await Promise.all(posts)).map((answers) => answers !== null)).toEqual([false, true, true]);
    expect(namesOf(fixture)).toEqual(["first", "a"]);
  });

  test("one that waits for its look-up is left to the state that begins to keep its alert", async () => {
    const fixture = openUnkept();
    fixture.answers.message = () => ({ ...UNANSWERED, unanswered: { knownAfterMs: 5_000 } }) as AttemptResult;
    expect(await fixture.take(alert("a"))).toBeNull();
    const again = fixture.take(alert("a"));
    await fixture.advance(1_000);
    await fixture.handOver(7, alert("a"));
    expect(await again).toMatchObject([{ whatsapp: "queued" }]);
    await fixture.advance(60_000);
    expect(fixture.seen.takenUp).toMatchObject([[7, { attempts: 1, begunForMs: 1_000, delayMs: 4_000 }]]);
    expect([fixture.seen.texts.length, fixture.seen.lookedUp]).toEqual([1, 0]);
  });

  test("nor does one that was being looked for when its alert was handed over", async () => {
    const fixture = openUnkept();
    fixture.answers.message = () => UNANSWERED;
    await fixture.take(alert("a"));
    fixture.answers.begins = true;
    const { promise: found, resolve: find } = Promise.withResolvers<DueRow[]>();
    fixture.answers.due = found;
    const pumped = fixture.message.pump({ issueGraceMs: 0 });
    await fixture.settle();
    const { promise: accepted, resolve: accept } = Promise.withResolvers<AcceptOutcome[]>();
    const handedOver = fixture.unkept.handOver([[alert("a")]], () => accepted);
    find([dueRow()]);
    await pumped;
    await fixture.settle();
    expect(fixture.seen.texts).toHaveLength(1);
    accept([{ refused: "state_unavailable" }]);
    await handedOver;
    await fixture.message.pump({ issueGraceMs: 0 });
    await fixture.settle();
    expect(fixture.seen.texts.at(-1)).toBe("text");
  });

  test("is not kept waiting by rows that cannot begin: they use up no pace", async () => {
    const fixture = openUnkept({ perMinute: 6, burst: 2 });
    fixture.answers.due = [dueRow()];
    for (let times = 0; times < 3; times += 1) {
      void fixture.message.pump({ issueGraceMs: 0 });
      await fixture.advance(1_000);
    }
    expect(await fixture.take(alert("a"), alert("b"))).toHaveLength(2);
    expect(namesOf(fixture)).toEqual(["a", "b"]);
    const third = fixture.take(alert("c"));
    await fixture.settle();
    for (let times = 0; times < 11; times += 1) {
      void fixture.message.pump({ issueGraceMs: 0 });
      await fixture.advance(1_000);
    }
    expect(namesOf(fixture)).toEqual(["a", "b", "c"]);
    expect(await third).toHaveLength(1);
  });

  test("starts nothing after its end, and waits for what is on its way", async () => {
    const fixture = openUnkept({ perMinute: 6, burst: 1 });
    const { promise, resolve } = Promise.withResolvers<void>();
    fixture.answers.message = async () => {
      await promise;
      return { status: "delivered", reference: "id", url: null };
    };
    const [sending, waiting] = [fixture.take(alert("sending")), fixture.take(alert("waiting"))];
    await fixture.settle();
    const stopping = fixture.unkept.stop(60_000);
    expect(await waiting).toBeNull();
    resolve();
    await stopping;
    expect(await sending).toMatchObject([{ whatsapp: "sent", issue: "created" }]);
    expect(await fixture.take(alert("late"))).toBeNull();
  });
});

describe("UnkeptAlerts: issues", () => {
  const issueOf = async (fixture: UnkeptFixture, fingerprint: string) =>
    (await fixture.take(alert(fingerprint)))?.[0];

  test("are made once in 30 minutes", async () => {
    const fixture = openUnkept();
    const first = await issueOf(fixture, "a");
    expect(first).toMatchObject({ issue: "created", issueId: expect.any(String) });
    await fixture.advance(HALF_HOUR_MS - 1);
    expect(await issueOf(fixture, "a")).toMatchObject({ issue: "duplicate", issueId: first!.issueId });
    await fixture.advance(1);
    expect((await issueOf(fixture, "a"))?.issueId).not.toBe(first!.issueId!);
    expect(fixture.seen.issues).toEqual(["a", "a"]);
  });

  test("are not made when the state can still read one, whose link the message has", async () => {
    const fixture = openUnkept();
    fixture.answers.claims.set("a", { claimedAtMs: 5, url: "https://tracker.example/issue/1" });
    expect(await issueOf(fixture, "a")).toMatchObject({ issue: "duplicate" });
    expect(fixture.seen.issues).toEqual([]);
    expect(fixture.seen.texts[0]).toContain("https://tracker.example/issue/1");
    fixture.answers.isReadable = false;
    expect(await issueOf(fixture, "b")).toMatchObject({ issue: "created" });
  });

  test("that could not be made are tried again by the next firing, under the same id", async () => {
    const fixture = openUnkept();
    const times: (number | null)[] = [];
    fixture.answers.issue = ({ claimedAtMs }) => {
      times.push(claimedAtMs);
      return UNCLEAR;
    };
    expect(await issueOf(fixture, "a")).toMatchObject({ whatsapp: "sent", issue: "failed" });
    await fixture.advance(60_000);
    expect(await issueOf(fixture, "a")).toMatchObject({ issue: "failed" });
    expect(times[0]).toBe(times[1]!);
  });

  test("that cannot be tried at all are failed ones, and logged", async () => {
    const fixture = openUnkept();
    fixture.answers.issue = () => {
      throw new RangeError("canary");
    };
    expect(await issueOf(fixture, "a")).toMatchObject({ whatsapp: "sent", issue: "failed" });
    expect(fixture.seen.errors).toEqual([
      [
        "The issue of an alert that the state does not keep cannot be made",
        { kind: "issue", fingerprint: "a", cause: "RangeError" },
      ],
    ]);
  });

  test("that take too long hold up no answer", async () => {
    const fixture = openUnkept();
    fixture.answers.issue = () => new Promise(() => {});
    const post = issueOf(fixture, "a");
    await fixture.advance(25_000);
    expect(await post).toMatchObject({ whatsapp: "sent", issue: "failed" });
  });

  test("are told to the state before it gets an alert of theirs, else when it keeps alerts again", async () => {
    const fixture = openUnkept();
    await fixture.take(alert("a"), alert("b"));
    const rememberedBefore: number[] = [];
    const handOver = (name: string, outcome: AcceptOutcome) =>
      fixture.unkept.handOver([[alert(name)]], async () => {
        rememberedBefore.push(fixture.seen.remembered.length);
        return [outcome];
      });
    await handOver("a", { refused: "state_unavailable" });
    fixture.answers.isWritable = true;
    await handOver("c", { refused: "outbox_full" });
    expect(fixture.seen.remembered).toEqual([]);
    await handOver("a", { refused: "outbox_full" });
    expect(fixture.seen.remembered.map(({ fingerprint }) => fingerprint)).toEqual(["a", "b"]);
    expect(fixture.seen.remembered[0]).toEqual({
      fingerprint: "a",
      claimedAtMs: 1_000_000,
      url: "https://t/1",
    });
    await fixture.take(alert("d"));
    await handOver("c", { accepted: [] });
    expect(fixture.seen.remembered.map(({ fingerprint }) => fingerprint)).toEqual(["a", "b", "d"]);
    expect(rememberedBefore).toEqual([0, 0, 2, 2]);
  });

  test("are left to a state that has begun to keep another post of their alert", async () => {
    const fixture = openUnkept();
    const { promise, resolve } = Promise.withResolvers<AcceptOutcome[]>();
    const handedOver = fixture.unkept.handOver([[alert("a")]], () => promise);
    const post = issueOf(fixture, "a");
    await fixture.settle();
    expect([fixture.seen.texts.length, fixture.seen.issues]).toEqual([1, []]);
    fixture.answers.claims.set("a", { claimedAtMs: 5, url: null });
    resolve([{ accepted: [] }]);
    await handedOver;
    expect(await post).toMatchObject({ whatsapp: "sent", issue: "duplicate" });
    expect(fixture.seen.issues).toEqual([]);
  });

  test("have their id before it is asked whether the state knows one: what it keeps meanwhile gets the same", async () => {
    const fixture = openUnkept();
    const { promise, resolve } = Promise.withResolvers<null>();
    const times: (number | null | undefined)[] = [];
    fixture.answers.issue = ({ claimedAtMs }) => {
      times.push(claimedAtMs);
      return UNCLEAR;
    };
    fixture.answers.message = () => {
      fixture.answers.claim = promise;
      return { status: "delivered", reference: "id", url: null };
    };
    const post = issueOf(fixture, "a");
    await fixture.settle();
    await fixture.unkept.handOver([[alert("a")]], async (tries) => {
      times.push(tries.issue("a"));
      return [{ refused: "state_unavailable" }];
    });
    resolve(null);
    await post;
    expect(times).toEqual([1_000_000, 1_000_000]);
  });
});
