/** What the webhook's state must do on every store: each part of the suite, on a file and on PostgreSQL. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { resolvedAlert, sampleAlert } from "../support/sample-alert.ts";
import { acceptAll, type StateFixture } from "../support/state-fixture.ts";
import { describeStores } from "../support/state-stores.ts";
import { acceptTests, limitTests } from "./suite/accept.ts";
import { attemptTests } from "./suite/attempts.ts";
import { commentTests } from "./suite/comments.ts";
import { deliveryTests } from "./suite/delivery.ts";
import { digestTests } from "./suite/digests.ts";
import { issueTests } from "./suite/issues.ts";
import { operatorTests } from "./suite/operator.ts";
import { pageTests } from "./suite/page.ts";
import { processTests } from "./suite/processes.ts";
import { secondChannelTests } from "./suite/second-channel.ts";

describeStores((open) => {
  let fixture: StateFixture;
  const current = () => fixture;
  beforeEach(async () => {
    fixture = await open({ comments: true });
  });
  afterEach(() => fixture.close());

  describe("accepting alerts", () => acceptTests(current));
  describe("the issue of a fingerprint", () => issueTests(current));
  describe("delivery", () => deliveryTests(current));
  describe("an attempt", () => attemptTests(current));
  describe("a message that tells several alerts", () => digestTests(current));
  describe("a comment on an issue", () => commentTests(current));
  describe("what an operator sees and changes", () => operatorTests(current));
  describe("the second channel", () => secondChannelTests(current));
  describe("the status page", () => pageTests(current));
  describe("two processes", () => processTests(current));

  test("a new state can be checked, has nothing in it, and was not moved aside", async () => {
    const { state } = fixture;
    await state.check();
    const nothing = { queued: 0, dead: 0, inDoubt: 0, oldestQueuedAgeMs: null };
    const kinds = { message: nothing, issue: nothing, comment: nothing };
    expect(await state.stats()).toMatchObject({ ...kinds, queuedBytes: 0, oldestCriticalAgeMs: null });
    expect(state.movedAside).toBeNull();
  });
});

describeStores((open) => {
  describe("the limits of the outbox", () => limitTests(open));

  test("without comments the end of an alert leaves none", async () => {
    const { state, close } = await open();
    await acceptAll(state, sampleAlert(), resolvedAlert());
    expect((await state.stats()).comment.queued).toBe(0);
    await close();
  });
});
